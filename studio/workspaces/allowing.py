"""Allowing a folder and taking it back. Used by the register page and the commands `allow` and `studio`."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from django.db import connection, transaction
from django.utils.translation import gettext as _

from studio.access.actors import account_of_process
from studio.access.audit import AuditEntry, Event, record
from studio.workspaces.allowed_folders import (
    FILE_NAME,
    AllowedFolder,
    AllowedFoldersUnreadable,
    add,
    allowed_folders,
    protected_by,
    remove,
)
from studio.workspaces.roots import FolderMissing, FolderRefused, absolute, are_fixed


def require_not_fixed() -> None:
    """`STUDIO_WORKSPACE_ROOTS` wins: where it is set, nothing is allowed or taken back here."""
    if are_fixed():
        raise FolderRefused(
            _("The allowed folders are set by `STUDIO_WORKSPACE_ROOTS`."),
            _("Change that variable and restart the studio, or start it without the variable."),
        )


def allow(path_text: str, *, by: str, at: datetime) -> Path:
    """Let workspaces below this folder be read and written, from now on and in every process.

    What is remembered is where the folder really lies: a link on the way could be turned round later.
    """
    require_not_fixed()
    folder = Path(os.path.realpath(absolute(path_text)))
    if not folder.is_dir():
        raise FolderMissing(
            _("There is no folder %(folder)s.") % {"folder": folder}, _("Create it, or correct the path.")
        )
    if protected := protected_by(folder):
        raise FolderRefused(
            _("%(folder)s cannot be allowed, because of %(protected)s.")
            % {"folder": folder, "protected": protected},
            _(
                "The whole disk, home folders, the studio's data folder and folders that contain them "
                "cannot be allowed. Choose the folder that contains your workspaces."
            ),
        )
    with _broken_file_refused(), transaction.atomic():
        # Recorded first: a file that is written cannot be rolled back.
        _record(Event.FOLDER_ALLOWED, folder)
        if not add(AllowedFolder(folder, by, at)):
            transaction.set_rollback(True)
    return folder


def take_back(path: Path) -> bool:
    """Allow a folder no longer; workspaces below it are then neither read nor written. False where it was not
    allowed."""
    require_not_fixed()
    with _broken_file_refused(), transaction.atomic():
        _record(Event.FOLDER_TAKEN_BACK, path)
        if not remove(path):
            transaction.set_rollback(True)
            return False
        return True


def _record(action: Event, folder: Path) -> None:
    """`manage.py allow` may be the first command of all, before there is a database."""
    if AuditEntry._meta.db_table in connection.introspection.table_names():
        record(action, kind="folder", name=str(folder))


def every_allowed_folder() -> tuple[AllowedFolder, ...]:
    """What was allowed, by whom and when."""
    with _broken_file_refused():
        return allowed_folders()


def account_in_terminal() -> str:
    """Who allows a folder on the command line, as lists name them."""
    return f"{account_of_process()} (manage.py)"


@contextmanager
def _broken_file_refused() -> Iterator[None]:
    try:
        yield
    except AllowedFoldersUnreadable as error:
        raise FolderRefused(
            _("%(file)s in the data folder cannot be read, so no folder that was allowed is used.")
            % {"file": FILE_NAME},
            _("Correct the file or remove it, then allow the folders again."),
        ) from error
    except OSError as error:
        raise FolderRefused(
            _("The data folder cannot be written: %(reason)s") % {"reason": error.strerror or error},
            _("Nothing has changed. Free some space, or give the studio's user write access, and try again."),
        ) from error
