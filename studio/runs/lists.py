"""Lists of runs, as their pages show them: a page of executions, how current it is, or why there is none."""

import hashlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from builder.errors import CopyUnderWay, DatabaseMissing, LeaderboardError
from builder.leaderboard import AggregationStore, Execution, ExecutionState, Freshness
from studio.models import Workspace
from studio.shell.language import reader_language
from studio.shell.paging import Paging
from studio.workspaces.stores import store_of

CURRENT_WITHIN = 0.2
"""Seconds that a page waits for a fresh copy; a larger file is shown as it was, and soon as it is."""

_LONGEST = 1e10


@dataclass(frozen=True)
class RunFilter:
    """Which runs are wanted."""

    search: str = ""
    state: ExecutionState | None = None

    def __bool__(self) -> bool:
        return bool(self.search.strip() or self.state)


EVERYTHING = RunFilter()


@dataclass(frozen=True)
class FirstCopy:
    """The first copy of a database on its way; until it is there, nothing can be shown."""

    done: int
    total: int

    @property
    def percent(self) -> int:
        return min(100, 100 * self.done // self.total) if self.total else 0


@dataclass(frozen=True)
class Runs:
    """A page of a workspace's executions; ``problem`` and ``advice`` where they cannot be read."""

    executions: tuple[Execution, ...] = ()
    paging: Paging = Paging(1, 0, 1)  # noqa: RUF009 (frozen)
    freshness: Freshness | None = None
    starting: tuple[str, ...] = ()
    """Runs that show signs of life and have no row yet."""
    first_copy: FirstCopy | None = None
    problem: str = ""
    advice: str = ""

    @property
    def more(self) -> bool:
        return self.paging.total > len(self.executions)

    @property
    def mark(self) -> str:
        """Tells this list from another one; how old it is makes no difference."""
        told = (self.executions, self.paging, self.starting, self.first_copy, self.problem)
        return hashlib.sha256(repr(told).encode("utf-8", "replace")).hexdigest()[:12]

    @property
    def is_live(self) -> bool:
        """Whether the list will be another one in a moment."""
        return bool(
            self.first_copy or self.starting or any(each.state == "running" for each in self.executions)
        )


def newest_runs(
    workspaces: Sequence[Workspace], limit: int, now: datetime, wanted: RunFilter = EVERYTHING
) -> list[tuple[Workspace, Runs]]:
    """The newest executions of several workspaces; their copies are made side by side."""
    for workspace in workspaces:
        with suppress(LeaderboardError):
            store_of(workspace).refresh()
    wait = CURRENT_WITHIN / max(len(workspaces), 1)
    return [(each, read_runs(each, limit, now, wanted, wait=wait)) for each in workspaces]


def read_runs(
    workspace: Workspace,
    limit: int,
    now: datetime,
    wanted: RunFilter = EVERYTHING,
    page: int = 1,
    *,
    wait: float = CURRENT_WITHIN,
) -> Runs:
    """A page of executions, out of a verified copy of the database; MixSeek's own file is never opened."""
    try:
        store = store_of(workspace)
        store.refresh(wait=wait)
        total = store.count_executions(wanted.search, state=wanted.state, now=now)
        paging = Paging(page, total, limit)
        executions = store.executions(
            wanted.search, state=wanted.state, limit=limit, offset=paging.offset, now=now
        )
        starting = () if wanted or paging.number > 1 else _starting(store, now)
        return Runs(tuple(executions), paging, store.freshness(), starting)
    except DatabaseMissing:
        return Runs(starting=() if wanted else _starting(store, now))
    except CopyUnderWay as error:
        return Runs(first_copy=FirstCopy(error.done, error.total))
    except LeaderboardError as error:
        language = reader_language()
        return Runs(problem=error.text(language), advice=error.advice(language))


def _starting(store: AggregationStore, now: datetime) -> tuple[str, ...]:
    """Runs that the logs know and the database does not: the first row comes with the first answer."""
    try:
        alive = store.activity(now).running
        return tuple(each for each in alive if find_execution(store, each, now) is None)
    except LeaderboardError:
        return ()


def find_execution(store: AggregationStore, execution_id: str, now: datetime) -> Execution | None:
    """What the database knows of an execution; ``None`` also where there is no database yet."""
    try:
        return store.execution(execution_id, now=now)
    except DatabaseMissing:
        return None


def length_of(seconds: float | None) -> timedelta | None:
    """A stored number of seconds; ``None`` where it is no length of time."""
    return timedelta(seconds=seconds) if seconds is not None and 0 <= seconds < _LONGEST else None


def by_latest_write(workspaces: Iterable[Workspace]) -> list[Workspace]:
    """Those whose database changed last come first; none of them is opened for it."""
    return sorted(workspaces, key=_written_at, reverse=True)


def _written_at(workspace: Workspace) -> float:
    latest = 0.0
    for name in ("mixseek.db", "mixseek.db.wal"):
        try:
            latest = max(latest, (workspace.folder / name).stat().st_mtime)
        except OSError:
            continue
    return latest
