"""The context of a round prompt, and how it is read from a store or from a sample."""

import asyncio
import inspect
import sys
from collections.abc import Awaitable, Sequence
from typing import Protocol, TypeVar

from builder.template.models import (
    EvaluationResult,
    LeaderboardEntry,
    Record,
    RoundPromptContext,
    SubmissionRecord,
    all_taken,
)
from builder.template.shapes import EvaluationLike, LeaderboardEntryLike, SubmissionLike

T = TypeVar("T")

TOP_TEAMS = 10
"""How many teams of a ranking a round prompt is given."""


class RoundContext(Record):
    """What is known at the start of a round. ``evaluation_feedback`` judges ``submission_history``, one by
    one; ``current_team_rank`` is ``None`` for a team that has no score yet."""

    round_number: int
    submission_history: list[SubmissionRecord]
    evaluation_feedback: list[EvaluationResult]
    leaderboard_ranking: list[LeaderboardEntry]
    current_team_rank: int | None
    user_query: str = ""
    team_id: str = ""


class RoundStore(Protocol):
    """What can tell a round's context, in coroutines or plain methods; ``AggregationStore`` is one."""

    def get_team_submission_history(
        self, *, execution_id: str, team_id: str, limit: int
    ) -> Awaitable[Sequence[SubmissionLike]] | Sequence[SubmissionLike]: ...

    def get_evaluation_results_by_execution(
        self, *, execution_id: str, team_id: str
    ) -> Awaitable[Sequence[EvaluationLike]] | Sequence[EvaluationLike]: ...

    def get_leaderboard_ranking_by_execution(
        self, *, execution_id: str, limit: int
    ) -> Awaitable[Sequence[LeaderboardEntryLike]] | Sequence[LeaderboardEntryLike]: ...


class PlainRoundStore(Protocol):
    """The same under the store's own names, without coroutines."""

    def submissions(
        self, execution_id: str, team_id: str, limit: int | None = None
    ) -> list[SubmissionRecord]: ...

    def evaluations(self, execution_id: str, team_id: str | None = None) -> list[EvaluationResult]: ...

    def top(self, execution_id: str, limit: int = 10) -> list[LeaderboardEntry]: ...


async def gather_round_context(
    store: RoundStore,
    execution_id: str,
    team_id: str,
    round_number: int,
    user_query: str = "",
    *,
    teams: int = TOP_TEAMS,
) -> RoundContext:
    """What a team of a running execution knows at the start of a round.

    >>> context = await gather_round_context(store, "3f0c…", "team-001", 3, "Summarise the report.")

    Raises whatever the store raises, and ``ContextError`` for records that lack a field.
    """
    if round_number == 1:
        return _first(team_id, user_query)
    # No limit: by which end a store cuts is its own affair, and this round may be among its rows already.
    history = store.get_team_submission_history(execution_id=execution_id, team_id=team_id, limit=sys.maxsize)
    judged = store.get_evaluation_results_by_execution(execution_id=execution_id, team_id=team_id)
    ranked = store.get_leaderboard_ranking_by_execution(execution_id=execution_id, limit=sys.maxsize)
    records, results, ranking = await asyncio.gather(_settled(history), _settled(judged), _settled(ranked))
    return _known(team_id, round_number, user_query, records, results, ranking, teams)


async def _settled(answer: Awaitable[Sequence[T]] | Sequence[T]) -> Sequence[T]:
    return await answer if inspect.isawaitable(answer) else answer


def read_round_context(
    store: PlainRoundStore,
    execution_id: str,
    team_id: str,
    round_number: int,
    user_query: str = "",
    *,
    teams: int = TOP_TEAMS,
) -> RoundContext:
    """``gather_round_context`` without a loop of events. Raises whatever the store raises."""
    if round_number == 1:
        return _first(team_id, user_query)
    return _known(
        team_id,
        round_number,
        user_query,
        store.submissions(execution_id, team_id),
        store.evaluations(execution_id, team_id),
        store.top(execution_id, limit=sys.maxsize),
        teams,
    )


def round_context_of(context: RoundPromptContext, *, teams: int = TOP_TEAMS) -> RoundContext:
    """The same moment as the three user prompts know it: a sample, or a stored round rebuilt."""
    earlier = [state for state in context.round_history if state.round_number < context.round_number]
    entries = [
        LeaderboardEntry(
            rank=rank, team_id=entry.team_id, team_name=entry.team_name, best_score=entry.max_score
        )
        for rank, entry in enumerate(context.ranking or [], start=1)
    ]
    return _known(
        context.team_id,
        context.round_number,
        context.user_prompt,
        [
            SubmissionRecord(
                round_number=state.round_number,
                content=state.submission_content,
                score=state.evaluation_score,
                feedback=state.evaluation_feedback or "",
            )
            for state in earlier
        ],
        [
            EvaluationResult(
                overall_score=state.evaluation_score,
                feedback_summary=state.evaluation_feedback or "",
                metrics={
                    name: float(value)
                    for name, value in (state.score_details or {}).items()
                    if isinstance(value, int | float) and not isinstance(value, bool)
                },
            )
            for state in earlier
        ],
        entries,
        teams,
    )


def _first(team_id: str, user_query: str) -> RoundContext:
    """Nobody has submitted anything yet, and there may not even be a database to ask."""
    return RoundContext(
        round_number=1,
        submission_history=[],
        evaluation_feedback=[],
        leaderboard_ranking=[],
        current_team_rank=None,
        user_query=user_query,
        team_id=team_id,
    )


def _known(
    team_id: str,
    round_number: int,
    user_query: str,
    records: Sequence[SubmissionLike],
    results: Sequence[EvaluationLike],
    ranking: Sequence[LeaderboardEntryLike],
    teams: int,
) -> RoundContext:
    # Both lists follow the team's rounds. Where a round ended between the two questions, the later answer
    # has one more at its end: what is left over belongs to nothing.
    judged = [pair for pair in zip(records, results, strict=False) if pair[0].round_number < round_number]
    return RoundContext(
        round_number=round_number,
        submission_history=all_taken(SubmissionRecord, (record for record, _ in judged)),
        evaluation_feedback=all_taken(EvaluationResult, (result for _, result in judged)),
        leaderboard_ranking=all_taken(LeaderboardEntry, ranking[: max(0, teams)]),
        # Out of the same answer as the ranking: asked by itself it could be another moment's.
        current_team_rank=next((entry.rank for entry in ranking if entry.team_id == team_id), None),
        user_query=user_query,
        team_id=team_id,
    )
