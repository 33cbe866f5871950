"""The page of one run: ranking, scores by round, who is doing what, what is missing; and its tables as files.

Used by the views of runs, teams and rounds.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from builder.errors import MissingColumn, MissingTable
from builder.leaderboard import (
    AggregationStore,
    Copying,
    Execution,
    Freshness,
    Gap,
    Progress,
    RoundRecord,
    ScorePoint,
    Standing,
    TeamFailure,
)
from builder.template.dialect import RankingOrder
from studio.runs.reading import find_execution, length_of
from studio.runs.scores_chart import scores_chart
from studio.runs.why import Why, read_why
from studio.shell.charts import Chart, swatches
from studio.shell.downloads import Table
from studio.shell.language import reader_language
from studio.shell.paging import Paging
from studio.shell.refusal import RequestRefused

OrderName = Literal["mixseek", "contract"]
ORDERS: dict[OrderName, RankingOrder] = {"mixseek": "team_id", "contract": "latest_round"}

MOST_COLUMNS = 24
"""Of the table of scores; of a run with more rounds the latest are shown, and the file has them all."""

TEAMS_PER_PAGE = 50
"""Of the ranking, of the chart and of the table of scores."""

MOST_AT_WORK = 100
"""Teams of which is said what they are doing, or why they gave up; the file has them all."""

MOST_BOARD_ROUNDS = 30
MOST_BOARD_TEAMS = 200


@dataclass(frozen=True)
class TeamRow:
    """A team of the run: its place in the ranking, its scores by round, and the look of its line."""

    team_id: str
    team_name: str
    key: str
    """Tells the parts of the page apart: ids out of a database may hold anything."""
    swatch: SafeString
    points: tuple[ScorePoint, ...]
    cells: tuple[tuple[ScorePoint | None, bool], ...]
    """For each column of the table of scores, the score, and whether it is the team's best of several."""
    standing: Standing | None
    """None where its scores are no numbers."""
    tied: bool


@dataclass(frozen=True)
class RunPage:
    """Everything that the page of a run shows."""

    execution: Execution
    points: tuple[ScorePoint, ...] = ()
    standings: tuple[Standing, ...] = ()
    paging: Paging = Paging(1, 0, TEAMS_PER_PAGE)  # noqa: RUF009 (frozen)
    rows: tuple[TeamRow, ...] = ()
    """One page of the teams: by rank; then those without a place."""
    rounds: tuple[int, ...] = ()
    """The columns of the table of scores."""
    rounds_left_out: int = 0
    chart: Chart = Chart()  # noqa: RUF009 (frozen)
    why: Why | None = None
    progress: tuple[Progress, ...] = ()
    gaps: tuple[Gap, ...] = ()
    problems: tuple[str, ...] = ()
    """What could not be read, each a sentence."""
    freshness: Freshness | None = None
    copying: Copying | None = None

    @property
    def places(self) -> list[TeamRow]:
        """The ranking, of the teams on this page."""
        return [row for row in self.rows if row.standing is not None]

    @property
    def at_work(self) -> tuple[Progress, ...]:
        """What the teams are doing, as many as the page shows: those with an error first."""
        return tuple(sorted(self.progress, key=lambda team: not team.error)[:MOST_AT_WORK])

    @property
    def failures(self) -> tuple[TeamFailure, ...]:
        return self.execution.failures[:MOST_AT_WORK]

    @property
    def is_running(self) -> bool:
        return self.execution.state == "running"

    @property
    def is_live(self) -> bool:
        """Whether the page will be another one soon: the run goes on, or a newer copy is being made."""
        return self.is_running or (self.copying is not None and self.copying.state == "copying")

    @property
    def copied_percent(self) -> int | None:
        """How much of a newer copy is there, while one is being made."""
        if self.copying is None or self.copying.state != "copying" or not self.copying.total:
            return None
        return min(100, 100 * self.copying.done // self.copying.total)


def read_run(
    store: AggregationStore,
    execution_id: str,
    order: OrderName,
    now: datetime,
    page: int = 1,
    *,
    every_metric: bool = False,
    team_url: Callable[[str], str],
) -> RunPage:
    """The run; refused with a 404 where nobody knows it. A missing part is told on the page."""
    execution = find_execution(store, execution_id, now)
    progress = tuple(store.progress([execution_id]))
    if execution is None and not progress:
        raise RequestRefused(404, _("This workspace has no run “%(id)s”.") % {"id": execution_id})
    if execution is None:
        # So far only its logs know it: the first row comes with the first answer.
        return RunPage(_begun(execution_id, progress, now), progress=progress)
    points: list[ScorePoint] = []
    standings: list[Standing] = []
    problems: tuple[str, ...] = ()
    try:
        points = store.scores(execution_id)
        standings = store.standings(execution_id, ORDERS[order])
    except (MissingTable, MissingColumn) as error:
        problems = (error.text(reader_language()),)
    columns = sorted({point.round_number for point in points})
    shown = tuple(columns[-MOST_COLUMNS:])
    rows, paging = _rows(standings, points, shown, page)
    return RunPage(
        execution,
        tuple(points),
        tuple(standings),
        paging,
        rows,
        shown,
        len(columns) - len(shown),
        scores_chart(rows, standings, columns, team_url),
        read_why(
            store,
            execution_id,
            standings,
            [row.standing for row in rows if row.standing is not None],
            every=every_metric,
        ),
        progress,
        store.gaps(),
        problems,
        store.freshness(),
        store.copying(),
    )


def elapsed(execution: Execution, now: datetime) -> timedelta | None:
    """How long the run took or, while it goes on, has taken."""
    if execution.seconds is not None:
        return length_of(execution.seconds)
    end = now if execution.state == "running" else execution.last_at
    if execution.started_at is None or end is None or end < execution.started_at:
        return None
    return end - execution.started_at


def _begun(execution_id: str, progress: Sequence[Progress], now: datetime) -> Execution:
    moments = [team.updated_at for team in progress if team.updated_at is not None]
    alive = any(now - moment <= timedelta(minutes=15) for moment in moments)
    return Execution(
        execution_id=execution_id,
        user_prompt=None,
        state="running" if alive else "unknown",
        teams=len(progress),
        rounds=0,
        best_score=None,
        started_at=None,
        last_at=max(moments, default=None),
    )


def _rows(
    standings: Sequence[Standing], points: Sequence[ScorePoint], rounds: Sequence[int], page: int
) -> tuple[tuple[TeamRow, ...], Paging]:
    places = {standing.team_id: standing for standing in standings}
    names = {standing.team_id: standing.team_name for standing in standings}
    of_team: dict[str, list[ScorePoint]] = {team: [] for team in names}
    for point in points:
        names.setdefault(point.team_id, point.team_name)
        of_team.setdefault(point.team_id, []).append(point)
    kept = Counter(standing.kept_score for standing in standings)
    paging = Paging(page, len(of_team), TEAMS_PER_PAGE)
    shown = list(of_team)[paging.offset : paging.last_row]
    rows = []
    for team, swatch in zip(shown, swatches(len(shown)), strict=True):
        own = {point.round_number: point for point in of_team[team]}
        best = max((point.score for point in own.values() if point.score is not None), default=None)
        several = len(own) > 1 and best is not None
        cells = (
            (point, point is not None and several and point.score == best) for point in map(own.get, rounds)
        )
        key = hashlib.sha256(team.encode("utf-8", "replace")).hexdigest()[:8]
        place = places.get(team)
        tied = place is not None and kept[place.kept_score] > 1
        rows.append(TeamRow(team, names[team], key, swatch, tuple(of_team[team]), tuple(cells), place, tied))
    return tuple(rows), paging


# --- a run's rounds, to pick one from ----------------------------------------------------


@dataclass(frozen=True)
class BoardRow:
    """A team's rounds, one for each column of the board."""

    team_id: str
    team_name: str
    cells: tuple[ScorePoint | None, ...]


@dataclass(frozen=True)
class Board:
    """An execution's rounds by team; very many are cut to the latest rounds and the first teams."""

    execution: Execution
    numbers: tuple[int, ...]
    rows: tuple[BoardRow, ...]
    teams_left_out: int
    rounds_left_out: int


def read_board(store: AggregationStore, execution_id: str, now: datetime) -> Board | None:
    """``None`` where there is no such execution."""
    execution = store.execution(execution_id, now=now)
    if execution is None:
        return None
    names: dict[str, str] = {}
    played: dict[str, dict[int, ScorePoint]] = {}
    for point in store.scores(execution_id):
        names[point.team_id] = point.team_name
        # A round of number 0 or less has no address: MixSeek counts from 1.
        if point.round_number >= 1:
            played.setdefault(point.team_id, {})[point.round_number] = point
    numbers = sorted({number for points in played.values() for number in points})
    shown = tuple(numbers[-MOST_BOARD_ROUNDS:])
    rows = tuple(
        BoardRow(team, names[team], tuple(points.get(number) for number in shown))
        for team, points in list(played.items())[:MOST_BOARD_TEAMS]
    )
    return Board(execution, shown, rows, len(played) - len(rows), len(numbers) - len(shown))


# --- as files ----------------------------------------------------------------------------


def run_tables(run: RunPage, store: AggregationStore) -> dict[str, Callable[[], Table]]:
    """The tables of a run's page by name."""
    name = f"run-{run.execution.execution_id[:8]}"
    return {
        "ranking": lambda: Table.of(
            f"{name}-ranking",
            run.standings,
            "rank team_id team_name best_score best_round latest_score latest_round rounds exit_reason",
        ),
        "scores": lambda: Table.of(
            f"{name}-scores", run.points, "team_id team_name round_number score final_submission=final"
        ),
        "progress": lambda: Table.of(
            f"{name}-progress",
            run.progress,
            "team_id team_name status current_round total_rounds current_agent updated_at error",
        ),
        "rounds": lambda: rounds_table(f"{name}-rounds", store.rounds(run.execution.execution_id)),
        "metrics": lambda: metrics_table(f"{name}-metrics", store.rounds(run.execution.execution_id)),
    }


def executions_table(name: str, executions: Sequence[Execution], total: int) -> Table:
    columns = (
        "execution_id state task=user_prompt teams finished_teams rounds best_score best_team_id"
        " best_team_name started_at last_at seconds"
    )
    return Table.of(name, executions, columns, is_cut=total > len(executions))


def rounds_table(name: str, rounds: Sequence[RoundRecord]) -> Table:
    """A row for each round with everything stored about it, the conversation aside."""
    columns = (
        "team_id team_name round_number score final_submission exit_reason started_at ended_at submitted_at"
        " should_continue confidence reasoning submission_format submission"
    )
    return Table.of(name, rounds, columns)


def metrics_table(name: str, rounds: Sequence[RoundRecord]) -> Table:
    rows = (
        (record.team_id, record.team_name, record.round_number, metric.name, metric.score, metric.comment)
        for record in rounds
        for metric in record.metrics
    )
    return Table(name, ("team_id", "team_name", "round_number", "metric", "score", "comment"), rows)
