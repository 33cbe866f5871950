"""Carrying out an export: the intent on record, the write, the receipt, under one lock."""

import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from uuid import UUID

from django.contrib.auth.models import User
from django.db import DatabaseError, transaction
from django.utils import timezone

from builder.errors import BuilderError, PromptFileConflict, PromptFileError
from builder.files import writing
from builder.files.writing import Turn, turn
from studio.models import Export, ExportReceipt, PromptVersion, Workspace
from studio.prompts.file_kinds import FileKind
from studio.workspaces.exports.models import Outcome
from studio.workspaces.exports.plan import hash_of
from studio.workspaces.exports.reconciling import settle
from studio.workspaces.roots import root_of

STEPS: tuple[str, ...] = ("kept", "intended", *writing.STEPS, "done", "receipted")
"""The steps of an export, in order; a server may die after each of them. What follows «intended» is done
for one workspace after the other."""

OnStep = Callable[[str], None]

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Intent:
    """One file to be written, before it is on record."""

    workspace: Workspace
    path: Path
    root: Path
    before: bytes | None
    after: bytes | None
    version: PromptVersion | None = None
    holds: str = FileKind.PROMPTS
    label_name: str = ""
    undoes: Export | None = None
    kept_as: PromptVersion | None = None
    objection: BuilderError | None = None
    """Why it is not even tried."""


def carry_out(intents: list[Intent], batch: UUID, by: User, at: datetime, on_step: OnStep) -> None:
    """Everybody's turn first, then all intents on record at once, then one file after the other.

    The turns last until the receipts are on record, so that whoever finds an intent without a receipt,
    and can have the turn, knows that nobody is at it any more.
    """
    with ExitStack() as held:
        turns: dict[int, Turn] = {}
        folders: dict[Path, Turn] = {}
        tried: list[Intent] = []
        # In one order everywhere, so that two exports never wait for each other.
        for intent in sorted(intents, key=lambda each: str(each.path)):
            if intent.objection is None and intent.before != intent.after:
                try:
                    known = folders.get(intent.path.parent)
                    # Two files in one folder: to ask for its lock again would be to wait for ourselves.
                    mine = (
                        replace(known, path=intent.path, root=intent.root)
                        if known
                        else held.enter_context(
                            turn(
                                intent.path,
                                intent.root,
                                make=intent.before is None,
                                start=root_of(intent.root),
                            )
                        )
                    )
                    turns[intent.workspace.pk] = folders[intent.path.parent] = mine
                    settle(mine, at)
                except PromptFileError as error:
                    intent = replace(intent, objection=error)
            tried.append(intent)
        with transaction.atomic(durable=True):
            recorded = [(intent, _record(intent, batch, by, at)) for intent in tried]
        on_step("intended")
        for intent, export in recorded:
            if intent.objection is None and intent.workspace.pk in turns:
                _write(export, intent, turns[intent.workspace.pk], on_step)


def _record(intent: Intent, batch: UUID, by: User, at: datetime) -> Export:
    export: Export = Export.objects.create(
        batch=batch,
        workspace=intent.workspace,
        version=intent.version,
        holds=intent.holds,
        label_name=intent.label_name,
        undoes=intent.undoes,
        kept_as=intent.kept_as,
        path=str(intent.path),
        before=intent.before,
        after=intent.after,
        hash_before=hash_of(intent.before),
        hash_after=hash_of(intent.after),
        by=by,
        at=at,
    )
    if intent.objection is not None:
        _failed(export, intent.objection)
    elif intent.before == intent.after:
        ExportReceipt.objects.create(
            export=export, outcome=Outcome.UNCHANGED, hash_found=export.hash_after, at=at
        )
    return export


def _write(export: Export, intent: Intent, mine: Turn, on_step: OnStep) -> None:
    try:
        done = _written(intent, mine, on_step)
    except PromptFileError as error:
        on_step("done")
        with _noting():
            _failed(export, error)
    else:
        on_step("done")
        with _noting():
            ExportReceipt.objects.create(
                export=export,
                outcome=Outcome.WRITTEN,
                hash_found=done.sha256_after or "",
                owner_kept=done.owner_kept,
                durable=done.durable,
                at=timezone.now(),
            )
    on_step("receipted")


def _written(intent: Intent, mine: Turn, on_step: OnStep) -> writing.Receipt:
    path, root = intent.path, intent.root
    expected = None if intent.before is None else hash_of(intent.before)
    if intent.after is not None:
        return writing.replace(path, intent.after, expected, root, within=mine, on_step=on_step)
    assert expected is not None, "nothing to nothing is no change"
    return writing.remove(path, expected, root, within=mine, on_step=on_step)


def _failed(export: Export, error: BuilderError) -> None:
    found = hash_of(error.found) if isinstance(error, PromptFileConflict) else export.hash_before
    params = dict(error.params) if error.line is None else {"line": error.line, **error.params}
    ExportReceipt.objects.create(
        export=export,
        outcome=Outcome.FAILED,
        hash_found=found,
        error_code=error.code,
        error_params=params,
        at=timezone.now(),
    )


@contextmanager
def _noting() -> Iterator[None]:
    """A receipt that the database does not take is written by whoever reconciles next: go on."""
    try:
        with transaction.atomic():
            yield
    except DatabaseError:
        log.exception("The receipt of an export could not be stored.")
