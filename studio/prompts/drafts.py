"""Drafts: what a person is writing, kept while they type, and copies of texts that were replaced.

Used by the editor, by imports and by comparisons.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, models, transaction
from django.db.models import F, Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from studio.access.audit import Event, record
from studio.access.limits import Limit, require_room
from studio.prompts.models import PromptSet
from studio.prompts.texts import TextRow, Texts

COPIES_KEPT = 50
"""Of one person, set and reason; the oldest goes first."""


@dataclass(frozen=True)
class SentDraft:
    """A draft as one tab of a browser sends it."""

    templates: Texts
    base: int
    """The version that the text starts from."""
    revision: int
    """The draft's revision that the tab last saw; 0 where there was none."""
    message: str = ""
    tab: str = ""
    seq: int = 0
    """Counts what the tab has sent: an answer that was lost must not turn a tab against itself."""


class DraftConflict(Exception):
    """Another tab wrote since; the text sent is kept beside the draft as ``copy``."""

    def __init__(self, draft: "Draft", copy: "DraftCopy") -> None:
        super().__init__(draft, copy)
        self.draft, self.copy = draft, copy


class WrittenText(TextRow, models.Model):
    """What one person wrote for one set, on top of a version."""

    prompt_set = models.ForeignKey(PromptSet, on_delete=models.CASCADE, related_name="+")
    person = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    base = models.PositiveIntegerField()
    team_user_prompt = models.TextField(blank=True)
    evaluator_user_prompt = models.TextField(blank=True)
    judgment_user_prompt = models.TextField(blank=True)
    system_prompt = models.TextField(null=True)
    message = models.CharField(max_length=500, blank=True)

    class Meta:
        abstract = True


class DraftManager(models.Manager["Draft"]):
    """Every writing of a draft goes through here, so that no tab overwrites another one's text."""

    def of(self, prompt_set: PromptSet, person: User) -> "Draft | None":
        """The person's draft of the set."""
        return self.filter(prompt_set=prompt_set, person=person).first()

    def unsaved(self, prompt_set: PromptSet, person: User) -> "Draft | None":
        """The person's draft of the set, where its text is not that of the version it starts from."""
        draft = self.of(prompt_set, person)
        if draft is None:
            return None
        saved = prompt_set.versions.filter(number=draft.base, content_hash=draft.templates.content_hash)
        return None if saved.exists() else draft

    def keep(self, prompt_set: PromptSet, person: User, sent: SentDraft, *, at: datetime) -> "Draft":
        """Store what a tab sent, or raise ``DraftConflict`` with a copy of it."""
        with transaction.atomic():
            draft = self._written(prompt_set, person, sent, at)
            if draft is not None:
                return draft
            draft = self.get(prompt_set=prompt_set, person=person)
            if draft.templates == sent.templates:
                if sent.message and not draft.message:
                    self.filter(pk=draft.pk, message="").update(message=sent.message)
                return draft
            copy = DraftCopy.objects.put_aside(
                prompt_set, person, sent, reason=CopyReason.OTHER_TAB, at=at, tab=sent.tab
            )
        raise DraftConflict(draft, copy)

    def _written(self, prompt_set: PromptSet, person: User, sent: SentDraft, at: datetime) -> "Draft | None":
        mine = self.filter(prompt_set=prompt_set, person=person)
        seen = Q(revision=sent.revision)
        if sent.tab:
            # The same tab goes on writing although the answer to its last text never reached it.
            seen |= Q(tab=sent.tab, seq__lt=sent.seq)
        written = _columns(sent) | {"changed_at": at, "tab": sent.tab, "seq": sent.seq}
        if mine.filter(seen).update(revision=F("revision") + 1, **written):
            return mine.get()
        if mine.exists():
            return None
        require_room(person, Limit.DRAFTS, self.filter(person=person))
        try:
            with transaction.atomic():
                return self.create(
                    prompt_set=prompt_set, person=person, revision=sent.revision + 1, **written
                )
        except IntegrityError:  # another tab made it a moment ago
            return None

    def replace(self, draft: "Draft", sent: SentDraft, *, reason: "CopyReason", at: datetime) -> "Draft":
        """Put a text that the person chose in the draft's place; the old text is put aside.

        Raises ``StaleRevision`` where the draft is not the one the choice was made on.
        """
        with transaction.atomic():
            mine = self.filter(pk=draft.pk, revision=sent.revision)
            if not mine.update(revision=F("revision") + 1, changed_at=at, tab="", seq=0, **_columns(sent)):
                raise StaleRevision
            if draft.templates != sent.templates:
                DraftCopy.objects.put_aside(draft.prompt_set, draft.person, draft.sent, reason=reason, at=at)
                if reason == CopyReason.DISCARDED:
                    record(Event.DRAFT_DISCARDED, draft.prompt_set)
        return self.get(pk=draft.pk)

    def settle(self, draft: "Draft", base: int, *, at: datetime) -> None:
        """The draft became version ``base``. What a tab wrote meanwhile stays as it is."""
        mine = self.filter(pk=draft.pk, revision=draft.revision)
        mine.update(revision=F("revision") + 1, base=base, message="", changed_at=at)


class StaleRevision(Exception):
    """The draft was written to since the page that the choice was made on."""


class Draft(WrittenText):
    """What a person is writing on a set. Nobody else sees it.

    Once saved or discarded, the row stays with a version's text: its revision must never count
    from the beginning again, or a tab of last week could write over today's text.
    """

    # Grows with every writing; who does not know the newest one must not write over it.
    revision = models.PositiveIntegerField()
    changed_at = models.DateTimeField()
    # Which tab wrote last, and how often.
    tab = models.CharField(max_length=40, blank=True)
    seq = models.PositiveIntegerField(default=0)

    objects = DraftManager()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["prompt_set", "person"], name="draft_once_per_person_and_set"),
        )

    def __str__(self) -> str:
        return f"{self.person} · {self.prompt_set} r{self.revision}"

    def get_absolute_url(self) -> str:
        return reverse("prompt-edit", args=[self.prompt_set.slug])

    @property
    def sent(self) -> SentDraft:
        """The draft as if it had been sent just now."""
        return SentDraft(self.templates, self.base, self.revision, self.message)


class CopyReason(models.TextChoices):
    """Why a text stands beside the draft instead of in it."""

    OTHER_TAB = "other-tab", _("From another tab")
    DISCARDED = "discarded", _("Discarded")
    REPLACED = "replaced", _("Replaced by a merge")
    IMPORTED = "imported", _("Imported")
    REORDERED = "reordered", _("Before the suggested order")


class DraftCopyManager(models.Manager["DraftCopy"]):
    """Texts are put aside here, a bounded number of them."""

    def put_aside(
        self,
        prompt_set: PromptSet,
        person: User,
        sent: SentDraft,
        *,
        reason: CopyReason,
        at: datetime,
        tab: str = "",
    ) -> "DraftCopy":
        """Keep a text; a tab that goes on writing beside the draft keeps one copy, its newest."""
        values = _columns(sent) | {"kept_at": at}
        mine = self.filter(prompt_set=prompt_set, person=person, reason=reason)
        of_tab = mine.filter(tab=tab) if tab else mine.none()
        copy = of_tab.first() if of_tab.update(**values) else None
        if copy is None:
            copy = self.create(prompt_set=prompt_set, person=person, reason=reason, tab=tab, **values)
        kept = list(mine.order_by("-kept_at", "-pk").values_list("pk", flat=True)[:COPIES_KEPT])
        mine.exclude(pk__in=kept).delete()
        return copy


class DraftCopy(WrittenText):
    """A text that did not become the draft, or no longer is it."""

    reason = models.CharField(max_length=20, choices=CopyReason)
    tab = models.CharField(max_length=40, blank=True)
    kept_at = models.DateTimeField()

    objects = DraftCopyManager()

    class Meta:
        ordering = ("-kept_at", "-pk")
        indexes = (models.Index(fields=["prompt_set", "person", "-kept_at"], name="copies_of_a_person"),)

    def __str__(self) -> str:
        return f"{self.person} · {self.prompt_set} ({self.reason})"


def _columns(sent: SentDraft) -> dict[str, Any]:
    return {"base": sent.base, "message": sent.message, **sent.templates.columns}
