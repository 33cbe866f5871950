"""Exports with their receipts, as the pages of exports and workspaces list them, and `manage.py export`."""

from datetime import datetime
from typing import NamedTuple

from django.db.models import Exists, OuterRef, QuerySet

from studio.models import Export, LabelMove, PromptVersion, Workspace
from studio.workspaces.exports.models import Outcome
from studio.workspaces.exports.reconciling import reconcile
from studio.workspaces.exports.undoing import CannotUndo, require_as_left


def listed() -> "QuerySet[Export]":
    """Everything that a row shows, without the files' contents.

    ``undone`` where the way back was taken; ``superseded`` where that, or another export, wrote later.
    """
    written = Export.objects.filter(receipt__outcome=Outcome.WRITTEN)
    undone = written.filter(undoes=OuterRef("pk"))
    later = written.filter(
        workspace=OuterRef("workspace"), holds=OuterRef("holds"), path=OuterRef("path"), pk__gt=OuterRef("pk")
    )
    exports: QuerySet[Export] = (
        Export.objects.select_related(
            "receipt", "workspace", "version__prompt_set", "kept_as__prompt_set", "undoes", "by"
        )
        .defer("before", "after", "undoes__before", "undoes__after")
        .annotate(undone=Exists(undone), superseded=Exists(later))
    )
    return exports


def with_receipts(exports: "QuerySet[Export]", now: datetime) -> list[Export]:
    """Those of a page; one that a crash left without a receipt gets it now.

    ``can_undo`` where the file is as the export left it, else ``undo_obstacle``; only the newest of a file.
    """
    shown = list(exports)
    pending = [export.pk for export in shown if not hasattr(export, "receipt")]
    if pending and reconcile(now, Export.objects.filter(pk__in=pending)):
        shown = list(exports.all())
    for export in shown:
        if hasattr(export, "receipt") and export.receipt.outcome == Outcome.WRITTEN and not export.superseded:
            _look_for_undo(export)
    return shown


class Steps(NamedTuple):
    """What one confirmation did before it wrote files."""

    saved: PromptVersion | None
    moved: LabelMove | None


def steps_of(export: Export) -> Steps:
    """The version that was saved and the label that was moved along: the same moment, by the same person."""
    version = export.version
    if version is None or export.undoes is not None:
        return Steps(None, None)
    moves = LabelMove.objects.filter(to_version=version, moved_at=export.at, moved_by=export.by)
    saved = version.created_at == export.at and version.author_id == export.by_id
    return Steps(version if saved else None, moves.select_related("from_version").first())


def _look_for_undo(export: Export) -> None:
    try:
        require_as_left(export)
        export.can_undo = True
    except CannotUndo as error:
        export.undo_obstacle = error.title


def newest_of(workspace: Workspace, most: int, now: datetime) -> list[Export]:
    """The newest of one workspace, for its page."""
    return with_receipts(listed().filter(workspace=workspace)[:most], now)
