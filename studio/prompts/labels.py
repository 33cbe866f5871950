"""Labels: names that point at a version of a set, and the record of their moves.

Used by the pages of versions and labels, by workspaces and by exports.
"""

from datetime import datetime
from typing import Any, Literal

from django.contrib.auth.models import User
from django.db import models, transaction

from studio.access.audit import Event, record
from studio.prompts.models import PromptSet, PromptVersion
from studio.prompts.protection import require_movable
from studio.shell.immutable import ImmutableModel

USUAL_LABELS = ("production", "staging")
"""Names that are offered; people may think of others."""


class LabelInUse(Exception):
    """Workspaces follow the label, so it cannot go."""


class LabelMoved(Exception):
    """Somebody moved the label since the page that the choice was made on."""

    def __init__(self, name: str, number: int | None) -> None:
        super().__init__(name, number)
        self.name, self.number = name, number


class LabelManager(models.Manager["Label"]):
    """Labels move through here, so that no move goes unrecorded."""

    def move(
        self,
        name: str,
        to: PromptVersion,
        *,
        by: User,
        at: datetime,
        note: str = "",
        seen: int | Literal["any"] | None = "any",
        approved: bool = False,
        who: Any = None,
    ) -> "LabelMove | None":
        """Point the label of that name at a version of its set; the first move makes the label.

        Returns the move, or None where the label points there already. ``seen`` is the number of the version
        that a page showed it at, None for no such label: raises ``LabelMoved`` where that is no longer so.
        A protected label needs a releaser, or an approved proposal: `NotAllowed`, `ApprovalNeeded`. ``who``
        is asked instead of ``by`` where it has a role of its own, as a service's token.
        """
        if not approved:
            require_movable(to.prompt_set, name, who or by)
        with transaction.atomic():
            label, made = self.select_for_update().get_or_create(
                prompt_set=to.prompt_set, name=name, defaults={"version": to, "moved_at": at}
            )
            if not made and label.version_id == to.pk:
                return None
            if seen != "any" and seen != (None if made else label.version.number):
                raise LabelMoved(name, None if made else label.version.number)
            move: LabelMove = LabelMove.objects.create(
                prompt_set=to.prompt_set,
                name=name,
                from_version=None if made else label.version,
                to_version=to,
                moved_by=by,
                moved_at=at,
                note=note,
            )
            label.version, label.moved_at = to, at
            label.save(update_fields=["version", "moved_at"])
            _record(Event.LABEL_MOVED, move)
        return move

    def remove(
        self, label: "Label", *, by: User, at: datetime, note: str = "", who: Any = None
    ) -> "LabelMove | None":
        """Take the label off; its history stays. Raises ``LabelInUse`` where workspaces follow it, and what
        moving a protected label raises."""
        require_movable(label.prompt_set, label.name, who or by)
        with transaction.atomic():
            mine = self.select_for_update().select_related("version").filter(pk=label.pk).first()
            if mine is None:  # somebody else was faster
                return None
            try:
                mine.delete()
            except models.ProtectedError as error:
                raise LabelInUse from error
            move: LabelMove = LabelMove.objects.create(
                prompt_set=mine.prompt_set,
                name=mine.name,
                from_version=mine.version,
                to_version=None,
                moved_by=by,
                moved_at=at,
                note=note,
            )
            _record(Event.LABEL_REMOVED, move)
        return move


def _record(action: Event, move: "LabelMove") -> None:
    old, new = move.from_version, move.to_version
    record(
        action,
        move,
        kind="label",
        name=f"{move.prompt_set}: {move.name}",
        before={"version": old.number} if old else None,
        after={"label": move.name, "version": new.number if new else None, "note": move.note},
    )


class Label(models.Model):
    """A name such as ``production`` that says which version of a set counts."""

    prompt_set = models.ForeignKey(PromptSet, on_delete=models.PROTECT, related_name="labels")
    name = models.SlugField(max_length=40, allow_unicode=True)
    version = models.ForeignKey(PromptVersion, on_delete=models.PROTECT, related_name="labels")
    moved_at = models.DateTimeField()

    objects = LabelManager()

    class Meta:
        ordering = ("name",)
        constraints = (
            models.UniqueConstraint(fields=["prompt_set", "name"], name="label_name_once_per_set"),
        )

    def __str__(self) -> str:
        return self.name


class LabelMove(ImmutableModel):
    """One move of a label: from where, to where, by whom and when."""

    prompt_set = models.ForeignKey(PromptSet, on_delete=models.PROTECT, related_name="label_moves")
    name = models.CharField(max_length=40)
    from_version = models.ForeignKey(PromptVersion, on_delete=models.PROTECT, null=True, related_name="+")
    to_version = models.ForeignKey(PromptVersion, on_delete=models.PROTECT, null=True, related_name="+")
    moved_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    moved_at = models.DateTimeField()
    note = models.CharField(max_length=300, blank=True)

    class Meta:
        # Not by the clock, which may go back; moves are numbered as they happen.
        ordering = ("-pk",)
        indexes = (models.Index(fields=["prompt_set", "name", "-id"], name="moves_of_a_label"),)

    def __str__(self) -> str:
        return f"{self.name}: {self.from_version} → {self.to_version}"
