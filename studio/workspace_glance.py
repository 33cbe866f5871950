"""A workspace at a glance: its prompt file, its database, what runs there now."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from builder.errors import DatabaseMissing, LeaderboardError
from builder.leaderboard import Activity
from studio.models import Workspace
from studio.models.workspaces import FileFact
from studio.stores import store_of
from studio.workspace_roots import FolderRefused, require_allowed
from studio.workspace_state import PromptFileState, states_of

WAIT_SECONDS = 0.2
"""For fresh copies, of all workspaces together; a larger file is shown as it was a moment ago."""


@dataclass(frozen=True)
class DatabaseGlance:
    """A workspace's database; ``activity`` where it could be asked, ``error`` where it could not."""

    file: FileFact
    activity: Activity | None = None
    error: LeaderboardError | None = None
    copying: bool = False
    """The first copy is under way; what ran is known in a moment."""

    @property
    def running(self) -> int:
        """How many executions show signs of life."""
        return len(self.activity.running) if self.activity else 0


@dataclass(frozen=True)
class Glance:
    """A row of the list of workspaces."""

    workspace: Workspace
    state: PromptFileState
    database: DatabaseGlance


def glances(workspaces: Sequence[Workspace], now: datetime) -> list[Glance]:
    """Every workspace at a glance; a page waits for fresh copies of their databases only so long."""
    for workspace in workspaces:  # all copies start before one is waited for
        database_of(workspace, now, until=0.0)
    until = time.monotonic() + WAIT_SECONDS
    return [
        Glance(workspace, state, database_of(workspace, now, until=until))
        for workspace, state in zip(workspaces, states_of(workspaces), strict=True)
    ]


def seconds_to_next(found: Sequence[Glance]) -> int | None:
    """When a list that is open asks again; None where nothing in it is about to change."""
    if any(glance.database.copying for glance in found):
        return 2
    return 10 if any(glance.database.running for glance in found) else None


def database_of(workspace: Workspace, now: datetime, *, until: float | None = None) -> DatabaseGlance:
    """The database of one workspace; that of a folder which is not allowed is not looked at."""
    try:
        require_allowed(workspace)
    except FolderRefused:
        return DatabaseGlance(FileFact(workspace.folder, None))
    file = workspace.facts().database
    store = store_of(workspace)
    left = WAIT_SECONDS if until is None else max(0.0, until - time.monotonic())
    try:
        copying = store.refresh(left)
    except DatabaseMissing:
        return DatabaseGlance(file, store.activity(now))
    except LeaderboardError as error:
        return DatabaseGlance(file, error=error)
    activity = store.activity(now)
    failure = None if isinstance(copying.error, DatabaseMissing) else copying.error
    unknown = file.present and activity.executions is None
    return DatabaseGlance(file, activity, failure, copying=unknown and failure is None)
