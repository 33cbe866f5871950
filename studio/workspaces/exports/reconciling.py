"""Receipts written after a crash: the file itself tells what became of an export that left an intent alone.

Used by every start, by each look at a list of exports, and before the next write to the same file.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from builder.errors import PromptFileError, PromptFileMissing
from builder.files.folders import BUSY
from builder.files.writing import Turn, turn
from studio.models import Export, ExportReceipt
from studio.workspaces.exports.models import Outcome, hash_of
from studio.workspaces.roots import FolderRefused, require_allowed, root_of

GIVEN_UP_AFTER = timedelta(minutes=10)
"""An export whose folder cannot even be locked is called unclear after so long; it may come back before."""


def reconcile(now: datetime, exports: "QuerySet[Export] | None" = None) -> list[ExportReceipt]:
    """Write the receipts that are missing, of all exports or of these; returns those that it wrote.

    One that is still under way, here or on another server, holds its folder's lock and is left alone.
    """
    pending = (exports if exports is not None else Export.objects.all()).filter(receipt=None)
    receipts = [_reconciled(export, now) for export in _light(pending)]
    return [receipt for receipt in receipts if receipt is not None]


def settle(mine: Turn, now: datetime) -> None:
    """The same for one file, by whoever has the turn to write it: the next write would hide the traces."""
    pending = Export.objects.filter(path=str(mine.path), receipt=None)
    for export in _light(pending):
        _look(export, mine, now)


def _light(exports: "QuerySet[Export]") -> Iterable[Export]:
    """Without the files' contents: the hashes tell all."""
    light = exports.select_related("workspace").defer("before", "after").order_by("pk")
    # Those on other machines wait for their agents.
    return (export for export in light if not export.workspace.is_remote)


def _reconciled(export: Export, now: datetime) -> ExportReceipt | None:
    path = export.place
    try:
        root = require_allowed(export.workspace)
        with turn(path, root, lock_seconds=0, start=root_of(root)) as mine:
            return _look(export, mine, now)
    except PromptFileMissing:
        # A folder within is not there, and neither is whoever would have made it first.
        return _told(export, "", now)
    except PromptFileError as error:
        if error.code == BUSY:
            return None
    except FolderRefused:
        pass  # gone for now, or not ours any more
    return _receipt(export, Outcome.UNCLEAR, "", now) if now - export.at > GIVEN_UP_AFTER else None


def _look(export: Export, mine: Turn, now: datetime) -> ExportReceipt | None:
    # It may have come while we waited for the turn.
    if ExportReceipt.objects.filter(export=export).exists():
        return None
    try:
        sha256 = hash_of(mine.peek()[0].data)
    except PromptFileError:
        return _receipt(export, Outcome.UNCLEAR, "", now)
    return _told(export, sha256, now)


def _told(export: Export, sha256: str, now: datetime) -> ExportReceipt | None:
    if sha256 == export.hash_after:
        outcome = Outcome.WRITTEN
    elif sha256 == export.hash_before:
        outcome = Outcome.FAILED
    else:
        outcome = Outcome.UNCLEAR
    return _receipt(export, outcome, sha256, now)


def _receipt(export: Export, outcome: Outcome, sha256: str, now: datetime) -> ExportReceipt | None:
    try:
        with transaction.atomic():
            made: ExportReceipt = ExportReceipt.objects.create(
                export=export, outcome=outcome, hash_found=sha256, reconciled=True, at=now
            )
        return made
    except IntegrityError:
        return None  # another server was faster
