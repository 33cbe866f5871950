"""Activity: who saved, imported, moved and exported what, out of the tables that record it. Used by the home
page."""

from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Literal
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from studio.models import Export, LabelMove, PromptVersion
from studio.prompts.models import Origin
from studio.workspaces.exports.models import Outcome

Kind = Literal["saved", "moved", "exported"]


@dataclass(frozen=True)
class Event:
    """Something that a person did, with the page that shows it."""

    kind: Kind
    what: str
    """In one word."""
    subject: str
    url: str
    more: str
    by: str
    at: datetime
    failed: bool = False


def newest_events(most: int) -> list[Event]:
    """The newest first; exports that one confirmation wrote are one event."""
    events = [*_saved(most), *_moved(most), *_exported(most)]
    return sorted(events, key=attrgetter("at"), reverse=True)[:most]


def _saved(most: int) -> list[Event]:
    verbs = {
        Origin.EDITED: pgettext("activity", "Saved"),
        Origin.RESTORED: _("Restored"),
        Origin.COPIED: pgettext("activity", "Copied"),
        Origin.IMPORTED: _("Imported"),
        Origin.ADOPTED: _("Adopted"),
    }
    versions = (
        PromptVersion.objects.select_related("prompt_set", "author")
        .only("number", "message", "created_at", "origin", "prompt_set__slug", "prompt_set__name",
              "author__username")
        .order_by("-pk")[:most]
    )  # fmt: skip
    return [
        Event(
            "saved", verbs[Origin(version.origin)], str(version), version.get_absolute_url(), version.message,
            version.author.get_username(), version.created_at,
        )
        for version in versions
    ]  # fmt: skip


def _moved(most: int) -> list[Event]:
    moves = (
        LabelMove.objects.select_related("prompt_set", "moved_by", "from_version", "to_version")
        .only("name", "moved_at", "note", "prompt_set__slug", "prompt_set__name", "moved_by__username",
              "from_version__number", "to_version__number")
        .order_by("-pk")[:most]
    )  # fmt: skip
    return [_move(move) for move in moves]


def _move(move: LabelMove) -> Event:
    before = move.from_version.number if move.from_version else None
    words = {"set": move.prompt_set.name, "label": move.name, "number": before}
    url = reverse("label-history", args=[move.prompt_set.slug, move.name])
    by, at = move.moved_by.get_username(), move.moved_at
    if move.to_version is None:
        gone = _("%(label)s of %(set)s") % words
        return Event("moved", _("Label removed"), gone, url, move.note, by, at)
    moved = _("%(label)s to %(set)s v%(to)d") % (words | {"to": move.to_version.number})
    more = move.note or (_("was v%(number)d") % words if before else "")
    return Event("moved", _("Label moved"), moved, url, more, by, at)


def _exported(most: int) -> list[Event]:
    exports = (
        Export.objects.select_related("workspace", "version__prompt_set", "by", "receipt")
        .only("batch", "at", "undoes_id", "workspace__name", "version__number", "version__prompt_set__name",
              "version__prompt_set__slug", "by__username", "receipt__outcome")
        .order_by("-pk")[:most]
    )  # fmt: skip
    batches: dict[UUID, list[Export]] = {}
    for export in exports:
        batches.setdefault(export.batch, []).append(export)
    return [_export(batch) for batch in batches.values()]


def _export(batch: list[Export]) -> Event:
    first = batch[0]
    undone = first.undoes_id is not None
    names = _(", ").join(sorted({export.workspace.name for export in batch}))
    subject = str(first.version) if first.version else _("an earlier file")
    # One without a receipt was cut off; its own page finds out what became of it.
    failed = any(not hasattr(one, "receipt") or one.receipt.outcome == Outcome.FAILED for one in batch)
    verb = _("Export undone") if undone else _("Exported")
    more = _("to %(workspaces)s") % {"workspaces": names}
    return Event(
        "exported", verb, subject, first.get_absolute_url(), more, first.by.get_username(), first.at, failed
    )
