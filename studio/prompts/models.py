"""Prompt sets, their tags and their versions, as they are stored."""

from datetime import datetime
from functools import cached_property
from typing import Self

from django.contrib.auth.models import User
from django.db import models, transaction
from django.db.models import F, Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from builder.template.dialect import MIXSEEK, dialect_named
from studio.access.audit import Event, record
from studio.prompts.file_kinds import FileKind
from studio.prompts.history_index import note_version
from studio.prompts.texts import TextKind, TextRow, Texts
from studio.shell.immutable import ImmutableModel


class NothingChanged(Exception):
    """The text to save is that of the version it starts from, so no version was made."""


class VersionConflict(Exception):
    """Somebody saved a version since the one this text starts from."""


class Tag(models.Model):
    """A word that groups prompt sets."""

    name = models.CharField(max_length=40, unique=True)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class PromptSetQuerySet(models.QuerySet["PromptSet"]):
    """Sets by what they hold and by a search."""

    def of_templates(self) -> Self:
        """Sets of prompt templates, and none of system prompts."""
        return self.filter(holds=FileKind.PROMPTS)

    def search(self, text: str) -> Self:
        """Sets whose name, address or a tag contains the text."""
        if not text:
            return self
        tagged = Tag.objects.filter(name__icontains=text, prompt_sets=models.OuterRef("pk"))
        return self.filter(Q(name__icontains=text) | Q(slug__icontains=text) | models.Exists(tagged))


def newest_format() -> str:
    """The format of a set of which nobody said another."""
    return MIXSEEK.name


def usual_protection() -> list[str]:
    """The labels of a set that are protected where nobody said others."""
    return ["production"]


class PromptSet(models.Model):
    """What belongs together in one file of a workspace, through time: three templates, or the settings of a
    system prompt."""

    slug = models.SlugField(max_length=80, unique=True, allow_unicode=True)
    name = models.CharField(max_length=120)
    dialect = models.CharField(max_length=20, default=newest_format)
    holds = models.CharField(max_length=20, choices=FileKind, default=FileKind.PROMPTS)
    # `RoundPromptConfig` as far as somebody set it, and the tokens that each template's prompt may have.
    round_config = models.JSONField(default=dict)
    budgets = models.JSONField(default=dict)
    # Whose tokens and prices count; none where nobody has said.
    language_model = models.ForeignKey(
        "studio.LanguageModel", on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    tags = models.ManyToManyField(Tag, related_name="prompt_sets", blank=True)
    # Labels that only releasers move; with approval, by a proposal that another one approves.
    protected_labels = models.JSONField(default=usual_protection)
    needs_approval = models.BooleanField(default=False)
    archived = models.BooleanField(default=False)
    # The newest version's number, and what a save is checked against.
    revision = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField()
    changed_at = models.DateTimeField(db_index=True)
    made_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")

    objects = PromptSetQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("prompt-detail", args=[self.slug])

    @property
    def file_kind(self) -> FileKind:
        """The kind of file that its versions are."""
        return FileKind(self.holds)

    @property
    def kinds(self) -> tuple[TextKind, ...]:
        """What a version of it consists of."""
        return FileKind(self.holds).text_kinds

    @property
    def latest(self) -> "PromptVersion | None":
        """The newest version; a set just made has none."""
        return self.versions.filter(number=self.revision).select_related("author").first()

    @cached_property
    def pointers(self) -> dict[str, int]:
        """The number of the version that each label points at."""
        return dict(self.labels.values_list("name", "version__number"))

    @property
    def first_text(self) -> Texts:
        """What a set of its kind and format begins with."""
        return self.file_kind.first_text(dialect_named(self.dialect) or MIXSEEK)

    def starting_text(self, saved: "PromptVersion | None") -> Texts:
        """What an editor without a draft shows: the newest version, or what a set begins with."""
        return saved.templates if saved else self.first_text

    def save_version(
        self,
        templates: Texts,
        *,
        base: int,
        message: str,
        author: User,
        at: datetime,
        origin: "Origin | None" = None,
        origin_note: str = "",
    ) -> "PromptVersion":
        """Store the next version, made from version ``base`` (0 for the first).

        Raises ``VersionConflict`` where a newer one exists and ``NothingChanged`` for equal text;
        in both cases nothing is stored.
        """
        with transaction.atomic():
            # The revision is claimed before anything is read: of two writers one finds no row.
            mine = PromptSet.objects.filter(pk=self.pk, revision=base)
            if not mine.update(revision=F("revision") + 1, changed_at=at):
                raise VersionConflict
            parent = self.versions.filter(number=base).select_related("author").first()
            content_hash = templates.content_hash
            if parent is not None and parent.content_hash == content_hash:
                raise NothingChanged
            version = PromptVersion.objects.create(
                prompt_set=self,
                number=base + 1,
                **templates.columns,
                content_hash=content_hash,
                message=message,
                author=author,
                created_at=at,
                parent=parent,
                origin=origin or Origin.EDITED,
                origin_note=origin_note,
            )
            note_version(version, parent)
            record(
                Event.VERSION_SAVED,
                version,
                before={"version": base} if base else None,
                after={
                    "version": version.number,
                    "hash": content_hash,
                    "message": message,
                    "origin": version.origin,
                },
            )
        self.revision, self.changed_at = version.number, at
        return version


class Origin(models.TextChoices):
    """How a version came to be."""

    EDITED = "edited", _("Edited here")
    RESTORED = "restored", _("Restored")
    COPIED = "copied", _("Copied from another set")
    IMPORTED = "imported", _("Imported")
    ADOPTED = "adopted", _("Adopted from a workspace")


class PromptVersion(TextRow, ImmutableModel):
    """All three templates at one moment; never changed, never deleted."""

    prompt_set = models.ForeignKey(PromptSet, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    team_user_prompt = models.TextField()
    evaluator_user_prompt = models.TextField()
    judgment_user_prompt = models.TextField()
    # The text of `system_prompt.toml`, in a set that holds one; its templates are empty then.
    system_prompt = models.TextField(null=True)
    content_hash = models.CharField(max_length=64, db_index=True)
    message = models.CharField(max_length=500)
    author = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    parent = models.ForeignKey("self", on_delete=models.PROTECT, null=True, related_name="+")
    origin = models.CharField(max_length=20, choices=Origin)
    origin_note = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering = ("-number",)
        constraints = (
            models.UniqueConstraint(fields=["prompt_set", "number"], name="version_number_once_per_set"),
        )

    def __str__(self) -> str:
        return f"{self.prompt_set} v{self.number}"

    def get_absolute_url(self) -> str:
        return reverse("version-detail", args=[self.prompt_set.slug, self.number])
