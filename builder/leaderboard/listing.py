"""The list of executions: filters → SQL over the copy's own tables → executions."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from builder.leaderboard.digest import EXECUTIONS
from builder.leaderboard.records import Execution, ExecutionOrder, ExecutionState

Parameters = list[Any]

_MOST_TERMS = 12
_ORDERS: dict[ExecutionOrder, str] = {
    "newest": "place",
    "oldest": "last_utc IS NULL, place DESC",
    "best": "best DESC NULLS LAST, place",
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
        return (f" WHERE {' AND '.join(conditions)}" if conditions else ""), parameters


def matching(search: str, identifier: str) -> tuple[list[str], Parameters]:
    """Each word stands anywhere in the texts or begins the id; words are what blanks of any width part."""
    terms = search.split()[:_MOST_TERMS]
    condition = f"(contains(needle, lower(?)) OR starts_with(lower({identifier}), lower(?)))"
    return [condition] * len(terms), [term for term in terms for _ in range(2)]


def page(
    wanted: Filter, signs: Signs, order: ExecutionOrder, limit: int | None, offset: int
) -> tuple[str, Parameters]:
    where, parameters = wanted.where(signs)
    start = max(0, offset)
    if order == "newest" and not where and limit is not None:
        # The rows lie in this order: only those of the page are read.
        where, limits, parameters = " WHERE place > ? AND place <= ?", "", [start, start + max(0, limit)]
    else:
        limits, parameters = " LIMIT ? OFFSET ?", [*parameters, limit, start]
    sql = f"SELECT {_COLUMNS}, {_STATE} AS state FROM {EXECUTIONS}{where} ORDER BY {_ORDERS[order]}{limits}"
    return sql, [*signs.parameters, *parameters]


def count(wanted: Filter, signs: Signs) -> tuple[str, Parameters]:
    where, parameters = wanted.where(signs)
    return f"SELECT COUNT(*) FROM {EXECUTIONS}{where}", parameters


def one(execution_id: str, signs: Signs) -> tuple[str, Parameters]:
    sql = f"SELECT {_COLUMNS}, {_STATE} AS state FROM {EXECUTIONS} WHERE execution_id = ?"
    return sql, [*signs.parameters, execution_id]


def joined(alias: str) -> str:
    """The columns of ``execution_of`` for a query that joins; takes the parameters of ``Signs``."""
    columns = ", ".join(f"{alias}.{name.strip()}" for name in _COLUMNS.split(","))
    return f"{columns}, {_STATE.replace('status', f'{alias}.status')} AS state"


FINISHED = f"SELECT execution_id FROM {EXECUTIONS} WHERE status IS NOT NULL"
"""Executions with a summary: whatever their logs say, they are over."""

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
        started_at=_utc(started),
        last_at=_utc(last),
        seconds=seconds,
        best_team_id=team,
        best_team_name=name,
        finished_teams=finished,
    )


def _utc(stored: datetime | None) -> datetime | None:
    return None if stored is None else stored.replace(tzinfo=UTC)
