"""Exports: an intent on record, the write, the receipt; and the way back, which is an export itself."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from uuid import UUID

from django.contrib.auth.models import User
from django.db import IntegrityError
from django.utils import timezone
from django.utils.translation import gettext as _

from builder.errors import BuilderError, JailError, PromptFileConflict, PromptFileError
from builder.files.reading import inspect
from builder.files.writing import CHANGED
from builder.messages import message
from studio.models import Export, ExportReceipt, PromptVersion, Workspace
from studio.preview.saving import Refused, save_as_version
from studio.prompts.models import NothingChanged, Origin, VersionConflict
from studio.shell.language import reader_language
from studio.workspaces.exports.models import Outcome
from studio.workspaces.exports.plan import Plan, Target, hash_of, plan
from studio.workspaces.exports.reconciling import reconcile
from studio.workspaces.exports.writing import STEPS, Intent, OnStep, carry_out
from studio.workspaces.file_kinds import held_file
from studio.workspaces.roots import FolderRefused, require_allowed, root_of

__all__ = ["STEPS", "CannotUndo", "Order", "Plan", "Target", "confirm", "plan", "reconcile", "undo"]

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


class NotExported(BuilderError):
    """Why a confirmed export did not write, where it is not for the file's sake."""


class CannotUndo(Exception):
    """An export that cannot be undone, or not any more; the sentence says why."""


@dataclass(frozen=True)
class Order:
    """What a person confirmed for one workspace."""

    workspace: Workspace
    seen: str
    """SHA-256 of the file that the page showed; empty where there was none."""
    overwrite: bool = False
    """Knowingly: what stands there and is in no version is kept first."""


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
    left = _not_yet(orders, batch)
    if not left:
        return
    workspaces = [order.workspace for order in left]
    made = plan(version, workspaces, owner=by, today=timezone.localtime(at).date())
    if made.errors:
        raise Refused(list(made.errors))
    intents = [
        replace(_intent(target, order, version, by, at), label_name=label_name)
        for target, order in zip(made.targets, left, strict=True)
    ]
    on_step("kept")
    try:
        carry_out(intents, batch, by, at, on_step)
    except IntegrityError:
        # The same confirmation was sent twice, and the other one was faster.
        if len(_not_yet(left, batch)) == len(left):
            raise


def undo(export: Export, *, batch: UUID, by: User, at: datetime, on_step: OnStep = lambda step: None) -> None:
    """Bring back what stood there before an export. Raises ``CannotUndo`` where that is not possible."""
    if Export.objects.filter(batch=batch).exists():
        return
    root = require_undoable(export, at)
    before, after = stored(export.after), stored(export.before)
    version = _version_before(export, by)
    path, holds = Path(export.path), export.holds
    intent = Intent(export.workspace, path, root, before, after, version, holds, undoes=export)
    try:
        carry_out([intent], batch, by, at, on_step)
    except IntegrityError:
        if not Export.objects.filter(batch=batch).exists():
            raise


def require_undoable(export: Export, at: datetime) -> Path:
    """The workspace's folder, where the file is as the export left it; else ``CannotUndo`` says why not."""
    reconcile(at, Export.objects.filter(pk=export.pk))
    receipt = ExportReceipt.objects.filter(export=export).first()
    if receipt is None or receipt.outcome != Outcome.WRITTEN:
        raise CannotUndo(_("This export wrote nothing, so there is nothing to undo."))
    try:
        root = require_allowed(export.workspace)
        found = inspect(Path(export.path), root, start=root_of(root))
    except FolderRefused as error:
        raise CannotUndo(f"{error.what} {error.advice}".strip()) from error
    except PromptFileError as error:
        language = reader_language()
        raise CannotUndo(f"{error.text(language)} {error.advice(language)}".strip()) from error
    if hash_of(found.data) != export.hash_after:
        raise CannotUndo(
            _("The file has changed since this export, so undoing it would lose that change.")
            if found.data is not None or export.after is None
            else _("The file is no longer there.")
        )
    return root


def stored(data: bytes | memoryview | None) -> bytes | None:
    """What a database gives back for a file's bytes."""
    return None if data is None else bytes(data)


# --- before the write --------------------------------------------------------------------


def _not_yet(orders: Iterable[Order], batch: UUID) -> list[Order]:
    there = set(Export.objects.filter(batch=batch).values_list("workspace_id", flat=True))
    wanted = {order.workspace.pk: order for order in orders}
    return [order for pk, order in wanted.items() if pk not in there]


def _intent(target: Target, order: Order, version: PromptVersion, by: User, at: datetime) -> Intent:
    root = target.root or target.workspace.folder
    state = target.state
    intent = Intent(target.workspace, state.path, root, target.before, target.after, version, state.holds)
    if isinstance(target.refusal, FolderRefused):
        return replace(intent, objection=NotExported(FOLDER_REFUSED, reason=target.refusal.what))
    if target.refusal is not None:
        return replace(intent, objection=target.refusal)
    if target.standing == "same":
        return intent
    if order.seen != target.hash_before:
        conflict = PromptFileConflict(CHANGED, file=str(intent.path))
        conflict.found = target.before
        return replace(intent, objection=conflict)
    if target.standing == "edited":
        if not order.overwrite:
            return replace(intent, objection=NotExported(EDITED, file=str(intent.path)))
        try:
            return replace(intent, kept_as=_kept(target, version, by, at))
        except VersionConflict:
            return replace(intent, objection=NotExported(NOT_KEPT, file=str(intent.path)))
    return intent


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
                message=_("Edited by hand in %(workspace)s; kept before an export wrote over it")
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


def _version_before(export: Export, by: User) -> PromptVersion | None:
    """The version that an undo brings back, where it is one."""
    data = stored(export.before)
    if data is None:
        return None
    try:
        found = held_file(export.holds).texts_in(data, export.path, str(by.pk))
    except (JailError, PromptFileError):
        return None
    if found is None:
        return None
    equal = PromptVersion.objects.filter(content_hash=found.content_hash)
    own = equal.filter(prompt_set=export.version.prompt_set) if export.version else equal.none()
    version: PromptVersion | None = own.first() or equal.order_by("-pk").first()
    return version
