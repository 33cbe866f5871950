"""The answers over many executions: teams and their history, how scores spread, two executions side by
side. Used as ``AggregationStore.across``."""

import math
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from builder.leaderboard.digest import EXECUTIONS, IS_PARTIAL, SCORES, STANDINGS, TEAMS
from builder.leaderboard.executions import (
    PLACES,
    WIDTH,
    execution_of,
    joined,
    known,
    matching,
    standings,
    where,
)
from builder.leaderboard.queries import RoundOf, read_scored
from builder.leaderboard.reader import Reader
from builder.leaderboard.records import (
    Bin,
    Distribution,
    ExecutionComparison,
    ScoredRound,
    ScoresBy,
    ScoresOf,
    Standing,
    TeamDelta,
    TeamOrder,
    TeamRun,
    TeamSummary,
)
from builder.leaderboard.rows import as_utc
from builder.leaderboard.source import Source
from builder.template.dialect import RankingOrder

_TEAM_ORDERS: dict[TeamOrder, str] = {
    "best": "best DESC NULLS LAST, team_id",
    "mean": "mean DESC NULLS LAST, team_id",
    "executions": "executions DESC, team_id",
    "name": "lower(names[1]), team_id",
    "latest": "last_utc DESC NULLS LAST, team_id",
}


class Across:
    """Answers over many executions of one workspace; ``AggregationStore.across`` has it.

    >>> store.across.teams(search="alpha", limit=50)
    """

    def __init__(self, source: Source) -> None:
        self._source = source

    def teams(
        self, search: str = "", *, order: TeamOrder = "best", limit: int | None = None, offset: int = 0
    ) -> list[TeamSummary]:
        """Every team that ever scored; ``search`` looks at names and ids."""
        conditions, parameters = matching(search, "team_id")
        sql = f"{_TEAM}{where(conditions)} ORDER BY {_TEAM_ORDERS[order]} LIMIT ? OFFSET ?"
        return [_summary_of(row) for row in self._source.rows(sql, [*parameters, limit, max(0, offset)])]

    def count_teams(self, search: str = "") -> int:
        """How many there are on all pages."""
        conditions, parameters = matching(search, "team_id")
        ((count,),) = self._source.rows(f"SELECT COUNT(*) FROM {TEAMS}{where(conditions)}", parameters)
        return int(count)

    def team(self, team_id: str) -> TeamSummary | None:
        rows = self._source.rows(f"{_TEAM} WHERE team_id = ?", [team_id])
        return _summary_of(rows[0]) if rows else None

    def team_history(
        self,
        team_id: str,
        *,
        order: RankingOrder = "team_id",
        limit: int | None = None,
        offset: int = 0,
        now: datetime | None = None,
    ) -> list[TeamRun]:
        """How the team did in each execution, the latest first; ``order`` is the ranking's."""
        sql = (
            f"SELECT {joined('run')}, team_name, team.best, latest_score, {PLACES[order]}, kept, team.rounds"
            f" FROM {STANDINGS} AS team JOIN {EXECUTIONS} AS run USING (execution_id) WHERE team_id = ?"
            " ORDER BY run.last_utc DESC NULLS LAST, run.execution_id, team_name LIMIT ? OFFSET ?"
        )

        def question(reader: Reader) -> list[TeamRun]:
            signs = self._source.signs(reader, now)
            rows = reader.rows(sql, [*signs.parameters, team_id, limit, max(0, offset)])
            return [
                TeamRun(
                    execution_of(row), name, best, latest, None if kept is None else int(place), int(rounds)
                )
                for row in rows
                for name, best, latest, place, kept, rounds in [row[WIDTH:]]
            ]

        return self._source.answer(question)

    def count_team_history(self, team_id: str) -> int:
        ((count,),) = self._source.rows(f"SELECT COUNT(*) FROM {STANDINGS} WHERE team_id = ?", [team_id])
        return int(count)

    def distribution(
        self,
        *,
        of: ScoresOf = "rounds",
        execution_id: str | None = None,
        team_id: str | None = None,
        bins: int = 20,
        partial: bool = False,
    ) -> Distribution:
        """How scores spread over the workspace, one execution, one team, or one team in one execution;
        ``partial``: with those of teams that failed, or ran out of time, after some rounds."""
        return self._source.answer(
            lambda reader: _distribution(reader, of, execution_id, team_id, bins, partial=partial)
        )

    def spreads(
        self,
        by: ScoresBy,
        keys: Sequence[str],
        *,
        of: ScoresOf = "rounds",
        team_id: str | None = None,
        partial: bool = False,
    ) -> dict[str, Distribution]:
        """How the scores of each of these teams or executions spread, without columns, in one pass."""
        table, column = _COLUMNS[of]
        conditions = [*_counted(column, partial=partial), f"list_contains(?::VARCHAR[], {by}_id)"]
        parameters: list[Any] = [list(keys)]
        if team_id is not None:
            conditions.append("team_id = ?")
            parameters.append(team_id)
        rows = self._source.rows(
            f"SELECT {by}_id, {_figures(column)}, CASE WHEN COUNT(*) <= {MOST_VALUES} THEN list({column}) END"
            f" FROM {table}{where(conditions)} GROUP BY 1",
            parameters,
        )
        return {
            key: Distribution(count, low, lower, median, upper, high, mean, values=tuple(values or ()))
            for key, count, low, high, mean, (lower, median, upper), values in rows
        }

    def unfinished(self) -> dict[str, tuple[list[str], float | None]]:
        """Executions with teams that failed, or ran out of time, after some rounds: which, and the best score
        of the others."""
        rows = self._source.rows(
            f"SELECT execution_id, list(DISTINCT team_id ORDER BY team_id) FILTER ({IS_PARTIAL}),"
            f" MAX(best) FILTER (NOT {IS_PARTIAL}) FROM {STANDINGS} GROUP BY 1 HAVING bool_or({IS_PARTIAL})"
        )
        return {execution_id: (teams, best) for execution_id, teams, best in rows}

    def best_by_round(self, execution_ids: Iterable[str]) -> dict[str, list[tuple[int, float]]]:
        """The best score of each round of some executions; rounds without one are left out."""
        rows = self._source.rows(
            f"SELECT execution_id, round_number, MAX(score) FROM {SCORES}"
            " WHERE list_contains(?::VARCHAR[], execution_id) AND isfinite(score)"
            " GROUP BY 1, 2 ORDER BY 1, 2",
            [list(execution_ids)],
        )
        best: dict[str, list[tuple[int, float]]] = {}
        for execution_id, number, score in rows:
            best.setdefault(execution_id, []).append((int(number), float(score)))
        return best

    def scored_rounds(
        self, execution_id: str, rounds: Iterable[RoundOf], characters: int = 0
    ) -> dict[RoundOf, ScoredRound]:
        """The metrics of some rounds of several teams, with so many characters of each submission."""
        wanted = list(rounds)
        return self._source.answer(lambda reader: read_scored(reader, execution_id, wanted, characters))

    def compare(
        self, first: str, second: str, *, order: RankingOrder = "team_id", now: datetime | None = None
    ) -> ExecutionComparison:
        """Two executions side by side; raises ``UnknownExecution`` where one is not known."""

        def question(reader: Reader) -> ExecutionComparison:
            signs = self._source.signs(reader, now)
            one, other = (known(reader, name, signs) for name in (first, second))
            sides = (standings(reader, name, order) for name in (first, second))
            return ExecutionComparison(one, other, _deltas(*sides))

        return self._source.answer(question)


_TEAM = (
    "SELECT team_id, names, executions, rounds, wins, best, mean, last_utc, partial, mean_of_all"
    f" FROM {TEAMS}"
)


def _summary_of(row: Sequence[Any]) -> TeamSummary:
    team_id, names, executions, rounds, wins, best, mean, last, *partial = row
    return TeamSummary(team_id, tuple(names), executions, rounds, wins, best, mean, as_utc(last), *partial)


def _deltas(first: Sequence[Standing], second: Sequence[Standing]) -> tuple[TeamDelta, ...]:
    """Teams of both executions in the first one's order, then those of the first, then of the second only."""
    # Where a team changed its name in an execution, its better part stands for it.
    one, other = ({standing.team_id: standing for standing in reversed(side)} for side in (first, second))
    places = list(dict.fromkeys(standing.team_id for standing in (*first, *second)))
    places.sort(key=lambda team: (team not in one) * 2 + (team not in other))
    return tuple(
        TeamDelta(team, (other.get(team) or one[team]).team_name, one.get(team), other.get(team))
        for team in places
    )


_COLUMNS: dict[ScoresOf, tuple[str, str]] = {"rounds": (SCORES, "score"), "best": (STANDINGS, "best")}

MOST_VALUES = 250
"""Scores of a group that are handed out one by one; more than these nobody could tell apart."""


def _figures(column: str) -> str:
    return (
        f"COUNT(*), MIN({column}), MAX({column}), AVG({column}), quantile_cont({column}, [0.25, 0.5, 0.75])"
    )


def _counted(column: str, *, partial: bool) -> list[str]:
    """Conditions: there is a score and, unless ``partial``, the team finished."""
    # Only a team's last row says how it ended.
    finished = (
        f"(execution_id, team_id) NOT IN (SELECT (execution_id, team_id) FROM {STANDINGS} WHERE {IS_PARTIAL})"
    )
    return [f"{column} IS NOT NULL", *([] if partial else [finished])]


def _distribution(
    reader: Reader, of: ScoresOf, execution_id: str | None, team_id: str | None, bins: int, *, partial: bool
) -> Distribution:
    """Quartiles and at most about ``bins`` columns of round widths; two passes over narrow rows."""
    table, column = _COLUMNS[of]
    named = {"execution_id": execution_id, "team_id": team_id}
    conditions = [
        *_counted(column, partial=partial),
        *(f"{name} = ?" for name, value in named.items() if value is not None),
    ]
    parameters = [value for value in named.values() if value is not None]
    source = f" FROM {table}{where(conditions)}"
    (figures,) = reader.rows(f"SELECT {_figures(column)}{source}", parameters)
    count, low, high, mean, quartiles = figures
    if not count:
        return Distribution(0)
    # Against one wild score, or where all are the same, a column must still be wide enough to be counted.
    size = max(abs(low), abs(high)) * 1e-6
    width = (
        _round_width(max((high - low) / min(max(1, bins), _MOST_BINS), size))
        if low < high
        else max(1.0, _round_width(size))
    )
    start = math.floor(low / width + _EDGE)
    counted = dict(
        reader.rows(
            f"SELECT floor({column} / ? + {_EDGE})::BIGINT AS place, COUNT(*){source} GROUP BY place",
            [width, *parameters],
        )
    )
    columns = [
        Bin(round(place * width, 10), round((place + 1) * width, 10), int(counted.get(place, 0)))
        for place in range(start, max(counted, default=start) + 1)
    ]
    lower, median, upper = quartiles
    return Distribution(int(count), low, lower, median, upper, high, mean, tuple(columns))


_MOST_BINS = 200
_EDGE = 1e-9
"""0.35 / 0.05 is a hair less than 7 in floating point; a score on an edge belongs above it all the same."""


def _round_width(least: float) -> float:
    """The next of 1, 2, 5, 10, 20 …, so that the edges are numbers a person would choose."""
    if least <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= least * (1 - 1e-9))
