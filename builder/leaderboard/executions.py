"""Executions, their standings and their scores: the queries over the digest's tables and what their rows
become. Used by the store and by ``across``."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from builder.errors import UnknownExecution
from builder.leaderboard.digest import EXECUTIONS, SCORES, STANDINGS
from builder.leaderboard.reader import Reader
from builder.leaderboard.records import (
    Activity,
    Execution,
    ExecutionOrder,
    ExecutionState,
    ScorePoint,
    Standing,
)
from builder.leaderboard.rows import as_utc
from builder.leaderboard.sentences import UNKNOWN_EXECUTION
from builder.template.dialect import RankingOrder

Parameters = list[Any]

_MOST_TERMS = 12
_ORDERS: dict[ExecutionOrder, str] = {
    "newest": "place",
    "oldest": "last_utc IS NULL, place DESC",
    "best": "best DESC NULLS LAST, place",
    "worst": "best NULLS LAST, place",
    "teams": "teams DESC, place",
    "rounds": "rounds DESC, place",
}
_STATE = (
    "CASE WHEN status IN ('completed', 'partial_failure', 'failed') THEN status"
    " WHEN status IS NULL AND (last_utc >= ? OR list_contains(?::VARCHAR[], execution_id)) THEN 'running'"
    " ELSE 'unknown' END"
)
_COLUMNS = (
    "execution_id, user_prompt, teams, rounds, best, started_utc, last_utc, seconds,"
    " best_team_id, best_team_name, finished"
)
_EXECUTION = f"SELECT {_COLUMNS}, {_STATE} AS state FROM {EXECUTIONS}"

PLACES: dict[RankingOrder, str] = {"team_id": "by_team_id", "latest_round": "by_latest_round"}
"""The columns that hold a team's place in MixSeek's order and in the contract's."""


@dataclass(frozen=True)
class Signs:
    """What tells a running execution from a killed one: rows since then, or life in its logs."""

    since: datetime
    alive: Sequence[str] = ()

    @property
    def parameters(self) -> Parameters:
        return [self.since.astimezone(UTC).replace(tzinfo=None), list(self.alive)]


@dataclass(frozen=True)
class Filter:
    """Which executions to list; what is empty does not narrow."""

    search: str = ""
    state: ExecutionState | None = None
    team: str | None = None

    def where(self, signs: Signs) -> tuple[str, Parameters]:
        conditions, parameters = matching(self.search, "execution_id")
        if self.team is not None:
            conditions.append("list_contains(team_ids, ?)")
            parameters.append(self.team)
        if self.state is not None:
            conditions.append(f"({_STATE}) = ?")
            parameters += [*signs.parameters, self.state]
        return where(conditions), parameters


def where(conditions: Sequence[str]) -> str:
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


def matching(search: str, identifier: str) -> tuple[list[str], Parameters]:
    """Each word stands anywhere in the texts or begins the id; words are what blanks of any width part."""
    terms = search.split()[:_MOST_TERMS]
    condition = f"(contains(needle, lower(?)) OR starts_with(lower({identifier}), lower(?)))"
    return [condition] * len(terms), [term for term in terms for _ in range(2)]


def page(
    wanted: Filter, signs: Signs, order: ExecutionOrder, limit: int | None, offset: int
) -> tuple[str, Parameters]:
    narrowed, parameters = wanted.where(signs)
    start = max(0, offset)
    if order == "newest" and not narrowed and limit is not None:
        # The rows lie in this order: only those of the page are read.
        narrowed, limits, parameters = " WHERE place > ? AND place <= ?", "", [start, start + max(0, limit)]
    else:
        limits, parameters = " LIMIT ? OFFSET ?", [*parameters, limit, start]
    return f"{_EXECUTION}{narrowed} ORDER BY {_ORDERS[order]}{limits}", [*signs.parameters, *parameters]


def count(wanted: Filter, signs: Signs) -> tuple[str, Parameters]:
    narrowed, parameters = wanted.where(signs)
    return f"SELECT COUNT(*) FROM {EXECUTIONS}{narrowed}", parameters


def joined(alias: str) -> str:
    """The columns of ``execution_of`` for a query that joins; takes the parameters of ``Signs``."""
    columns = ", ".join(f"{alias}.{name.strip()}" for name in _COLUMNS.split(","))
    return f"{columns}, {_STATE.replace('status', f'{alias}.status')} AS state"


FINISHED = f"SELECT execution_id FROM {EXECUTIONS} WHERE status IS NOT NULL"
"""Executions with a summary: whatever their logs say, they are over."""

_MOST_UNFINISHED = 500
UNFINISHED = (
    f"SELECT last_utc FROM {EXECUTIONS} WHERE status IS NULL AND last_utc IS NOT NULL"
    f" ORDER BY last_utc DESC LIMIT {_MOST_UNFINISHED}"
)
"""When those without a summary last showed a row; of very many, the latest."""


def deciding(since: datetime, unfinished: Collection[datetime]) -> datetime:
    """A moment that parts the unfinished executions as ``since`` does, and stays the same while it does: what
    is asked with it need not be asked again."""
    moments = [moment.replace(tzinfo=UTC) for moment in unfinished]
    if len(moments) == _MOST_UNFINISHED and since < min(moments):
        return since
    return min((moment for moment in moments if moment >= since), default=_NEVER)


_NEVER = datetime.max.replace(tzinfo=UTC)

WIDTH = len(_COLUMNS.split(",")) + 1


def execution_of(row: Sequence[Any]) -> Execution:
    """A row of any of the queries above."""
    execution_id, task, teams, rounds, best, started, last, seconds, team, name, finished, state = row[:WIDTH]
    return Execution(
        execution_id=execution_id,
        user_prompt=task,
        state=state,
        teams=int(teams),
        rounds=int(rounds),
        best_score=best,
        started_at=as_utc(started),
        last_at=as_utc(last),
        seconds=seconds,
        best_team_id=team,
        best_team_name=name,
        finished_teams=finished,
    )


def find(reader: Reader, execution_id: str, signs: Signs) -> Execution | None:
    rows = reader.rows(f"{_EXECUTION} WHERE execution_id = ?", [*signs.parameters, execution_id])
    return execution_of(rows[0]) if rows else None


def known(reader: Reader, execution_id: str, signs: Signs) -> Execution:
    """The execution, or an error that says that there is none."""
    execution = find(reader, execution_id, signs)
    if execution is None:
        raise UnknownExecution(UNKNOWN_EXECUTION, execution_id=execution_id)
    return execution


def activity(reader: Reader, signs: Signs) -> Activity:
    """How much ran, what ran last, and what is running, in the logs or in the tables."""
    everything = Filter()
    newest = reader.rows(*page(everything, signs, "newest", 1, 0))
    running = reader.rows(*page(Filter(state="running"), signs, "newest", None, 0))
    ((total,),) = reader.rows(*count(everything, signs))
    last = execution_of(newest[0]) if newest else None
    return Activity(
        running=tuple(sorted({row[0] for row in running} | set(signs.alive))),
        executions=int(total),
        last_at=last.last_at if last else None,
        last_state=last.state if last else None,
    )


def standings(reader: Reader, execution_id: str, order: RankingOrder) -> list[Standing]:
    """Teams that have a score, best first."""
    place = PLACES[order]
    rows = reader.rows(
        f"SELECT {place}, team_id, team_name, best, best_round, latest_score, latest_round, rounds, kept,"
        f" exit_reason FROM {STANDINGS} WHERE execution_id = ? AND kept IS NOT NULL ORDER BY {place}",
        [execution_id],
    )
    return [Standing(*row) for row in rows]


def scores(reader: Reader, execution_id: str, team_id: str | None) -> list[ScorePoint]:
    team = "" if team_id is None else " AND team_id = ?"
    rows = reader.rows(
        f"SELECT team_id, team_name, round_number, score, final FROM {SCORES} WHERE execution_id = ?{team}"
        " ORDER BY team_id, round_number",
        [execution_id] if team_id is None else [execution_id, team_id],
    )
    return [ScorePoint(*row) for row in rows]
