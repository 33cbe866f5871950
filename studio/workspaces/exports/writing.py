"""Carrying out an export: the intent on record, the write and the receipt under one lock.

Used by the export page and `manage.py export`, and by undoing, which is an export itself.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import DatabaseError, IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from builder.errors import BuilderError, PromptFileConflict, PromptFileError
from builder.files import writing
from builder.files.writing import CHANGED, Turn, turn
from builder.messages import message
from builder.orchestrators.scoring_settings import ScoringSettings, scoring_settings
from studio.models import Export, ExportReceipt, ExportScoring, PromptVersion, Workspace
from studio.preview.saving import Refused, save_as_version
from studio.prompts.models import NothingChanged, Origin, VersionConflict
from studio.workspaces.exports.models import Outcome, hash_of
from studio.workspaces.exports.plan import Target, plan
from studio.workspaces.exports.reconciling import settle
from studio.workspaces.file_kinds import WorkspaceFile, kind_of_file
from studio.workspaces.orchestrators import kept
from studio.workspaces.roots import FolderRefused, root_of
from studio.workspaces.state import PromptFileState, states_of_files

STEPS: tuple[str, ...] = ("kept", "intended", *writing.STEPS, "done", "receipted")
"""The steps of an export, in order; a server may die after each of them. What follows «intended» is done
for one workspace after the other."""

OnStep = Callable[[str], None]

EDITED = message(
    "export-edited",
    "{file} holds an edit that no version has; nothing was written",
    "{file} には、どの版にもない手作業の編集があります。何も書き込んでいません",
    fix_en="Adopt it as a version, or overwrite it knowingly.",
    fix_ja="版として取り込むか、承知のうえで上書きしてください。",
)
NOT_KEPT = message(
    "export-not-kept",
    "The edit in {file} could not be kept as a version, because others were saving; nothing was written",
    "他の人が保存中のため、{file} の編集をバージョンとして保存できませんでした。何も書き込んでいません",
    fix_en="Try again in a moment.",
    fix_ja="少し待ってから、もう一度お試しください。",
)
FOLDER_REFUSED = message("export-folder-refused", "{reason}", "{reason}")

_KEEP_ATTEMPTS = 5

log = logging.getLogger(__name__)


class NotExported(BuilderError):
    """Why a confirmed export did not write, where it is not for the file's sake."""


@dataclass(frozen=True)
class Order:
    """What a person confirmed for one file of a workspace."""

    workspace: Workspace
    seen: str
    """SHA-256 of the file that the page showed; empty where there was none."""
    overwrite: bool = False
    """Knowingly: what stands there and is in no version is kept first."""
    file: WorkspaceFile | None = None
    """None for the main file of the version's kind."""


@dataclass(frozen=True)
class Intent:
    """One file to be written: the row that records it, before it is stored."""

    export: Export
    root: Path
    objection: BuilderError | None = None
    """Why it is not even tried."""
    scorings: Mapping[str, ScoringSettings] = field(default_factory=dict)
    """What runs of the orchestrators that read the file are scored with."""

    @property
    def is_change(self) -> bool:
        return self.export.before != self.export.after


def confirm(
    version: PromptVersion,
    orders: Iterable[Order],
    *,
    batch: UUID,
    by: User,
    at: datetime,
    label_name: str = "",
    on_step: OnStep = lambda step: None,
) -> None:
    """Write the version into each workspace, or say on its receipt why not.

    A workspace that the batch has already is left alone: the same confirmation came twice. Raises
    ``Refused`` for a version that may not be exported, and the jail's errors; nothing is written then.
    """
    main = kind_of_file(version.prompt_set.holds)
    wanted = {(order.workspace.pk, (order.file or main).mark): order for order in orders}.values()
    states = states_of_files((order.workspace, order.file or main) for order in wanted)
    done = _done(batch)
    left = [(state, order) for state, order in zip(states, wanted, strict=True) if _place(state) not in done]
    if not left:
        return
    intents = []
    targets = plan(version, [state for state, _ in left], owner=by, today=timezone.localtime(at).date())
    for target, (state, order) in zip(targets, left, strict=True):
        objection, kept_as = _objection(target, order), None
        if objection is None and target.standing == "edited":
            try:
                kept_as = _kept(target, version, by, at)
            except VersionConflict:
                objection = NotExported(NOT_KEPT, file=str(target.state.path))
        export = unsaved(
            target.before,
            target.after,
            workspace=target.workspace,
            path=str(target.state.path),
            holds=target.state.file_kind,
            version=version,
            label_name=label_name,
            kept_as=kept_as,
            batch=batch,
            by=by,
            at=at,
        )
        intents.append(Intent(export, state.folder or target.workspace.folder, objection, _scorings(state)))
    on_step("kept")
    try:
        carry_out(intents, on_step)
    except IntegrityError:
        # The same confirmation was sent twice, and the other one was faster.
        if not _done(batch).issuperset(_place(state) for state, _ in left):
            raise


# --- before the write --------------------------------------------------------------------


def _place(state: PromptFileState) -> tuple[int, str]:
    return state.workspace.pk, str(state.path)


def _done(batch: UUID) -> set[tuple[int, str]]:
    """The files that a batch has already: the same confirmation may come twice."""
    return set(Export.objects.filter(batch=batch).values_list("workspace_id", "path"))


def _scorings(state: PromptFileState) -> dict[str, ScoringSettings]:
    """What runs of each orchestrator that reads the file are scored with now."""
    release = state.workspace.spoken.name
    return {one.name: scoring_settings(one, release) for one in state.readers}


def _objection(target: Target, order: Order) -> BuilderError | None:
    """Why a confirmed file is not written: it cannot be, or it is not what the person saw."""
    path = str(target.state.path)
    if isinstance(target.refusal, FolderRefused):
        return NotExported(FOLDER_REFUSED, reason=target.refusal.what)
    if target.refusal is not None or target.standing == "same":
        return target.refusal
    if order.seen != target.hash_before:
        conflict = PromptFileConflict(CHANGED, file=path)
        conflict.found = target.before
        return conflict
    return NotExported(EDITED, file=path) if target.standing == "edited" and not order.overwrite else None


def _kept(target: Target, version: PromptVersion, by: User, at: datetime) -> PromptVersion | None:
    """A version with what stands in the file; None where that cannot be one, and its bytes must do."""
    if target.state.version is not None:
        return target.state.version  # only what stands around the templates goes
    templates, workspace = target.state.templates, target.workspace
    if templates is None:
        return None
    prompt_set = target.kept_in or version.prompt_set
    for _attempt in range(_KEEP_ATTEMPTS):
        prompt_set.refresh_from_db(fields=["revision"])
        equal: PromptVersion | None = prompt_set.versions.filter(content_hash=templates.content_hash).first()
        if equal is not None:
            return equal
        try:
            return save_as_version(
                prompt_set,
                templates,
                base=prompt_set.revision,
                message=_("Edited by hand in %(workspace)s; saved before an export overwrote it")
                % {"workspace": workspace.name},
                by=by,
                at=at,
                origin=Origin.ADOPTED,
                origin_note=f"{workspace.slug}: {target.state.relative}"[:500],
            )
        except Refused:
            return None
        except (VersionConflict, NothingChanged):
            continue  # somebody saved at the same moment
    raise VersionConflict


def unsaved(before: bytes | None, after: bytes | None, **fields: Any) -> Export:
    """The row of an export with the file's bytes before and after it."""
    hashes = {"hash_before": hash_of(before), "hash_after": hash_of(after)}
    return Export(before=before, after=after, **hashes, **fields)


# --- intent, write, receipt --------------------------------------------------------------


def carry_out(intents: Iterable[Intent], on_step: OnStep) -> None:
    """Everybody's turn first, then all intents on record at once, then one file after the other.

    The turns last until the receipts are on record, so that whoever finds an intent without a receipt,
    and can have the turn, knows that nobody is at it any more.
    """
    with ExitStack() as held:
        turns: dict[str, Turn] = {}
        folders: dict[Path, Turn] = {}
        tried: list[Intent] = []
        # In one order everywhere, so that two exports never wait for each other.
        for intent in sorted(intents, key=lambda intent: intent.export.path):
            # One on another machine is written by its agent, which finds the intent without a receipt.
            if intent.objection is None and intent.is_change and not intent.export.workspace.is_remote:
                path, root = Path(intent.export.path), intent.root
                try:
                    if known := folders.get(path.parent):
                        # Two files in one folder: to ask for its lock again would be to wait for ourselves.
                        mine = replace(known, path=path, root=root)
                    else:
                        make = intent.export.before is None
                        mine = held.enter_context(turn(path, root, make=make, start=root_of(root)))
                    turns[intent.export.path] = folders[path.parent] = mine
                    settle(mine, intent.export.at)
                except PromptFileError as error:
                    intent = replace(intent, objection=error)
            tried.append(intent)
        with transaction.atomic(durable=True):
            for intent in tried:
                _record(intent)
        on_step("intended")
        for intent in tried:
            if intent.objection is None and intent.export.path in turns:
                _write(intent.export, turns[intent.export.path], on_step)


def _record(intent: Intent) -> None:
    export = intent.export
    export.save()
    for name, settings in intent.scorings.items():
        ExportScoring.objects.create(export=export, orchestrator=name, record=kept(settings, export.at))
    if intent.objection is not None:
        _failed(export, intent.objection)
    elif not intent.is_change:
        ExportReceipt.objects.create(
            export=export, outcome=Outcome.UNCHANGED, hash_found=export.hash_after, at=export.at
        )


def _write(export: Export, mine: Turn, on_step: OnStep) -> None:
    try:
        if export.after is not None:
            expected = None if export.before is None else export.hash_before
            done = writing.replace(
                mine.path, bytes(export.after), expected, mine.root, within=mine, on_step=on_step
            )
        else:
            done = writing.remove(mine.path, export.hash_before, mine.root, within=mine, on_step=on_step)
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


def _failed(export: Export, error: BuilderError) -> None:
    standing = hash_of(error.found) if isinstance(error, PromptFileConflict) else export.hash_before
    params = dict(error.params) if error.line is None else {"line": error.line, **error.params}
    ExportReceipt.objects.create(
        export=export,
        outcome=Outcome.FAILED,
        hash_found=standing,
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
