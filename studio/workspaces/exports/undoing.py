"""Undoing an export: what stood there before comes back, as an export of its own. Used by the undo page."""

from datetime import datetime
from pathlib import Path
from uuid import UUID

from django.contrib.auth.models import User
from django.db import IntegrityError
from django.utils.translation import gettext as _

from builder.errors import JailError, PromptFileError
from builder.files.reading import inspect
from studio.models import Export, ExportReceipt, PromptVersion
from studio.shell.language import reader_language
from studio.workspaces.exports.models import Outcome, hash_of
from studio.workspaces.exports.reconciling import reconcile
from studio.workspaces.exports.writing import Intent, OnStep, carry_out, unsaved
from studio.workspaces.file_kinds import kind_of_file
from studio.workspaces.roots import FolderRefused, require_allowed, root_of


class CannotUndo(Exception):
    """An export that cannot be undone, or not any more: what is in the way, and a sentence about it."""

    def __init__(self, title: str, why: str) -> None:
        super().__init__(why)
        self.title = title


def undo(export: Export, *, batch: UUID, by: User, at: datetime, on_step: OnStep = lambda step: None) -> None:
    """Bring back what stood there before an export. Raises ``CannotUndo`` where that is not possible."""
    if Export.objects.filter(batch=batch).exists():
        return
    root = require_undoable(export, at)
    back = unsaved(
        stored(export.after),
        stored(export.before),
        workspace=export.workspace,
        path=str(export.place),
        holds=export.holds,
        version=_version_before(export, by),
        undoes=export,
        batch=batch,
        by=by,
        at=at,
    )
    try:
        carry_out([Intent(back, root)], on_step)
    except IntegrityError:
        if not Export.objects.filter(batch=batch).exists():
            raise


def require_undoable(export: Export, at: datetime) -> Path:
    """The workspace's folder, where the file is as the export left it; else ``CannotUndo`` says why not."""
    reconcile(at, Export.objects.filter(pk=export.pk))
    receipt = ExportReceipt.objects.filter(export=export).first()
    if receipt is None or receipt.outcome != Outcome.WRITTEN:
        raise CannotUndo(_("Nothing to undo"), _("This export wrote nothing."))
    return require_as_left(export)


def require_as_left(export: Export) -> Path:
    """The same of an export that is known to have written."""
    try:
        root = require_allowed(export.workspace)
        file = inspect(export.place, root, start=root_of(root))
    except FolderRefused as error:
        raise CannotUndo(_("The file can't be read"), f"{error.what} {error.advice}".strip()) from error
    except PromptFileError as error:
        language = reader_language()
        why = f"{error.text(language)} {error.advice(language)}".strip()
        raise CannotUndo(_("The file can't be read"), why) from error
    if hash_of(file.data) != export.hash_after:
        raise CannotUndo(
            _("File changed since this export"),
            _("The file is no longer there.")
            if file.data is None
            else _("Undoing the export would lose what was changed in the file afterwards."),
        )
    return root


def stored(data: bytes | memoryview | None) -> bytes | None:
    """What a database gives back for a file's bytes."""
    return None if data is None else bytes(data)


def _version_before(export: Export, by: User) -> PromptVersion | None:
    """The version that an undo brings back, where it is one."""
    data = stored(export.before)
    if data is None:
        return None
    try:
        texts = kind_of_file(export.holds).parse(data, export.path, str(by.pk))[1]
    except (JailError, PromptFileError):
        return None
    if texts is None:
        return None
    equal = PromptVersion.objects.filter(content_hash=texts.content_hash)
    own = equal.filter(prompt_set=export.version.prompt_set) if export.version else equal.none()
    version: PromptVersion | None = own.first() or equal.order_by("-pk").first()
    return version
