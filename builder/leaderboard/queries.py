"""Every query of the store. What a file lacks is left out or read as NULL; values are always bound."""

from collections.abc import Iterable

from builder.dialect import RankingOrder
from builder.errors import MissingColumn, MissingTable
from builder.leaderboard.schema import Schema
from builder.leaderboard.sentences import MISSING_COLUMN, MISSING_TABLE

_ORDERS: dict[RankingOrder, str] = {
    "latest_round": "max_score DESC, latest_round DESC, team_id ASC",
    "team_id": "max_score DESC, team_id ASC",
}

RANKING: dict[RankingOrder, str] = {
    order: (
        "SELECT team_id, team_name, MAX(score) AS max_score, COUNT(*) AS total_rounds,"
        " MAX(round_number) AS latest_round FROM leader_board WHERE execution_id = ?"
        f" GROUP BY team_id, team_name ORDER BY {text}"
    )
    for order, text in _ORDERS.items()
}
RANKING_NEEDS = ("execution_id", "team_id", "team_name", "round_number", "score")

KEY = ("execution_id", "team_id", "round_number")


def require(schema: Schema, table: str, columns: Iterable[str]) -> None:
    """An error that names what is missing, where an answer cannot do without it."""
    gap = schema.gap(table, columns)
    if gap is None:
        return
    if gap.column is None:
        raise MissingTable(MISSING_TABLE, table=gap.table)
    raise MissingColumn(MISSING_COLUMN, table=gap.table, column=gap.column)


_TYPES = {
    "execution_id": "VARCHAR",
    "team_id": "VARCHAR",
    "round_number": "INTEGER",
    "team_name": "VARCHAR",
    "message_history": "VARCHAR",
    "submission_content": "VARCHAR",
    "submission_format": "VARCHAR",
    "score": "FLOAT",
    "score_details": "VARCHAR",
    "final_submission": "BOOLEAN",
    "exit_reason": "VARCHAR",
    "created_at": "TIMESTAMP",
    "updated_at": "TIMESTAMP",
    "should_continue": "BOOLEAN",
    "reasoning": "VARCHAR",
    "confidence_score": "FLOAT",
    "round_started_at": "TIMESTAMP",
    "round_ended_at": "TIMESTAMP",
    "user_prompt": "VARCHAR",
    "status": "VARCHAR",
    "total_teams": "INTEGER",
    "best_score": "DOUBLE",
    "completed_at": "TIMESTAMP",
    "total_execution_time_seconds": "DOUBLE",
}


def _column(schema: Schema, table: str, name: str) -> str:
    """The column, or NULL of its type where this file has none."""
    return f'"{name}"' if schema.has(table, name) else f"NULL::{_TYPES[name]}"


def _columns(schema: Schema, table: str, names: Iterable[str]) -> str:
    return ", ".join(_column(schema, table, name) for name in names)


def _team_filter(team: bool) -> str:
    return " AND team_id = ?" if team else ""


BOARD_COLUMNS = ("team_name", "score", "created_at", "updated_at")
SUBMISSION_COLUMNS = (
    "team_name",
    "score",
    "created_at",
    "updated_at",
    "submission_content",
    "submission_format",
    "score_details",
    "final_submission",
    "exit_reason",
)
STATUS_COLUMNS = (
    "should_continue",
    "reasoning",
    "confidence_score",
    "round_started_at",
    "round_ended_at",
    "created_at",
)


def board(schema: Schema) -> str:
    """Who scored what and when in an execution, the texts left out."""
    return (
        f"SELECT team_id, round_number, {_columns(schema, 'leader_board', BOARD_COLUMNS)} FROM leader_board"
        f" WHERE execution_id = ? ORDER BY {_column(schema, 'leader_board', 'created_at')},"
        " team_id, round_number"
    )


def submissions(schema: Schema, *, team: bool) -> str:
    return (
        f"SELECT team_id, round_number, {_columns(schema, 'leader_board', SUBMISSION_COLUMNS)}"
        f" FROM leader_board WHERE execution_id = ?{_team_filter(team)} ORDER BY team_id, round_number"
    )


def statuses(schema: Schema, *, team: bool) -> str:
    return (
        f"SELECT team_id, round_number, {_columns(schema, 'round_status', STATUS_COLUMNS)}"
        f" FROM round_status WHERE execution_id = ?{_team_filter(team)} ORDER BY team_id, round_number"
    )


def histories(schema: Schema, *, team: bool, texts: bool, round_number: bool = False) -> str:
    """What was said in the rounds; without ``texts``, only that there were rounds."""
    message = _column(schema, "round_history", "message_history") if texts else "NULL::VARCHAR"
    names = ("team_name", "created_at")
    return (
        f"SELECT team_id, round_number, {message}, {_columns(schema, 'round_history', names)}"
        f" FROM round_history WHERE execution_id = ?{_team_filter(team)}"
        f"{' AND round_number = ?' if round_number else ''} ORDER BY team_id, round_number"
    )


SUMMARY = "SELECT user_prompt FROM execution_summary WHERE execution_id = ?"


def overview(schema: Schema) -> str:
    """One row for each execution that any table knows."""
    return (
        f"WITH board AS ({_board_overview(schema)}), history AS ({_history_overview(schema)}),"
        f" summary AS ({_summaries(schema)}),"
        " known AS (SELECT execution_id FROM board UNION SELECT execution_id FROM history"
        " UNION SELECT execution_id FROM summary)"
        " SELECT known.execution_id, user_prompt, status,"
        " COALESCE(total_teams, GREATEST(board.teams, history.teams), 0) AS teams,"
        " COALESCE(GREATEST(board.rounds, history.rounds), 0) AS rounds,"
        " COALESCE(best_score, best) AS best,"
        " LEAST(board.first_at, history.first_at) AS first_at,"
        " GREATEST(board.last_at, history.last_at, completed_at) AS last_at,"
        " ahead, total_execution_time_seconds AS seconds"
        " FROM known LEFT JOIN board USING (execution_id) LEFT JOIN history USING (execution_id)"
        " LEFT JOIN summary USING (execution_id)"
    )


OVERVIEW = "overview"
"""The table that a reader keeps the rows of ``overview`` in."""


def executions(*, search: bool, count: bool = False) -> str:
    """The overview's rows, the latest first, whatever zones they were written in.

    Parameters: with ``search`` the text, twice; then, unless counting, limit and offset.
    """
    where = (
        " WHERE contains(lower(user_prompt), lower(?)) OR starts_with(lower(execution_id), lower(?))"
        if search
        else ""
    )
    if count:
        return f"SELECT COUNT(*) FROM {OVERVIEW}{where}"
    return (
        f"SELECT * FROM {OVERVIEW}{where}"
        " ORDER BY last_at - to_seconds(900 * COALESCE(round(ahead / 900), 0)::BIGINT) DESC NULLS LAST,"
        " execution_id LIMIT ? OFFSET ?"
    )


def _board_overview(schema: Schema) -> str:
    execution, team, number, score, created, updated = (
        _column(schema, "leader_board", name)
        for name in ("execution_id", "team_id", "round_number", "score", "created_at", "updated_at")
    )
    return (
        f"SELECT {execution} AS execution_id, COUNT(DISTINCT {team}) AS teams, MAX({number}) AS rounds,"
        f" MAX({score}) FILTER (isfinite({score})) AS best,"
        f" MIN({created}) AS first_at, MAX({created}) AS last_at,"
        # Later updates only lower the difference, so its maximum is the writer's offset from UTC.
        f" MAX(epoch({created}) - epoch({updated})) AS ahead{_from(schema, 'leader_board')} GROUP BY 1"
    )


def _history_overview(schema: Schema) -> str:
    execution, team, number, created = (
        _column(schema, "round_history", name)
        for name in ("execution_id", "team_id", "round_number", "created_at")
    )
    return (
        f"SELECT {execution} AS execution_id, COUNT(DISTINCT {team}) AS teams, MAX({number}) AS rounds,"
        f" MIN({created}) AS first_at, MAX({created}) AS last_at{_from(schema, 'round_history')} GROUP BY 1"
    )


def _summaries(schema: Schema) -> str:
    names = (
        "execution_id",
        "user_prompt",
        "status",
        "total_teams",
        "best_score",
        "completed_at",
        "total_execution_time_seconds",
    )
    columns = ", ".join(f"{_column(schema, 'execution_summary', name)} AS {name}" for name in names)
    return f"SELECT {columns}{_from(schema, 'execution_summary')}"


def _from(schema: Schema, table: str) -> str:
    return f" FROM {table}" if schema.has(table, "execution_id") else " FROM (SELECT 1) WHERE FALSE"
