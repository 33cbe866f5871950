"""Writes a MixSeek database the way MixSeek does. For simulated workspaces only: the studio and its
store never write to, and never even open, the database of a real one."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import duckdb

from builder.leaderboard.schema import DDL

SummaryStatus = Literal["completed", "partial_failure", "failed"]


@dataclass(frozen=True)
class RoundKey:
    """Which round of which team; every table of a round begins with it."""

    execution_id: str
    team_id: str
    team_name: str
    round_number: int


@dataclass(frozen=True)
class Judgment:
    """What the judgment said after a round."""

    should_continue: bool
    reasoning: str
    confidence_score: float


@dataclass(frozen=True)
class Summary:
    """The row that MixSeek writes when an execution is over, and only then."""

    execution_id: str
    user_prompt: str
    status: SummaryStatus
    total_teams: int
    total_execution_time_seconds: float
    best_team_id: str | None = None
    best_score: float | None = None
    team_results: list[dict[str, Any]] = field(default_factory=list)


class SimulatedDatabase:
    """A database with MixSeek's tables, open for writing.

    ``zone`` is the zone of the machine that writes: like DuckDB's ``CURRENT_TIMESTAMP`` there,
    ``created_at`` holds its local time while the columns MixSeek fills itself hold UTC.
    """

    def __init__(self, path: Path, zone: tzinfo = UTC) -> None:
        self.zone = zone
        # The zone of this process must not leak into a simulation of another machine.
        self._connection = duckdb.connect(
            str(path), config={"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
        )
        for statement in DDL:
            self._connection.execute(statement)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def checkpoint(self) -> None:
        """Fold the write-ahead log into the file."""
        self._connection.execute("CHECKPOINT")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Many rows at once, which is much faster than one commit each."""
        self._connection.begin()
        try:
            yield
        except BaseException:
            self._connection.rollback()
            raise
        self._connection.commit()

    def save_history(
        self, key: RoundKey, messages: list[dict[str, Any]], members: dict[str, Any], at: datetime
    ) -> None:
        """What was sent to the team's leader and what came back."""
        self._connection.execute(
            "INSERT INTO round_history (execution_id, team_id, team_name, round_number, message_history,"
            " member_submissions_record, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [*_cells(key), _json(messages), _json(members), self._local(at)],
        )

    def save_submission(
        self, key: RoundKey, content: str, score_details: dict[str, Any], at: datetime
    ) -> None:
        """A round's submission and score; ``score`` loses precision here as it does in MixSeek."""
        self._connection.execute(
            "INSERT INTO leader_board (execution_id, team_id, team_name, round_number, submission_content,"
            " submission_format, score, score_details, final_submission, created_at, updated_at)"
            " VALUES (?, ?, ?, ?, ?, 'md', ?, ?, FALSE, ?, ?)",
            [
                *_cells(key),
                content,
                float(score_details["overall_score"]),
                _json(score_details),
                self._local(at),
                _utc(at),
            ],
        )

    def save_status(self, key: RoundKey, started: datetime, ended: datetime, at: datetime) -> None:
        """The round's times; the judgment follows later."""
        self._connection.execute(
            "INSERT INTO round_status (execution_id, team_id, team_name, round_number, round_started_at,"
            " round_ended_at, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [*_cells(key), _utc(started), _utc(ended), self._local(at), _utc(at)],
        )

    def save_judgment(self, key: RoundKey, judgment: Judgment, at: datetime) -> None:
        self._connection.execute(
            "UPDATE round_status SET should_continue = ?, reasoning = ?, confidence_score = ?, updated_at = ?"
            " WHERE execution_id = ? AND team_id = ? AND round_number = ?",
            [
                judgment.should_continue,
                judgment.reasoning,
                judgment.confidence_score,
                _utc(at),
                key.execution_id,
                key.team_id,
                key.round_number,
            ],
        )

    def mark_final(self, key: RoundKey, exit_reason: str, at: datetime) -> None:
        """The team's best round becomes its result: ``updated_at`` moves, ``created_at`` stays."""
        self._connection.execute(
            "UPDATE leader_board SET final_submission = TRUE, exit_reason = ?, updated_at = ?"
            " WHERE execution_id = ? AND team_id = ? AND round_number = ?",
            [exit_reason, _utc(at), key.execution_id, key.team_id, key.round_number],
        )

    def save_summary(self, summary: Summary, at: datetime) -> None:
        self._connection.execute(
            "INSERT INTO execution_summary (execution_id, user_prompt, status, team_results, total_teams,"
            " best_team_id, best_score, total_execution_time_seconds, completed_at, created_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                summary.execution_id,
                summary.user_prompt,
                summary.status,
                _json(summary.team_results),
                summary.total_teams,
                summary.best_team_id,
                summary.best_score,
                summary.total_execution_time_seconds,
                self._local(at),
                self._local(at),
            ],
        )

    def _local(self, moment: datetime) -> datetime:
        return moment.astimezone(self.zone).replace(tzinfo=None)


def _utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(tzinfo=None)


def _cells(key: RoundKey) -> tuple[str, str, str, int]:
    return key.execution_id, key.team_id, key.team_name, key.round_number


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
