"""Registering of workspaces: a folder joins the list, or comes back. Used by its page and by exports."""

import os
from datetime import datetime
from pathlib import Path

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from builder.files.answering import answers
from studio.access.audit import Event, record
from studio.models import Label, Workspace
from studio.shell.addresses import free_slug
from studio.workspaces.release import find_package


class AlreadyRegistered(Exception):
    """The folder is on the list, as ``workspace``."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(_("This folder is already registered: %(name)s.") % {"name": workspace.name})
        self.workspace = workspace


def register(
    folder: Path, *, name: str, dialect: str, label: Label | None, by: User | None, at: datetime
) -> Workspace:
    """Put an allowed folder on the list; one that was taken off comes back, with all that it had."""
    while True:
        if known := same_folder(folder):
            return _bring_back(known, name, dialect, label)
        slug = free_slug(Workspace.objects.all(), name or folder.name, "workspace")
        try:
            with transaction.atomic():
                made = Workspace.objects.create(
                    slug=slug,
                    name=name or folder.name,
                    path=str(folder),
                    dialect=dialect,
                    label=label,
                    created_at=at,
                    made_by=by,
                )
                record(Event.WORKSPACE_REGISTERED, made, after={"path": made.path, "label": str(label or "")})
            find_package(made)
            return made
        except IntegrityError:
            # Somebody took the address or registered the folder a moment ago.
            if not Workspace.objects.filter(slug=slug).exists() and same_folder(folder) is None:
                raise


def same_folder(folder: Path) -> Workspace | None:
    """The workspace of that folder, also where it goes by another path (mounted twice, say)."""
    try:
        mine = os.lstat(folder)
    except OSError:  # gone a moment ago
        return None
    for workspace in Workspace.objects.all():
        if workspace.folder == folder:
            return workspace
        if not answers(workspace.path):
            continue
        try:
            theirs = os.lstat(workspace.path)
        except OSError:
            continue
        if (theirs.st_dev, theirs.st_ino) == (mine.st_dev, mine.st_ino):
            return workspace
    return None


def _bring_back(workspace: Workspace, name: str, dialect: str, label: Label | None) -> Workspace:
    back = Workspace.objects.filter(pk=workspace.pk, archived=True)
    with transaction.atomic():
        if not back.update(archived=False, name=name or workspace.name, dialect=dialect, label=label):
            raise AlreadyRegistered(workspace)
        workspace.refresh_from_db()
        record(Event.WORKSPACE_BACK, workspace)
    return workspace
