"""Sample contexts as they are stored: named data that a template is tried with."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

import pydantic
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import IntegrityError, models, transaction
from django.db.models import F, Q
from django.urls import reverse
from django.utils.translation import pgettext

from builder.invalid_input import CONTEXT_INVALID, ContextError
from builder.template.models import RoundPromptContext
from studio.access.audit import Event, record
from studio.access.limits import Limit, require_room
from studio.contexts.pasted_json import write_json
from studio.prompts.models import PromptSet
from studio.shell.addresses import free_slug
from studio.shell.language import reader_language

MOST_CHARACTERS = 500_000
"""Of a context, its history and submission included."""

if TYPE_CHECKING:
    # Django's own classes take no type arguments when the code runs.
    AnyText = models.TextField[Any, Any]
else:
    AnyText = models.TextField


class OrderedJSONField(AnyText):
    """A JSON value whose objects keep the order of their keys.

    PostgreSQL's jsonb sorts keys by length, and score details reach the prompt as JSON text: what a
    preview shows would depend on the engine.
    """

    # What the type checker takes a text field's value for.
    _pyi_private_set_type: Any
    _pyi_private_get_type: Any

    def from_db_value(self, value: str | None, *args: Any) -> Any:
        return None if value is None else json.loads(value)

    def to_python(self, value: Any) -> Any:
        return json.loads(value) if isinstance(value, str) else value

    def get_prep_value(self, value: Any) -> str | None:
        return None if value is None else json.dumps(value, ensure_ascii=False, allow_nan=False)

    def value_to_string(self, obj: models.Model) -> str:
        return self.get_prep_value(self.value_from_object(obj)) or ""


def validate_round_context(data: Any) -> None:
    """Whether the builder accepts the data as a round's context; a refusal names the field."""
    try:
        RoundPromptContext.model_validate(data)
    except pydantic.ValidationError as error:
        problem = ContextError.wrap(error, CONTEXT_INVALID)
        raise ValidationError(problem.text(reader_language()), code=problem.code) from error


@dataclass(frozen=True)
class ContextValues:
    """What a person says about a context; all of it is valid."""

    name: str
    description: str
    prompt_set: PromptSet | None
    """``None`` where all sets share it."""
    round: RoundPromptContext
    submission: str

    @property
    def columns(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "description": self.description,
            "prompt_set": self.prompt_set,
            "data": self.round.model_dump(mode="json"),
            "submission": self.submission,
        }

    @property
    def document(self) -> str:
        """The JSON that the studio hands out and takes back; ``builder render`` reads it too."""
        about = {"name": self.name, "description": self.description}
        return write_json(about | self.round.model_dump(mode="json") | {"submission": self.submission})

    @property
    def characters(self) -> int:
        """All that a template could print of it."""
        return len(write_json(self.round.model_dump(mode="json"))) + len(self.submission)


class NameTaken(Exception):
    """Another context of the same set, or among the shared ones, has this name."""


class ContextConflict(Exception):
    """The context was changed, or deleted, since the page that the change was made on."""

    def __init__(self, context: "SampleContext") -> None:
        super().__init__(context)
        self.context = context


class SampleContextQuerySet(models.QuerySet["SampleContext"]):
    """Contexts as pages need them."""

    def for_set(self, prompt_set: PromptSet) -> Self:
        """Those of a set and the shared ones; a set that is not stored yet has only these."""
        if prompt_set.pk is None:
            return self.filter(prompt_set=None)
        return self.filter(Q(prompt_set=prompt_set) | Q(prompt_set=None))

    def search(self, text: str, shown: Mapping[str, str]) -> Self:
        """Those whose name or description, as the page shows them, contains the text.

        ``shown`` has the names and descriptions that the page shows in other words than are stored.
        """
        if not text:
            return self
        matching = [stored for stored, words in shown.items() if text.casefold() in words.casefold()]
        matches = Q()
        for column in ("name", "description"):
            stored = Q()
            # SQLite knows upper and lower case of ASCII alone.
            for spelling in {text, text.lower(), text.upper(), text.capitalize()}:
                stored |= Q(**{f"{column}__icontains": spelling})
            matches |= (stored & ~Q(**{f"{column}__in": shown})) | Q(**{f"{column}__in": matching})
        return self.filter(matches)

    def make(self, values: ContextValues, *, by: User, at: datetime) -> "SampleContext":
        """Store a new context, or raise ``NameTaken``."""
        require_room(by, Limit.CONTEXTS, SampleContext.objects.filter(author=by))
        while True:
            slug = free_slug(SampleContext.objects.all(), values.name, "context")
            try:
                with transaction.atomic():
                    made = self.create(slug=slug, author=by, created_at=at, changed_at=at, **values.columns)
                    record(Event.CONTEXT_MADE, made)
                    return made
            except IntegrityError:
                # Somebody took the address a moment ago; anything else is no matter of trying again.
                if not SampleContext.objects.filter(slug=slug).exists():
                    raise NameTaken from None

    def change(self, context: "SampleContext", values: ContextValues, *, revision: int, at: datetime) -> None:
        """Store new values over those that the person saw; else ``ContextConflict`` or ``NameTaken``."""
        seen = self.filter(pk=context.pk, revision=revision)
        columns = values.columns
        # A shipped name that was left as the page showed it stays the one that pages translate.
        if values.name == context.title:
            columns["name"] = context.name
        if values.description == context.about:
            columns["description"] = context.description
        try:
            with transaction.atomic():
                before = seen.first()
                changed = seen.update(revision=F("revision") + 1, changed_at=at, **columns)
                if before and changed:
                    _record_change(before, columns)
        except IntegrityError:
            raise NameTaken from None
        if not changed:
            raise ContextConflict(context)

    def discard(self, context: "SampleContext", *, revision: int) -> None:
        """Delete the context that the person saw, or raise ``ContextConflict``."""
        with transaction.atomic():
            if not self.filter(pk=context.pk, revision=revision).delete()[0]:
                raise ContextConflict(context)
            record(Event.CONTEXT_DELETED, context)


def _record_change(before: "SampleContext", columns: Mapping[str, Any]) -> None:
    """Names and the set as they are; of the long values, which of them changed."""
    changed = [name for name in ("data", "submission") if getattr(before, name) != columns[name]]
    prompt_set = columns["prompt_set"]
    record(
        Event.CONTEXT_CHANGED,
        before,
        before={"name": before.name, "set": before.prompt_set_id, "description": before.description},
        after={
            "name": columns["name"],
            "set": prompt_set.pk if prompt_set else None,
            "description": columns["description"],
            "revision": before.revision + 1,
            **({"changed": changed} if changed else {}),
        },
    )


class SampleContext(models.Model):
    """A round that a template can be rendered for, of one set or shared by all."""

    slug = models.SlugField(max_length=80, unique=True, allow_unicode=True)
    name = models.CharField(max_length=120)
    description = models.CharField(max_length=300, blank=True)
    prompt_set = models.ForeignKey(
        PromptSet, on_delete=models.PROTECT, null=True, blank=True, related_name="contexts"
    )
    # Whoever made it; nobody for those that the studio ships, and of those that are older than this field.
    author = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    # What team and judgment see, as the JSON of `RoundPromptContext`.
    data = OrderedJSONField(validators=[validate_round_context])
    # What the team hands in during this round: the evaluator sees it, with the task from `data`.
    submission = models.TextField()
    # Grows with every change; who does not know the newest one must not write over it.
    revision = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField()
    changed_at = models.DateTimeField()

    objects = SampleContextQuerySet.as_manager()

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(fields=["prompt_set", "name"], name="context_name_once_per_set"),
            models.UniqueConstraint(
                fields=["name"], condition=Q(prompt_set=None), name="context_name_once_among_shared"
            ),
        )

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("context-detail", args=[self.slug])

    @property
    def title(self) -> str:
        """The name; that of a shipped context in the reader's language."""
        return pgettext("sample context", self.name)

    @property
    def about(self) -> str:
        """The description, likewise."""
        return pgettext("sample context", self.description) if self.description else ""

    @property
    def round_context(self) -> RoundPromptContext:
        """What team and judgment prompts are made from."""
        return RoundPromptContext.model_validate(self.data)

    @property
    def values(self) -> ContextValues:
        """What a form shows of it: name and description as the reader sees them."""
        return ContextValues(self.title, self.about, self.prompt_set, self.round_context, self.submission)

    @property
    def facts(self) -> "ContextFacts":
        """What a list shows of it, without reading all of it again."""
        return ContextFacts.of(self.data)


@dataclass(frozen=True)
class ContextFacts:
    """A context in numbers."""

    round_number: int
    rounds_before: int
    ranked: int | None
    """Teams on the board; ``None`` where the context has no ranking at all."""

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Self:
        ranking = data.get("ranking")
        ranked = None if ranking is None else len(ranking)
        return cls(data["round_number"], len(data["round_history"]), ranked)
