"""The queries over MixSeek's own tables, and their rows as typed values. Used by the store and by ``story``.

What a file lacks is left out or read as NULL; values are always bound.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from builder.errors import MissingColumn, MissingTable
from builder.leaderboard.reader import Reader
from builder.leaderboard.records import ScoredRound, SubmissionLength
from builder.leaderboard.rows import (
    BoardRow,
    HistoryRow,
    StatusRow,
    SubmissionRow,
    details_of,
    metrics_of,
    score_of,
)
from builder.leaderboard.schema import Schema, column_of
from builder.leaderboard.sentences import MISSING_COLUMN, MISSING_TABLE
from builder.template.dialect import RankingOrder
from builder.template.models import RankingEntry

RoundOf = tuple[str, int]
"""A team's id and the number of one of its rounds."""

_RANKED: dict[RankingOrder, str] = {"team_id": "", "latest_round": "latest DESC, "}

KEY = ("execution_id", "team_id", "round_number")
RANKING_NEEDS = ("execution_id", "team_id", "team_name", "round_number", "score")

MOST_EXECUTIONS = 200
"""Asked about at once for the lengths of their texts: what is stored row by row has to be read for it."""


MOST_DETAILS = 500_000
"""Characters of ``score_details`` that a list of rounds still reads; a round's own page reads more."""


def require(schema: Schema, table: str, columns: Iterable[str]) -> None:
    """An error that names what is missing, where an answer cannot do without it."""
    gap = schema.gap(table, columns)
    if gap is None:
        return
    if gap.column is None:
        raise MissingTable(MISSING_TABLE, table=gap.table)
    raise MissingColumn(MISSING_COLUMN, table=gap.table, column=gap.column)


def _read(
    reader: Reader, table: str, columns: Sequence[str], order: str = "", **key: str | int | None
) -> list[tuple[Any, ...]]:
    """Team, round and these columns of the rows that have this key; none where the table cannot tell them."""
    if reader.schema.gap(table, KEY) is not None:
        return []
    listed = ", ".join(column_of(reader.schema, table, name) for name in (*KEY[1:], *columns))
    bound = {name: value for name, value in key.items() if value is not None}
    conditions = " AND ".join(f"{name} = ?" for name in bound)
    sql = f"SELECT {listed} FROM {table} WHERE {conditions} ORDER BY {order}team_id, round_number"
    return reader.rows(sql, [*bound.values()])


def read_ranking(reader: Reader, execution_id: str, order: RankingOrder) -> list[RankingEntry]:
    """Teams that have a score, best first, from the leaderboard itself: a prompt waits for no digest."""
    team, name, number, score = (
        column_of(reader.schema, "leader_board", column) for column in RANKING_NEEDS[1:]
    )
    sql = (
        f"SELECT {team} AS team, COALESCE({name}, {team}) AS name,"
        f" MAX(CASE WHEN isfinite({score}) THEN {score} END) AS kept, COUNT(*), MAX({number}) AS latest"
        " FROM leader_board WHERE execution_id = ? AND team IS NOT NULL GROUP BY team, name"
        f" HAVING kept IS NOT NULL ORDER BY kept DESC, {_RANKED[order]}team, name"
    )
    return [
        RankingEntry.model_construct(team_id=row[0], team_name=row[1], max_score=row[2], total_rounds=row[3])
        for row in reader.rows(sql, [execution_id])
    ]


def read_board(
    reader: Reader, execution_id: str
) -> tuple[tuple[BoardRow, ...], list[tuple[datetime | None, datetime | None]]]:
    """Who scored what and when in an execution, the texts left out; and each row's two times."""
    columns = ("team_name", "score", "created_at", "updated_at")
    order = column_of(reader.schema, "leader_board", "created_at") + ", "
    rows = _read(reader, "leader_board", columns, order, execution_id=execution_id)
    board = tuple(
        BoardRow(team, number, name or team, float(score), created)
        for team, number, name, score, created, _ in rows
        if score is not None
    )
    return board, [(created, updated) for *_, created, updated in rows]


def read_submissions(
    reader: Reader, execution_id: str, team_id: str | None = None
) -> dict[RoundOf, SubmissionRow]:
    columns = (
        "team_name",
        "score",
        "score_details",
        "created_at",
        "submission_content",
        "submission_format",
        "final_submission",
        "exit_reason",
    )
    rows = _read(reader, "leader_board", columns, execution_id=execution_id, team_id=team_id)
    submissions = {}
    for team, number, name, score, stored, created, content, form, final, reason in rows:
        details = details_of(stored)
        submissions[(team, number)] = SubmissionRow(
            name, score_of(details, score), details, created, content, form, bool(final), reason
        )
    return submissions


def read_scored(
    reader: Reader, execution_id: str, rounds: Sequence[RoundOf], characters: int
) -> dict[RoundOf, ScoredRound]:
    """Metrics and beginnings of submissions; of the texts of other rounds nothing is read."""
    if reader.schema.gap("leader_board", KEY) is not None:
        return {}
    details, content, form = (
        column_of(reader.schema, "leader_board", name)
        for name in ("score_details", "submission_content", "submission_format")
    )
    details += "::VARCHAR"
    sql = (
        f"SELECT team_id, round_number, CASE WHEN length({details}) <= ? THEN {details} END,"
        f" substr({content}, 1, ?), length({content}), {form} FROM leader_board"
        " JOIN (SELECT unnest(?::VARCHAR[]) AS team, unnest(?::BIGINT[]) AS number) AS wanted"
        " ON team_id = team AND round_number = number WHERE execution_id = ?"
    )
    teams, numbers = [team for team, _ in rounds], [number for _, number in rounds]
    rows = reader.rows(sql, [MOST_DETAILS, characters, teams, numbers, execution_id], keep=True)
    return {
        (team, number): ScoredRound(metrics_of(details_of(stored)), beginning, length or 0, form)
        for team, number, stored, beginning, length, form in rows
    }


def read_statuses(reader: Reader, execution_id: str, team_id: str | None) -> dict[RoundOf, StatusRow]:
    columns = (
        "should_continue",
        "reasoning",
        "confidence_score",
        "round_started_at",
        "round_ended_at",
        "created_at",
    )
    rows = _read(reader, "round_status", columns, execution_id=execution_id, team_id=team_id)
    return {(team, number): StatusRow(*rest) for team, number, *rest in rows}


def read_histories(
    reader: Reader,
    execution_id: str,
    team_id: str | None,
    round_number: int | None = None,
    *,
    texts: bool,
) -> dict[RoundOf, HistoryRow]:
    """What was said in the rounds; without ``texts``, only that there were rounds."""
    columns = ("team_name", "created_at", *(["message_history"] if texts else []))
    rows = _read(
        reader,
        "round_history",
        columns,
        execution_id=execution_id,
        team_id=team_id,
        round_number=round_number,
    )
    return {(team, number): HistoryRow(*rest) for team, number, *rest in rows}


def read_task(reader: Reader, execution_id: str) -> str | None:
    if reader.schema.gap("execution_summary", ("execution_id", "user_prompt")) is not None:
        return None
    rows = reader.rows("SELECT user_prompt FROM execution_summary WHERE execution_id = ?", [execution_id])
    return rows[0][0] if rows else None


def read_lengths(reader: Reader, execution_ids: Sequence[str]) -> list[SubmissionLength]:
    """Of the first ``MOST_EXECUTIONS`` of these executions, by team and round; the texts are not read."""
    require(reader.schema, "leader_board", KEY)
    submission = column_of(reader.schema, "leader_board", "submission_content")
    sql = (
        f"SELECT execution_id, team_id, round_number, length({submission}) FROM leader_board"
        " WHERE list_contains(?, execution_id) AND round_number > 0"
        f" AND {submission} IS NOT NULL ORDER BY ALL"
    )
    return [SubmissionLength(*row) for row in reader.rows(sql, [[*execution_ids[:MOST_EXECUTIONS]]])]
