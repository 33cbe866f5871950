"""One list of the runs of all workspaces: searched, filtered, sorted, by pages. Used by the page «Runs»."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from builder.errors import LeaderboardError
from builder.leaderboard import Execution, ExecutionOrder
from studio.models import RunResult, Workspace
from studio.results.origins import RunOrigin, brief_origins
from studio.runs.reading import CURRENT_WITHIN, RunFilter, Runs, by_latest_write, read_runs
from studio.shell.charts.spark import spark
from studio.shell.paging import Paging
from studio.workspaces.stores import store_of

RUNS_PER_PAGE = 50
MOST_PAGES = 40
MOST_WORKSPACES = 50
"""Those that were written to last; of the others the page says how many, and each can be chosen."""
_MOST_OF_A_VERSION = 2000
_MOST_VERSIONS = 300
_LONG_AGO = datetime.min.replace(tzinfo=UTC)

_KEYS: dict[ExecutionOrder, Callable[[Execution], Any]] = {
    "newest": lambda run: -(run.last_at or _LONG_AGO).timestamp(),
    "oldest": lambda run: (run.last_at is None, (run.last_at or _LONG_AGO).timestamp()),
    "best": lambda run: (run.best_score is None, -(run.best_score or 0.0)),
    "worst": lambda run: (run.best_score is None, run.best_score or 0.0),
    "teams": lambda run: -run.teams,
    "rounds": lambda run: -run.rounds,
}


class MadeWith(NamedTuple):
    """A set, or one of its versions, that runs are wanted of."""

    slug: str
    number: int | None = None

    @classmethod
    def of(cls, words: str) -> "MadeWith | None":
        """From `research` or `research@5`; None for nothing."""
        slug, at, number = words.partition("@")
        return cls(slug, int(number) if at else None) if slug else None


class SetThatRan(NamedTuple):
    """A set with those of its versions that runs were made with, the newest first."""

    slug: str
    name: str
    numbers: list[int]


@dataclass(frozen=True)
class RunRow:
    """A run of the list."""

    workspace: Workspace
    run: Execution
    origin: RunOrigin | None
    chart: SafeString
    """The best score of each round."""


@dataclass(frozen=True)
class AllRuns:
    """A page of the list."""

    rows: Sequence[RunRow]
    paging: Paging
    unread: Sequence[tuple[Workspace, Runs]]
    """Workspaces with something to say: a problem, a first copy, a run that has no row yet."""
    left_out: int
    """Workspaces beyond those that are read at once."""

    @property
    def is_live(self) -> bool:
        """Whether the list will be another one in a moment."""
        return any(runs.is_live for _workspace, runs in self.unread) or any(
            row.run.state == "running" for row in self.rows
        )

    @property
    def is_copying(self) -> bool:
        return any(runs.first_copy for _workspace, runs in self.unread)

    @property
    def mark(self) -> str:
        """The same for equal lists, however old they are."""
        told = [(row.workspace.pk, row.run, row.chart) for row in self.rows], self.paging
        told_of = [(workspace.pk, runs.mark) for workspace, runs in self.unread]
        return hashlib.sha256(repr((told, told_of)).encode("utf-8", "replace")).hexdigest()[:12]


def read_all_runs(
    workspaces: Iterable[Workspace],
    wanted: RunFilter,
    made_with: MadeWith | None,
    order: ExecutionOrder,
    page: int,
    now: datetime,
) -> AllRuns:
    """The best of each workspace by that order, put together: a page needs no more of any of them."""
    ids = _ids_of(made_with) if made_with else None
    found = by_latest_write(each for each in workspaces if ids is None or each.pk in ids)
    shown = found[:MOST_WORKSPACES]
    for workspace in shown:  # their copies are made side by side
        with suppress(LeaderboardError):
            store_of(workspace).refresh()
    page = min(page, MOST_PAGES)
    limit = page * RUNS_PER_PAGE if ids is None else _MOST_OF_A_VERSION
    wait = CURRENT_WITHIN / max(len(shown), 1)
    read = [(each, read_runs(each, limit, now, wanted, order=order, wait=wait)) for each in shown]
    if ids is not None:
        read = [(each, _only(runs, ids[each.pk])) for each, runs in read]
    paging = Paging(page, sum(runs.paging.total for _each, runs in read), RUNS_PER_PAGE)
    all_of_them = [(each, run) for each, runs in read for run in runs.executions]
    all_of_them.sort(key=lambda pair: _KEYS[order](pair[1]))
    return AllRuns(
        _rows(all_of_them[paging.offset : paging.offset + RUNS_PER_PAGE]),
        paging,
        [(each, runs) for each, runs in read if runs.problem or runs.first_copy or runs.starting],
        len(found) - len(shown),
    )


def sets_that_ran() -> list[SetThatRan]:
    """What the list can be narrowed to, by the sets' names."""
    rows = (
        RunResult.objects.filter(version__isnull=False)
        .order_by("version__prompt_set__name", "version__prompt_set__slug", "-version__number")
        .values_list("version__prompt_set__slug", "version__prompt_set__name", "version__number")
        .distinct()[:_MOST_VERSIONS]
    )
    sets: dict[str, SetThatRan] = {}
    for slug, name, number in rows:
        sets.setdefault(slug, SetThatRan(slug, name, [])).numbers.append(number)
    return list(sets.values())


def _ids_of(made_with: MadeWith) -> dict[int, set[str]]:
    results = RunResult.objects.filter(version__prompt_set__slug=made_with.slug)
    if made_with.number is not None:
        results = results.filter(version__number=made_with.number)
    ids: dict[int, set[str]] = {}
    for workspace, execution in results.values_list("workspace_id", "execution_id"):
        ids.setdefault(workspace, set()).add(execution)
    return ids


def _only(runs: Runs, ids: set[str]) -> Runs:
    kept = tuple(run for run in runs.executions if run.execution_id in ids)
    return replace(runs, executions=kept, paging=Paging(1, len(kept), max(len(kept), 1)), starting=())


def _rows(runs: Sequence[tuple[Workspace, Execution]]) -> list[RunRow]:
    by_workspace: dict[Workspace, list[str]] = {}
    for workspace, run in runs:
        by_workspace.setdefault(workspace, []).append(run.execution_id)
    origins = {each.pk: brief_origins(each, ids) for each, ids in by_workspace.items()}
    scores = {each.pk: _best_by_round(each, ids) for each, ids in by_workspace.items()}
    return [
        RunRow(
            workspace,
            run,
            origins[workspace.pk].get(run.execution_id),
            spark(scores[workspace.pk].get(run.execution_id, ()), _("Best score by round")),
        )
        for workspace, run in runs
    ]


def _best_by_round(workspace: Workspace, ids: Sequence[str]) -> Mapping[str, Sequence[tuple[int, float]]]:
    """Without a chart a row still says the rest."""
    try:
        return store_of(workspace).across.best_by_round(ids)
    except LeaderboardError:
        return {}
