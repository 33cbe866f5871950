"""Every query of the store. What a file lacks is left out or read as NULL; values are always bound."""

from collections.abc import Iterable

from builder.errors import MissingColumn, MissingTable
from builder.leaderboard.schema import Schema, column_of
from builder.leaderboard.sentences import MISSING_COLUMN, MISSING_TABLE
from builder.template.dialect import RankingOrder

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
_PLACE = "TRY_CAST(team_id AS VARCHAR), TRY_CAST(round_number AS INTEGER)"


def require(schema: Schema, table: str, columns: Iterable[str]) -> None:
    """An error that names what is missing, where an answer cannot do without it."""
    gap = schema.gap(table, columns)
    if gap is None:
        return
    if gap.column is None:
        raise MissingTable(MISSING_TABLE, table=gap.table)
    raise MissingColumn(MISSING_COLUMN, table=gap.table, column=gap.column)


def _columns(schema: Schema, table: str, names: Iterable[str]) -> str:
    return ", ".join(column_of(schema, table, name) for name in names)


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
        f"SELECT {_PLACE}, {_columns(schema, 'leader_board', BOARD_COLUMNS)} FROM leader_board"
        f" WHERE execution_id = ? ORDER BY {column_of(schema, 'leader_board', 'created_at')},"
        " team_id, round_number"
    )


def submissions(schema: Schema, *, team: bool) -> str:
    return (
        f"SELECT {_PLACE}, {_columns(schema, 'leader_board', SUBMISSION_COLUMNS)}"
        f" FROM leader_board WHERE execution_id = ?{_team_filter(team)} ORDER BY team_id, round_number"
    )


def statuses(schema: Schema, *, team: bool) -> str:
    return (
        f"SELECT {_PLACE}, {_columns(schema, 'round_status', STATUS_COLUMNS)}"
        f" FROM round_status WHERE execution_id = ?{_team_filter(team)} ORDER BY team_id, round_number"
    )


def histories(schema: Schema, *, team: bool, texts: bool, round_number: bool = False) -> str:
    """What was said in the rounds; without ``texts``, only that there were rounds."""
    message = column_of(schema, "round_history", "message_history") if texts else "NULL::VARCHAR"
    names = ("team_name", "created_at")
    return (
        f"SELECT {_PLACE}, {message}, {_columns(schema, 'round_history', names)}"
        f" FROM round_history WHERE execution_id = ?{_team_filter(team)}"
        f"{' AND round_number = ?' if round_number else ''} ORDER BY team_id, round_number"
    )


SUMMARY = "SELECT user_prompt FROM execution_summary WHERE execution_id = ?"
