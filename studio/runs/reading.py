"""Reading the databases of workspaces: the store for one page, and lists of executions.

Used by every page about runs. What a store refuses becomes a page that says so, or a sentence in a list.
"""

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django_htmx.middleware import HtmxDetails

from builder.errors import CopyUnderWay, DatabaseMissing, LeaderboardError, UnknownRun
from builder.files.answering import answers
from builder.leaderboard import AggregationStore, Execution, ExecutionOrder, ExecutionState, Freshness
from studio.models import Workspace
from studio.shell.language import reader_language
from studio.shell.paging import Paging
from studio.shell.refusal import RequestRefused
from studio.workspaces.roots import FolderMissing, folder_refusal
from studio.workspaces.stores import store_of

CURRENT_WITHIN = 0.2
"""Seconds that a page waits for a fresh copy; a larger file is shown as it was, and soon as it is."""

_LONGEST_SECONDS = 1e10


@dataclass(frozen=True)
class FirstCopy:
    """The first copy of a database on its way; until it is there, nothing can be shown."""

    done: int
    total: int

    @property
    def percent(self) -> int:
        return min(100, 100 * self.done // self.total) if self.total else 0


class BeingCopied(RequestRefused):
    """The first copy of a database is on its way: the page comes by itself when it is there."""

    def __init__(self, error: CopyUnderWay) -> None:
        language = reader_language()
        super().__init__(503, error.text(language), error.advice(language))
        self.copy = FirstCopy(error.done, error.total)

    def page(self, request: HttpRequest) -> HttpResponse:
        """202 with how far the copy is: the page asks again and becomes the one that was wanted."""
        htmx = HtmxDetails(request)
        part = bool(htmx) and htmx.target != "main"
        if request.method != "GET" or part:
            return super().page(request)
        return render(request, "runs/copying.html", {"copy": self.copy}, status=202)


@contextmanager
def opened_store(workspace: Workspace) -> Iterator[AggregationStore]:
    """The workspace's store, as current as it can be without keeping anybody waiting.

    Whatever the store refuses inside ends the request with a page that says so.
    """
    try:
        store = store_of(workspace)
        # A list of nothing is no problem, so it is up to the question to miss the database.
        with suppress(DatabaseMissing):
            store.refresh(wait=CURRENT_WITHIN)
        yield store
    except CopyUnderWay as error:
        raise BeingCopied(error) from error
    except LeaderboardError as error:
        if refusal := folder_refusal(workspace):
            refusal.status = 404 if isinstance(refusal, FolderMissing) else 403
            settings = reverse("workspace-settings", args=[workspace.slug])
            refusal.ways = [(workspace.name, workspace.get_absolute_url()), (_("Settings"), settings)]
            raise refusal from error
        language = reader_language()
        status = 404 if isinstance(error, UnknownRun | DatabaseMissing) else 503
        raise RequestRefused(status, error.text(language), error.advice(language)) from error


@dataclass(frozen=True)
class RunFilter:
    """Which runs are wanted."""

    search: str = ""
    state: ExecutionState | None = None

    def __bool__(self) -> bool:
        return bool(self.search.strip() or self.state)


EVERYTHING = RunFilter()


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
        """The same for equal lists, however old they are."""
        told = (self.executions, self.paging, self.starting, self.first_copy, self.problem)
        return hashlib.sha256(repr(told).encode("utf-8", "replace")).hexdigest()[:12]

    @property
    def is_live(self) -> bool:
        """Whether the list will be another one in a moment."""
        return bool(
            self.first_copy or self.starting or any(run.state == "running" for run in self.executions)
        )


def read_runs(
    workspace: Workspace,
    limit: int,
    now: datetime,
    wanted: RunFilter = EVERYTHING,
    page: int = 1,
    *,
    order: ExecutionOrder = "newest",
    wait: float = CURRENT_WITHIN,
) -> Runs:
    """A page of executions, out of a verified copy of the database; MixSeek's own file is never opened."""
    if refusal := folder_refusal(workspace):
        return Runs(problem=refusal.what, advice=refusal.advice)
    try:
        store = store_of(workspace)
        store.refresh(wait=wait)
        total = store.count_executions(wanted.search, state=wanted.state, now=now)
        paging = Paging(page, total, limit)
        executions = store.executions(
            wanted.search, state=wanted.state, order=order, limit=limit, offset=paging.offset, now=now
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
        return tuple(run for run in alive if find_execution(store, run, now) is None)
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
    return timedelta(seconds=seconds) if seconds is not None and 0 <= seconds < _LONGEST_SECONDS else None


def score_change(before: float | None, after: float | None) -> float | None:
    """By how much a score is higher than another; ``None`` where one of them is missing."""
    return None if before is None or after is None else after - before


def by_latest_write(workspaces: Iterable[Workspace]) -> list[Workspace]:
    """Those whose database changed last come first; none of them is opened for it."""
    return sorted(workspaces, key=_written_at, reverse=True)


def _written_at(workspace: Workspace) -> float:
    latest = 0.0
    if not answers(workspace.folder):
        return latest
    for name in ("mixseek.db", "mixseek.db.wal"):
        try:
            latest = max(latest, (workspace.folder / name).stat().st_mtime)
        except OSError:
            continue
    return latest
