"""Changing what is stored about a workspace: name, folder, labels.

Used by the page of its settings, and by imports, which link a workspace to the set that has its file.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction

from studio.access.audit import Event, record
from studio.models import FollowedFile, Label, Workspace
from studio.workspaces.file_kinds import OtherPromptsFile, WorkspaceFile
from studio.workspaces.models import LABELLED
from studio.workspaces.registering import AlreadyRegistered
from studio.workspaces.release import find_package
from studio.workspaces.stores import store_of

_FIELDS = ("name", "path", "dialect", "label_id", "system_label_id", "working_directory", "run_variables")


class ChangedMeanwhile(Exception):
    """Somebody else has saved the settings since they were shown."""


def mark_of_settings(workspace: Workspace) -> str:
    """The same for equal settings."""
    followed = [[row.file, row.label_id] for row in FollowedFile.objects.filter(workspace=workspace)]
    stored = [*(getattr(workspace, name) for name in _FIELDS), followed]
    return hashlib.sha256(json.dumps(stored, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()


def change_settings(
    workspace: Workspace, wanted: Mapping[str, Any], followed: Mapping[str, Label | None], *, seen: str
) -> None:
    """Store fields and the labels of further prompt files, if the settings are still those that were seen."""
    with transaction.atomic():
        # Locked where the database has locks for rows; SQLite's transactions take turns anyway.
        now = Workspace.objects.select_for_update().get(pk=workspace.pk)
        if mark_of_settings(now) != seen:
            raise ChangedMeanwhile
        moved = wanted["path"] != now.path
        former = [path for path in (*now.former_paths, now.path) if path != wanted["path"]] if moved else None
        try:
            with transaction.atomic():
                Workspace.objects.filter(pk=now.pk).update(
                    **wanted, former_paths=now.former_paths if former is None else former
                )
        except IntegrityError as error:
            # Registered a moment ago: the form saw nobody there.
            known = Workspace.objects.filter(path=wanted["path"]).exclude(pk=now.pk).first()
            if known is None:
                raise
            raise AlreadyRegistered(known) from error
        old = FollowedFile.objects.filter(workspace=now).select_related("label")
        files = {row.file: str(row.label) for row in old}
        old.delete()
        FollowedFile.objects.bulk_create(
            FollowedFile(workspace=now, file=file, label=label) for file, label in followed.items() if label
        )
        record(
            Event.WORKSPACE_CHANGED,
            now,
            before={name: _said(getattr(now, name)) for name in wanted} | {"files": files},
            after={name: _said(value) for name, value in wanted.items()}
            | {"files": {file: str(label) for file, label in followed.items() if label}},
        )
    if moved:
        find_package(Workspace.objects.select_related(*LABELLED).get(pk=workspace.pk))


def follow(workspace: Workspace, file: WorkspaceFile, label: Label) -> None:
    """Let a file of the workspace follow a label; everything else stays."""
    with transaction.atomic():
        now = Workspace.objects.select_for_update().get(pk=workspace.pk)
        rows = FollowedFile.objects.filter(workspace=now).select_related("label")
        followed: dict[str, Label | None] = {row.file: row.label for row in rows}
        wanted: dict[str, Any] = {"path": now.path}
        if isinstance(file, OtherPromptsFile):
            followed[file.name] = label
        else:
            wanted[file.label_field] = label
        change_settings(now, wanted, followed, seen=mark_of_settings(now))


def archive_workspace(workspace: Workspace, archived: bool) -> None:
    """Take a workspace off the list, or put it back."""
    with transaction.atomic():
        rows = Workspace.objects.filter(pk=workspace.pk).exclude(archived=archived)
        if rows.update(archived=archived):
            record(Event.WORKSPACE_ARCHIVED if archived else Event.WORKSPACE_BACK, workspace)


def find_release_again(workspace: Workspace) -> None:
    """Go by what was found out about the release, no longer by what somebody fixed."""
    with transaction.atomic():
        Workspace.objects.filter(pk=workspace.pk).update(dialect="")
        record(
            Event.WORKSPACE_CHANGED, workspace, before={"dialect": workspace.dialect}, after={"dialect": ""}
        )


def read_database_again(workspace: Workspace) -> None:
    """Try a database once more that was set aside. Raises ``NotAllowed``."""
    store_of(workspace).try_again()
    record(Event.WORKSPACE_RETRIED, workspace)


def _said(value: Any) -> Any:
    """A label as its set and name; other values as they are."""
    return f"{value.prompt_set}: {value}" if isinstance(value, Label) else value
