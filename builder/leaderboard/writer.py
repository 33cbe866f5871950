"""The writer of a MixSeek database, as MixSeek writes it. For simulated workspaces only: the studio and its
store never write to, and never even open, the database of a real one."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from builder.leaderboard.schema import DDL

_Place = tuple[str, str, int]
_Values = dict[str, Any]

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
        # Here, because the studio knows the demo's workspaces long after it has made them.
        import duckdb

        self.zone, self._error = zone, duckdb.Error
        self._rows: dict[str, dict[_Place, _Values]] = {}
        self._holding = False
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
        """Many rows in one commit and one statement for each table, which is much faster."""
        self._holding = True
        try:
            yield
            self._connection.begin()
            try:
                self._flush()
            except self._error:
                self._connection.rollback()
                raise
            self._connection.commit()
        finally:
            self._holding = False
            self._rows.clear()

    def save_history(
        self, key: RoundKey, messages: list[dict[str, Any]], members: dict[str, Any], at: datetime
    ) -> None:
        """What was sent to the team's leader and what came back."""
        self._insert(
            "round_history",
            key,
            message_history=_json(messages),
            member_submissions_record=_json(members),
            created_at=self._local(at),
        )

    def save_submission(
        self, key: RoundKey, content: str, score_details: dict[str, Any], at: datetime
    ) -> None:
        """A round's submission and score; ``score`` loses precision here as it does in MixSeek."""
        self._insert(
            "leader_board",
            key,
            submission_content=content,
            submission_format="md",
            score=float(score_details["overall_score"]),
            score_details=_json(score_details),
            final_submission=False,
            exit_reason=None,
            created_at=self._local(at),
            updated_at=_utc(at),
        )

    def save_status(self, key: RoundKey, started: datetime, ended: datetime, at: datetime) -> None:
        """The round's times; the judgment follows later."""
        self._insert(
            "round_status",
            key,
            should_continue=None,
            reasoning=None,
            confidence_score=None,
            round_started_at=_utc(started),
            round_ended_at=_utc(ended),
            created_at=self._local(at),
            updated_at=_utc(at),
        )

    def save_judgment(self, key: RoundKey, judgment: Judgment, at: datetime) -> None:
        self._update("round_status", key, **vars(judgment), updated_at=_utc(at))

    def mark_final(self, key: RoundKey, exit_reason: str, at: datetime) -> None:
        """The team's best round becomes its result: ``updated_at`` moves, ``created_at`` stays."""
        self._update("leader_board", key, final_submission=True, exit_reason=exit_reason, updated_at=_utc(at))

    def save_summary(self, summary: Summary, at: datetime) -> None:
        values = {**vars(summary), "team_results": _json(summary.team_results)}
        values |= {"completed_at": self._local(at), "created_at": self._local(at)}
        self._put("execution_summary", (summary.execution_id, "", 0), values)

    def _insert(self, table: str, key: RoundKey, **values: Any) -> None:
        self._put(table, _place(key), {**vars(key), **values})

    def _put(self, table: str, place: _Place, values: _Values) -> None:
        self._rows.setdefault(table, {})[place] = values
        if not self._holding:
            self._flush()

    def _update(self, table: str, key: RoundKey, **values: Any) -> None:
        waiting = self._rows.get(table, {}).get(_place(key))
        if waiting is not None:
            waiting |= values
            return
        changes = ", ".join(f"{column} = ?" for column in values)
        self._connection.execute(
            f"UPDATE {table} SET {changes} WHERE execution_id = ? AND team_id = ? AND round_number = ?",
            [*values.values(), *_place(key)],
        )

    def _flush(self) -> None:
        for table, rows in self._rows.items():
            columns = list(next(iter(rows.values())))
            marks = ", ".join([f"({', '.join('?' * len(columns))})"] * len(rows))
            self._connection.execute(
                f"INSERT INTO {table} ({', '.join(columns)}) VALUES {marks}",
                [row[column] for row in rows.values() for column in columns],
            )
        self._rows.clear()

    def _local(self, moment: datetime) -> datetime:
        return moment.astimezone(self.zone).replace(tzinfo=None)


def _utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(tzinfo=None)


def _place(key: RoundKey) -> _Place:
    return key.execution_id, key.team_id, key.round_number


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
