"""Workspaces at a glance, for their list: the prompt file, the database, what runs there now.

Used by that list and by the page of a workspace.
"""

import hashlib
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from builder.errors import (
    CacheFolderError,
    DatabaseMissing,
    DatabaseQuarantined,
    LeaderboardError,
    ReaderBusy,
    TornCopy,
)
from builder.files.answering import answers
from builder.leaderboard import DATABASE_NAME, Activity
from studio.models import Workspace
from studio.workspaces.models import FileFact
from studio.workspaces.roots import FolderRefused, require_allowed
from studio.workspaces.state import PromptFileState, prompt_states_of
from studio.workspaces.stores import store_of

WAIT_SECONDS = 0.2
"""For fresh copies, of all workspaces together; a larger file is shown as it was a moment ago."""
MOST_ASKED = 8
"""Databases that one list asks, of those that it never saw and of those that changed; of the others it shows
what it knew, and asks them the next time."""
_MOST_KEPT = 1000


@dataclass(frozen=True)
class DatabaseGlance:
    """A workspace's database; ``activity`` where it could be asked, ``error`` where it could not."""

    file: FileFact
    activity: Activity | None = None
    error: LeaderboardError | None = None
    copying: bool = False
    """The first copy is under way, or about to be; what ran is known in a moment."""
    renewing: bool = False
    """What ran is told by an earlier copy: a new one is under way, or about to be."""

    @property
    def running(self) -> int:
        """How many executions show signs of life."""
        return len(self.activity.running) if self.activity else 0

    @property
    def set_aside(self) -> bool:
        """No reader survived it: it is read again when it changes, or when somebody asks."""
        return isinstance(self.error, DatabaseQuarantined)

    @property
    def settled(self) -> bool:
        """Whether it stays as it is until a file changes. One that was set aside may be asked for again by
        a person, also at another server."""
        passing = isinstance(self.error, DatabaseQuarantined | TornCopy | ReaderBusy | CacheFolderError)
        return not (self.copying or self.renewing or self.running or passing)


@dataclass(frozen=True)
class Glance:
    """A row of the list of workspaces."""

    workspace: Workspace
    state: PromptFileState
    database: DatabaseGlance
    others: tuple[PromptFileState, ...] = ()
    """Prompt files beside the main one."""


def glances(workspaces: Sequence[Workspace], now: datetime) -> list[Glance]:
    """Every workspace at a glance. A list of many costs little: only databases that changed are asked."""
    databases = _databases(workspaces, now)
    states: dict[int, list[PromptFileState]] = {workspace.pk: [] for workspace in workspaces}
    for state in prompt_states_of(workspaces):
        states[state.workspace.pk].append(state)
    return [
        Glance(workspace, main, databases[workspace.path], tuple(others))
        for workspace in workspaces
        for main, *others in [states[workspace.pk]]
    ]


def seconds_to_next(rows: Sequence[Glance]) -> int | None:
    """When a list that is open asks again; None where nothing in it is about to change."""
    if any(glance.database.copying or glance.database.renewing for glance in rows):
        return 2
    return 10 if any(glance.database.running for glance in rows) else None


def mark_of(rows: Sequence[Glance]) -> str:
    """Tells a list from how it was; that time has passed is no change, for the browser keeps times fresh."""
    seen = [
        (
            glance.workspace.path,
            glance.state.kind,
            glance.state.sha256,
            glance.state.expected and glance.state.expected.pk,
            glance.state.worst,
            glance.database,
            [(other.key, other.kind, other.sha256) for other in glance.others],
        )
        for glance in rows
    ]
    return hashlib.sha256(repr(seen).encode("utf-8", "replace")).hexdigest()[:12]


def database_of(workspace: Workspace, now: datetime, *, until: float | None = None) -> DatabaseGlance:
    """The database of one workspace; that of a folder which is not allowed is not looked at."""
    try:
        require_allowed(workspace)
    except FolderRefused:
        return DatabaseGlance(FileFact(workspace.folder, None))
    identity = _identity(workspace)
    glance = _asked(workspace, now, until)
    _keep(workspace, identity, glance)
    return glance


def _asked(workspace: Workspace, now: datetime, until: float | None) -> DatabaseGlance:
    file, store = workspace.database_file, store_of(workspace)
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
    renewing = copying.freshness is not None and copying.freshness.stale
    return DatabaseGlance(
        file, activity, failure, unknown and failure is None, renewing and not unknown and failure is None
    )


# --- what was known ----------------------------------------------------------------------

_Identity = tuple[object, ...]


@dataclass(frozen=True)
class _Known:
    identity: _Identity
    glance: DatabaseGlance
    asked_at: float


_kept: OrderedDict[str, _Known] = OrderedDict()
_lock = threading.Lock()


def _databases(workspaces: Sequence[Workspace], now: datetime) -> dict[str, DatabaseGlance]:
    with _lock:
        known = {workspace.path: _kept.get(workspace.path) for workspace in workspaces}
    stale = [workspace for workspace in workspaces if not _holds(workspace, known[workspace.path])]
    asked = _whose_turn(stale, known)
    for workspace in asked:  # all copies start before one is waited for
        with suppress(FolderRefused, LeaderboardError):
            require_allowed(workspace)
            store_of(workspace).refresh(0)
    until = time.monotonic() + WAIT_SECONDS
    fresh = {workspace.path: database_of(workspace, now, until=until) for workspace in asked}
    return {
        workspace.path: fresh.get(workspace.path) or _as_known(workspace, known[workspace.path])
        for workspace in workspaces
    }


def _as_known(workspace: Workspace, known: _Known | None) -> DatabaseGlance:
    return known.glance if known else DatabaseGlance(workspace.database_file, copying=True)


def _whose_turn(stale: Sequence[Workspace], known: dict[str, _Known | None]) -> list[Workspace]:
    """Those whose first copy is under way are seen through before others begin, or none would ever end.

    Beside them those that changed, whoever was asked longest ago first.
    """
    seen = {workspace.path: kept for workspace in stale if (kept := known[workspace.path])}
    copying = {path for path, kept in seen.items() if kept.glance.copying}
    begun = [workspace for workspace in stale if workspace.path in copying]
    new = [workspace for workspace in stale if workspace.path not in seen]
    changed = [workspace for workspace in stale if workspace.path in seen.keys() - copying]
    changed.sort(key=lambda workspace: seen[workspace.path].asked_at)
    return [*begun, *new][:MOST_ASKED] + changed[:MOST_ASKED]


def _holds(workspace: Workspace, known: _Known | None) -> bool:
    return known is not None and known.glance.settled and known.identity == _identity(workspace)


def _keep(workspace: Workspace, identity: _Identity, glance: DatabaseGlance) -> None:
    with _lock:
        _kept[workspace.path] = _Known(identity, glance, time.monotonic())
        _kept.move_to_end(workspace.path)
        while len(_kept) > _MOST_KEPT:
            _kept.popitem(last=False)


def _identity(workspace: Workspace) -> _Identity:
    """What changes as soon as a run begins or writes: its log is a new file, its rows are in the database."""
    if not answers(workspace.folder):
        return (workspace.path, None)
    watched = (DATABASE_NAME, f"{DATABASE_NAME}.wal", "logs")
    return (workspace.path, workspace.spoken.name, *(_stamp(workspace.folder / name) for name in watched))


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        facts = os.lstat(path)
    except OSError:
        return ()
    return (facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns)
