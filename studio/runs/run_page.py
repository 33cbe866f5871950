"""One run as its page shows it: the ranking, the scores by round, who is doing what, and what is missing."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from builder.errors import MissingColumn, MissingTable
from builder.leaderboard import (
    AggregationStore,
    Copying,
    Execution,
    Freshness,
    Gap,
    Progress,
    ScorePoint,
    Standing,
)
from builder.template.dialect import RankingOrder
from studio.runs.lists import find_execution, length_of
from studio.shell.charts import Chart, Series, Words, line_chart, swatches
from studio.shell.language import reader_language
from studio.shell.numbers import score

OrderName = Literal["mixseek", "contract"]
ORDERS: dict[OrderName, RankingOrder] = {"mixseek": "team_id", "contract": "latest_round"}

MOST_COLUMNS = 24
"""Of the table of scores; of a run with more rounds the latest are shown, and the file has them all."""


@dataclass(frozen=True)
class Place:
    """A team's place in the ranking, with the look of its line in the chart."""

    standing: Standing
    swatch: SafeString
    key: str
    """Tells the row's parts apart in the page: ids out of a database may hold anything."""
    tied: bool


@dataclass(frozen=True)
class Cell:
    """A team's score in one round; ``best`` is its highest."""

    round_number: int
    point: ScorePoint | None
    best: bool = False


@dataclass(frozen=True)
class ScoreRow:
    """A team's scores, a cell for each round of the run."""

    team_id: str
    team_name: str
    swatch: SafeString
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class RunPage:
    """Everything that the page of a run shows."""

    execution: Execution
    places: tuple[Place, ...] = ()
    points: tuple[ScorePoint, ...] = ()
    rows: tuple[ScoreRow, ...] = ()
    rounds: tuple[int, ...] = ()
    """The columns of the table of scores."""
    rounds_left_out: int = 0
    chart: Chart = Chart()  # noqa: RUF009 (frozen)
    progress: tuple[Progress, ...] = ()
    gaps: tuple[Gap, ...] = ()
    problems: tuple[str, ...] = ()
    """What could not be read, each a sentence."""
    freshness: Freshness | None = None
    copying: Copying | None = None

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


def read_run(store: AggregationStore, execution_id: str, order: OrderName, now: datetime) -> RunPage | None:
    """The run; ``None`` where nobody knows it. Raises where nothing can be read; a missing part is told."""
    execution = find_execution(store, execution_id, now)
    progress = tuple(store.progress([execution_id]))
    if execution is None:
        # So far only its logs know it: the first row comes with the first answer.
        return RunPage(_begun(execution_id, progress, now), progress=progress) if progress else None
    problems: list[str] = []
    places, points = _ranking(store, execution_id, order, problems)
    teams = _teams(places, points)
    looks = dict(zip([team for team, _name in teams], swatches(len(teams)), strict=True))
    of_team: dict[str, list[ScorePoint]] = {team: [] for team, _name in teams}
    for point in points:
        of_team[point.team_id].append(point)
    columns = sorted({point.round_number for point in points})
    shown = tuple(columns[-MOST_COLUMNS:])
    return RunPage(
        execution,
        tuple(Place(each, looks[each.team_id], _key(each.team_id), _tied(each, places)) for each in places),
        tuple(points),
        tuple(_row(team, name, looks[team], shown, of_team[team]) for team, name in teams),
        shown,
        len(columns) - len(shown),
        line_chart("scores", _series(teams, of_team), _words(places, columns)),
        progress,
        store.gaps(),
        tuple(problems),
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
    moments = [each.updated_at for each in progress if each.updated_at is not None]
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


def _ranking(
    store: AggregationStore, execution_id: str, order: OrderName, problems: list[str]
) -> tuple[list[Standing], list[ScorePoint]]:
    places: list[Standing] = []
    points: list[ScorePoint] = []
    try:
        points = store.scores(execution_id)
        places = store.standings(execution_id, ORDERS[order])
    except (MissingTable, MissingColumn) as error:
        problems.append(error.text(reader_language()))
    return places, points


def _teams(places: Sequence[Standing], points: Sequence[ScorePoint]) -> list[tuple[str, str]]:
    """By rank; then those without a place, whose scores are no numbers."""
    found = {each.team_id: each.team_name for each in places}
    for point in points:
        found.setdefault(point.team_id, point.team_name)
    return list(found.items())


def _series(teams: Sequence[tuple[str, str]], of_team: Mapping[str, Sequence[ScorePoint]]) -> list[Series]:
    return [
        Series(name or team, tuple((point.round_number, point.score) for point in of_team[team]))
        for team, name in teams
    ]


def _row(
    team_id: str, name: str, look: SafeString, rounds: Sequence[int], points: Sequence[ScorePoint]
) -> ScoreRow:
    own = {point.round_number: point for point in points}
    best = max((point.score for point in own.values() if point.score is not None), default=None)
    cells = (
        Cell(
            number,
            own.get(number),
            best is not None and len(own) > 1 and number in own and own[number].score == best,
        )
        for number in rounds
    )
    return ScoreRow(team_id, name, look, tuple(cells))


def _words(places: Sequence[Standing], rounds: Sequence[int]) -> Words:
    said = ngettext("%(n)d team, ", "%(n)d teams, ", len(places)) % {"n": len(places)}
    said += ngettext("%(n)d round.", "%(n)d rounds.", len(rounds)) % {"n": len(rounds)}
    if places:
        lead = places[0]
        said += " " + _("%(team)s leads with %(score)s, reached in round %(round)d.") % {
            "team": lead.team_name,
            "score": score(lead.best_score),
            "round": lead.best_round,
        }
    return Words(_("Score by round and team"), said, _("Round"), _("Score"))


def _tied(standing: Standing, places: Sequence[Standing]) -> bool:
    return sum(each.kept_score == standing.kept_score for each in places) > 1


def _key(team_id: str) -> str:
    return hashlib.sha256(team_id.encode("utf-8", "replace")).hexdigest()[:8]
