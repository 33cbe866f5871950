"""One execution as its pages show it: places, scores by round, the execution itself."""

import duckdb

from builder.errors import UnknownExecution
from builder.leaderboard import listing
from builder.leaderboard.digest import SCORES, STANDINGS
from builder.leaderboard.listing import Filter, Signs
from builder.leaderboard.reader import Reader
from builder.leaderboard.records import Activity, Execution, ScorePoint, Standing
from builder.leaderboard.sentences import UNKNOWN_EXECUTION
from builder.template.dialect import RankingOrder

PLACES: dict[RankingOrder, str] = {"team_id": "by_team_id", "latest_round": "by_latest_round"}
"""The columns that hold a team's place in MixSeek's order and in the contract's."""


def find(reader: Reader, execution_id: str, signs: Signs) -> Execution | None:
    sql, parameters = listing.one(execution_id, signs)
    rows = reader.rows(sql, parameters)
    return listing.execution_of(rows[0]) if rows else None


def known(reader: Reader, execution_id: str, signs: Signs) -> Execution:
    """The execution, or an error that says that there is none."""
    found = find(reader, execution_id, signs)
    if found is None:
        raise UnknownExecution(UNKNOWN_EXECUTION, execution_id=execution_id)
    return found


def activity(reader: Reader, signs: Signs) -> Activity:
    """How much ran, what ran last, and what is running, in the logs or in the tables."""
    everything = Filter()
    try:
        newest = reader.rows(*listing.page(everything, signs, "newest", 1, 0))
        running = reader.rows(*listing.page(Filter(state="running"), signs, "newest", None, 0))
        ((count,),) = reader.rows(*listing.count(everything, signs))
    except duckdb.Error:
        # The next real question finds out what is wrong; a glance need not.
        return Activity(tuple(signs.alive))
    last = listing.execution_of(newest[0]) if newest else None
    return Activity(
        running=tuple(sorted({row[0] for row in running} | set(signs.alive))),
        executions=int(count),
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
