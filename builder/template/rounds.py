"""A context seen at one of its rounds: what team, evaluator and judgment know then. No I/O.

Used by the studio's previews and comparisons.
"""

from builder.template.models import (
    EvaluatorPromptContext,
    PromptContext,
    RankingEntry,
    RoundPromptContext,
    RoundState,
)
from builder.template.variables import PromptKind

MOST_ROUNDS = 200
"""A context may name round 10⁹; nobody walks there one by one."""


def rounds_of(context: RoundPromptContext) -> list[int]:
    """The rounds that a context can be seen at, up to its own; of a long one the first and the last."""
    last = context.round_number
    if last <= MOST_ROUNDS:
        return list(range(1, last + 1))
    played = {state.round_number for state in context.round_history if state.round_number < last}
    return [1, *sorted(played - {1})[2 - MOST_ROUNDS :], last]


def seen_at(kind: PromptKind, context: RoundPromptContext, submission: str, number: int) -> PromptContext:
    """The context as a prompt of this kind would have seen it in an earlier round, or in its own.

    The team looks back at the rounds before; the judgment at the round just played too; the
    evaluator has what was handed in that round (``submission`` is that of the context's own).
    """
    if kind == "evaluator":
        return EvaluatorPromptContext(
            user_query=context.user_prompt, submission=_submitted(context, submission, number)
        )
    played = number if kind == "judgment" else number - 1
    history = [state for state in context.round_history if state.round_number <= played]
    ranking = context.ranking
    if number < context.round_number and ranking is not None:
        ranking = _ranking_then(ranking, context.team_id, history, played)
    return context.model_copy(update={"round_number": number, "round_history": history, "ranking": ranking})


def _submitted(context: RoundPromptContext, submission: str, number: int) -> str:
    if number >= context.round_number:
        return submission
    then = [state for state in context.round_history if state.round_number == number]
    # A blank submission is one that no evaluator is asked about.
    return then[-1].submission_content if then and then[-1].submission_content.strip() else submission


def _ranking_then(
    ranking: list[RankingEntry], team_id: str, history: list[RoundState], played: int
) -> list[RankingEntry]:
    """The board as far as it can be known: the own team as of then, nobody with rounds yet to come.

    What the others had by then no context says; their scores stay.
    """
    scores = [state.evaluation_score for state in history]
    then = [
        entry.model_copy(
            update={
                "total_rounds": min(entry.total_rounds, played),
                "max_score": max(scores) if scores and entry.team_id == team_id else entry.max_score,
            }
        )
        for entry in ranking
    ]
    return sorted(then, key=lambda entry: -entry.max_score)
