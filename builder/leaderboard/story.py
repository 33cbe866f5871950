"""Everything that the database tells about one execution, read in a few queries and put together."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from pydantic import ValidationError

from builder.errors import CONTEXT_INVALID, ContextError, UnknownExecution, UnknownRound, UnknownTeam
from builder.leaderboard import queries
from builder.leaderboard.reader import Reader
from builder.leaderboard.rebuild import For, StoredRound
from builder.leaderboard.records import RoundRecord
from builder.leaderboard.rows import (
    BoardRow,
    StatusRow,
    as_utc,
    delivered_of,
    details_of,
    metrics_of,
    offset_of,
    score_of,
)
from builder.leaderboard.sentences import UNKNOWN_EXECUTION, UNKNOWN_ROUND, UNKNOWN_TEAM
from builder.template.models import RoundState

Texts = Literal["none", "all"] | int
"""Which conversations to read: they are by far the largest values. A number is that of a round."""

_Place = tuple[str, int]


@dataclass(frozen=True)
class Submission:
    """A leaderboard row with its text."""

    team_name: str
    score: float | None
    details: dict[str, Any] | None
    created_at: datetime | None
    content: str | None
    format: str | None
    final: bool
    exit_reason: str | None


@dataclass(frozen=True)
class _History:
    team_name: str
    created_at: datetime | None
    conversation: str | None


@dataclass(frozen=True)
class Story:
    """One execution, or one team's part in it; the board is always everybody's."""

    execution_id: str
    task: str | None
    board: tuple[BoardRow, ...]
    ahead: timedelta
    submissions: dict[_Place, Submission]
    statuses: dict[_Place, StatusRow]
    histories: dict[_Place, _History]

    def records(self) -> Iterator[RoundRecord]:
        """Rounds by team and number, finished or not."""
        for place in sorted(self.submissions.keys() | self.histories.keys()):
            team_id, number = place
            submission, status = self.submissions.get(place), self.statuses.get(place, _NO_STATUS)
            history = self.histories.get(place)
            name = (submission or history or _NAMELESS).team_name or team_id
            record = RoundRecord(
                execution_id=self.execution_id,
                team_id=team_id,
                team_name=name,
                round_number=number,
                should_continue=status.should_continue,
                reasoning=status.reasoning,
                confidence=status.confidence,
                started_at=as_utc(status.started_at),
                ended_at=as_utc(status.ended_at),
            )
            yield record if submission is None else self._scored(record, submission)

    def _scored(self, record: RoundRecord, submission: Submission) -> RoundRecord:
        return RoundRecord(
            **{
                **record.__dict__,
                "submission": submission.content,
                "submission_format": submission.format,
                "score": submission.score,
                "score_details": submission.details,
                "metrics": metrics_of(submission.details),
                "final_submission": submission.final,
                "exit_reason": submission.exit_reason,
                "submitted_at": as_utc(submission.created_at, self.ahead),
            }
        )

    def round(self, team_id: str, round_number: int, for_: For = "team") -> StoredRound:
        """What there is to rebuild a round from; the judgment follows a finished round only."""
        place = (team_id, round_number)
        history, submission = self.histories.get(place), self.submissions.get(place)
        found = submission if for_ == "judgment" else history or submission
        if found is None:
            raise self.unknown(team_id, round_number)
        return StoredRound(
            execution_id=self.execution_id,
            team_id=team_id,
            team_name=found.team_name or team_id,
            round_number=round_number,
            board=self.board,
            states=self._states(team_id),
            ahead=self.ahead,
            delivered=delivered_of(history.conversation) if history else None,
            statuses={number: row for (team, number), row in self.statuses.items() if team == team_id},
            stored_at=history.created_at if history else None,
        )

    def unknown(self, team_id: str, round_number: int) -> UnknownRound:
        """The error for a round that is not stored."""
        return UnknownRound(
            UNKNOWN_ROUND, execution_id=self.execution_id, team_id=team_id, round_number=round_number
        )

    def delivered_rounds(self) -> Iterator[StoredRound]:
        """Those rounds whose prompt is stored, and whose team has no row that no prompt is made from."""
        for team_id, number in self.histories:
            try:
                stored = self.round(team_id, number)
            except ContextError:
                continue
            if stored.delivered is not None:
                yield stored

    def _states(self, team_id: str) -> list[RoundState]:
        try:
            return [
                RoundState(
                    round_number=number,
                    submission_content=submission.content or "",
                    evaluation_score=submission.score,
                    score_details=submission.details,
                    round_started_at=as_utc(status.started_at),
                    round_ended_at=as_utc(status.ended_at),
                )
                for (team, number), submission in self.submissions.items()
                if team == team_id and submission.score is not None
                for status in [self.statuses.get((team, number), _NO_STATUS)]
            ]
        except ValidationError as error:
            # A row that no prompt could have been made from, such as one of round 0.
            raise ContextError.wrap(error, CONTEXT_INVALID) from error


_NAMELESS = _History("", None, None)
_NO_STATUS = StatusRow(None, None, None, None, None, None)


def read_conversation(reader: Reader, execution_id: str, team_id: str, round_number: int) -> str | None:
    """A round's stored messages, as JSON; raises where there is no such round."""
    queries.require(reader.schema, "round_history", (*queries.KEY, "message_history"))
    sql = queries.histories(reader.schema, team=True, texts=True, round_number=True)
    rows = reader.rows(sql, (execution_id, team_id, round_number))
    if not rows:
        # Whichever part of the question is unknown, this says so.
        story = read_story(reader, execution_id, team_id)
        if (team_id, round_number) not in story.submissions:
            raise story.unknown(team_id, round_number)
    return rows[0][2] if rows else None


def read_story(reader: Reader, execution_id: str, team_id: str | None, texts: Texts = "none") -> Story:
    """Raises where the execution, or the team in it, is not known to any table."""
    if reader.schema.gap("round_history", queries.KEY) is not None:
        queries.require(reader.schema, "leader_board", queries.KEY)
    board, pairs = _board(reader, execution_id)
    key = (execution_id,) if team_id is None else (execution_id, team_id)
    submissions = read_submissions(reader, key)
    statuses = _statuses(reader, key)
    histories = _histories(reader, key, texts)
    task = _task(reader, execution_id)
    if not (board or histories or task):
        raise UnknownExecution(UNKNOWN_EXECUTION, execution_id=execution_id)
    if team_id is not None and not (submissions or histories):
        raise UnknownTeam(UNKNOWN_TEAM, execution_id=execution_id, team_id=team_id)
    pairs += [
        (submission.created_at, statuses[place].ended_at)
        for place, submission in submissions.items()
        if place in statuses
    ]
    return Story(execution_id, task, board, offset_of(pairs), submissions, statuses, histories)


_Pairs = list[tuple[datetime | None, datetime | None]]


def _board(reader: Reader, execution_id: str) -> tuple[tuple[BoardRow, ...], _Pairs]:
    if reader.schema.gap("leader_board", queries.KEY) is not None:
        return (), []
    rows = reader.rows(queries.board(reader.schema), (execution_id,))
    found = tuple(
        BoardRow(team, number, name or team, float(score), created)
        for team, number, name, score, created, _ in rows
        if score is not None
    )
    return found, [(created, updated) for *_, created, updated in rows]


def read_submissions(reader: Reader, key: tuple[str, ...]) -> dict[_Place, Submission]:
    """By team and round; ``key`` is the execution, or the execution and a team."""
    if reader.schema.gap("leader_board", queries.KEY) is not None:
        return {}
    rows = reader.rows(queries.submissions(reader.schema, team=len(key) > 1), key)
    found = {}
    for team, number, name, score, created, _, content, form, stored, final, reason in rows:
        details = details_of(stored)
        found[(team, number)] = Submission(
            name, score_of(details, score), details, created, content, form, bool(final), reason
        )
    return found


def _statuses(reader: Reader, key: tuple[str, ...]) -> dict[_Place, StatusRow]:
    if reader.schema.gap("round_status", queries.KEY) is not None:
        return {}
    rows = reader.rows(queries.statuses(reader.schema, team=len(key) > 1), key)
    return {(team, number): StatusRow(*rest) for team, number, *rest in rows}


def _histories(reader: Reader, key: tuple[str, ...], texts: Texts) -> dict[_Place, _History]:
    if reader.schema.gap("round_history", queries.KEY) is not None:
        return {}
    team = len(key) > 1
    rows = reader.rows(queries.histories(reader.schema, team=team, texts=texts == "all"), key)
    found = {(who, number): _History(name, created, text) for who, number, text, name, created in rows}
    if isinstance(texts, int):
        sql = queries.histories(reader.schema, team=team, texts=True, round_number=True)
        for who, number, text, name, created in reader.rows(sql, (*key, texts)):
            found[(who, number)] = _History(name, created, text)
    return found


def _task(reader: Reader, execution_id: str) -> str | None:
    if reader.schema.gap("execution_summary", ("execution_id", "user_prompt")) is not None:
        return None
    rows = reader.rows(queries.SUMMARY, (execution_id,))
    return rows[0][0] if rows else None
