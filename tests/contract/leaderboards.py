"""A ``mixseek.db`` with the columns that the documents' queries name."""

from collections.abc import Sequence
from pathlib import Path

import duckdb

Played = tuple[str, str, str, int, float | None]
"""Execution, team's id and name, round, score."""


def write_leaderboard(workspace: Path, rows: Sequence[Played]) -> Path:
    path = workspace / "mixseek.db"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE leader_board (execution_id VARCHAR, team_id VARCHAR, team_name VARCHAR,"
            " round_number INTEGER, score FLOAT, submission_content VARCHAR, score_details JSON)"
        )
        for row in rows:
            details = '{"metrics": [{"metric_name": "m", "score": 50.0, "evaluator_comment": "良い"}]}'
            values = [*row, f"回答{row[3]}", details]
            connection.execute("INSERT INTO leader_board VALUES (?, ?, ?, ?, ?, ?, ?)", values)
    return path
