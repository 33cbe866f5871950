"""The story of one execution: everything that the database tells about it, read in a few queries and put
together. Used by the store."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Any, Literal

from pydantic import ValidationError

from builder.errors import UnknownExecution, UnknownRound, UnknownTeam
from builder.invalid_input import CONTEXT_INVALID, ContextError
from builder.leaderboard.queries import (
    KEY,
    RoundOf,
    read_board,
    read_histories,
    read_statuses,
    read_submissions,
    read_task,
    require,
)
from builder.leaderboard.reader import Reader
from builder.leaderboard.rebuild import For, StoredRound
from builder.leaderboard.records import RoundRecord
from builder.leaderboard.rows import (
    BoardRow,
    HistoryRow,
    StatusRow,
    SubmissionRow,
    as_utc,
    delivered_of,
    metrics_of,
    offset_of,
)
from builder.leaderboard.sentences import UNKNOWN_EXECUTION, UNKNOWN_ROUND, UNKNOWN_TEAM
from builder.template.models import RoundState

Texts = Literal["none", "all"] | int
"""Which conversations to read: they are by far the largest values. A number is that of a round."""

_NO_STATUS = StatusRow(None, None, None, None, None, None)


@dataclass(frozen=True)
class Story:
    """One execution, or one team's part in it; the board is always everybody's."""

    execution_id: str
    task: str | None
    board: tuple[BoardRow, ...]
    ahead: timedelta
    submissions: dict[RoundOf, SubmissionRow]
    statuses: dict[RoundOf, StatusRow]
    histories: dict[RoundOf, HistoryRow]

    def records(self) -> Iterator[RoundRecord]:
        """Rounds by team and number, finished or not."""
        for place in sorted(self.submissions.keys() | self.histories.keys()):
            team_id, number = place
            submission, status = self.submissions.get(place), self.statuses.get(place, _NO_STATUS)
            row = submission or self.histories[place]
            yield RoundRecord(
                execution_id=self.execution_id,
                team_id=team_id,
                team_name=row.team_name or team_id,
                round_number=number,
                should_continue=status.should_continue,
                reasoning=status.reasoning,
                confidence=status.confidence,
                started_at=as_utc(status.started_at),
                ended_at=as_utc(status.ended_at),
                **({} if submission is None else self._submitted(submission)),
            )

    def _submitted(self, submission: SubmissionRow) -> dict[str, Any]:
        return {
            "submission": submission.content,
            "submission_format": submission.format,
            "score": submission.score,
            "score_details": submission.details,
            "metrics": metrics_of(submission.details),
            "final_submission": submission.final,
            "exit_reason": submission.exit_reason,
            "submitted_at": as_utc(submission.created_at, self.ahead),
        }

    def round(self, team_id: str, round_number: int, for_: For = "team") -> StoredRound:
        """What there is to rebuild a round from; the judgment follows a finished round only."""
        place = (team_id, round_number)
        history, submission = self.histories.get(place), self.submissions.get(place)
        row = submission if for_ == "judgment" else history or submission
        if row is None:
            raise self.unknown(team_id, round_number)
        return StoredRound(
            execution_id=self.execution_id,
            team_id=team_id,
            team_name=row.team_name or team_id,
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
        if team_id not in self._states_by_team:
            self._states_by_team[team_id] = self._read_states(team_id)
        return self._states_by_team[team_id]

    @cached_property
    def _states_by_team(self) -> dict[str, list[RoundState]]:
        return {}

    def _read_states(self, team_id: str) -> list[RoundState]:
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


def read_conversation(reader: Reader, execution_id: str, team_id: str, round_number: int) -> str | None:
    """A round's stored messages, as JSON; raises where there is no such round."""
    require(reader.schema, "round_history", (*KEY, "message_history"))
    for history in read_histories(reader, execution_id, team_id, round_number, texts=True).values():
        return history.conversation
    # Whichever part of the question is unknown, this says so.
    story = read_story(reader, execution_id, team_id)
    if (team_id, round_number) not in story.submissions:
        raise story.unknown(team_id, round_number)
    return None


def read_story(reader: Reader, execution_id: str, team_id: str | None, texts: Texts = "none") -> Story:
    """Raises where the execution, or the team in it, is not known to any table."""
    if reader.schema.gap("round_history", KEY) is not None:
        require(reader.schema, "leader_board", KEY)
    board, pairs = read_board(reader, execution_id)
    submissions = read_submissions(reader, execution_id, team_id)
    statuses = read_statuses(reader, execution_id, team_id)
    histories = read_histories(reader, execution_id, team_id, texts=texts == "all")
    if isinstance(texts, int):
        histories |= read_histories(reader, execution_id, team_id, texts, texts=True)
    task = read_task(reader, execution_id)
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
