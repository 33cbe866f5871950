"""How long the texts of rounds are, without reading the texts."""

from collections.abc import Sequence
from dataclasses import dataclass

from builder.leaderboard import queries
from builder.leaderboard.reader import Reader
from builder.leaderboard.schema import column_of

MOST_EXECUTIONS = 200
"""Asked about at once: what is stored row by row has to be read for it."""


@dataclass(frozen=True)
class SubmissionLength:
    """How many characters a team handed in."""

    execution_id: str
    team_id: str
    round_number: int
    characters: int


def read_lengths(reader: Reader, execution_ids: Sequence[str]) -> list[SubmissionLength]:
    """Of the first ``MOST_EXECUTIONS`` of these executions, by team and round."""
    queries.require(reader.schema, "leader_board", queries.KEY)
    submission = column_of(reader.schema, "leader_board", "submission_content")
    sql = (
        f"SELECT execution_id, team_id, round_number, length({submission}) FROM leader_board"
        " WHERE list_contains(?, execution_id) AND round_number > 0"
        f" AND {submission} IS NOT NULL ORDER BY ALL"
    )
    rows = reader.rows(sql, [[*execution_ids[:MOST_EXECUTIONS]]])
    return [SubmissionLength(*row) for row in rows]
