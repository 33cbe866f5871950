"""Contexts, round states and ranking entries: what a prompt is made from. No I/O."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    JsonValue,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from builder.errors import CONTEXT_INVALID, ContextError
from builder.variables import PromptKind


@runtime_checkable
class RankingStore(Protocol):
    """Anything that can tell an execution's ranking; ``AggregationStore`` is one."""

    async def get_leader_board_ranking(self, execution_id: str) -> Any:
        """Entries of ``RankingEntry``'s shape, best first."""


def _not_blank(value: str, info: ValidationInfo) -> str:
    if not value.strip():
        raise ValueError(f"{info.field_name} cannot be empty")
    return value


def _from_one(value: int) -> int:
    if value < 1:
        raise ValueError("round_number must be >= 1")
    return value


class RankingEntry(BaseModel):
    """One team's place in an execution; the list's order is the rank."""

    model_config = ConfigDict(frozen=True)

    team_id: str
    team_name: str
    max_score: FiniteFloat
    total_rounds: int


class RoundState(BaseModel):
    """A finished round of a team: what it submitted and how that was judged."""

    model_config = ConfigDict(frozen=True)

    round_number: int
    submission_content: str
    evaluation_score: FiniteFloat
    score_details: dict[str, JsonValue] | None = None
    evaluation_feedback: str | None = None
    round_started_at: datetime | None = None
    round_ended_at: datetime | None = None

    _round_number = field_validator("round_number")(_from_one)


class RoundPromptContext(BaseModel):
    """What a team or judgment prompt is made from.

    A ``ranking`` given here wins over any store; the context's store wins over the builder's.
    """

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)

    user_prompt: str
    round_number: int
    round_history: list[RoundState]
    team_id: str
    team_name: str
    execution_id: str
    ranking: list[RankingEntry] | None = None
    store: RankingStore | None = Field(default=None, exclude=True, repr=False)

    _round_number = field_validator("round_number")(_from_one)
    _not_blank = field_validator("user_prompt", "team_id", "team_name", "execution_id")(_not_blank)


class EvaluatorPromptContext(BaseModel):
    """What an evaluator prompt is made from."""

    model_config = ConfigDict(frozen=True)

    user_query: str
    submission: str

    _not_blank = field_validator("user_query", "submission")(_not_blank)


class SubmissionRecord(BaseModel):
    """An earlier submission of a team, for round prompts."""

    model_config = ConfigDict(frozen=True)

    round_number: int
    content: str
    score: float
    feedback: str


class EvaluationResult(BaseModel):
    """How a submission was judged, for round prompts."""

    model_config = ConfigDict(frozen=True)

    overall_score: float
    feedback_summary: str
    metrics: dict[str, float]


class LeaderboardEntry(BaseModel):
    """A team's rank in an execution, for round prompts."""

    model_config = ConfigDict(frozen=True)

    rank: int
    team_id: str
    team_name: str
    best_score: float


PromptContext = RoundPromptContext | EvaluatorPromptContext

CONTEXT_MODELS: Mapping[PromptKind, type[RoundPromptContext] | type[EvaluatorPromptContext]] = {
    "team": RoundPromptContext,
    "evaluator": EvaluatorPromptContext,
    "judgment": RoundPromptContext,
}


def read_context(kind: PromptKind, text: str | bytes) -> PromptContext:
    """A context from JSON; a ``ContextError`` names the field that is wrong."""
    model = CONTEXT_MODELS[kind]
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        raise ContextError.wrap(error, CONTEXT_INVALID) from error


def context_json(context: PromptContext) -> str:
    """The JSON that ``read_context`` reads back; the store stays behind."""
    return json.dumps(context.model_dump(mode="json"), ensure_ascii=False, indent=2)
