"""The contexts that prompts are made from, with round states and ranking entries. No I/O.

Each is also read from another library's object with the same attributes, MixSeek's own before all.
"""

import json
import reprlib
import sys
from collections.abc import Awaitable, Iterable, Mapping
from datetime import datetime
from typing import Annotated, Protocol, TypeVar, runtime_checkable

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    JsonValue,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_core import PydanticCustomError

from builder.invalid_input import CONTEXT_INVALID, ContextError
from builder.template.shapes import Ranking
from builder.template.variables import PromptKind


@runtime_checkable
class RankingStore(Protocol):
    """Anything that can tell an execution's ranking; ``AggregationStore`` is one."""

    def get_leader_board_ranking(self, execution_id: str) -> Awaitable[Ranking | None] | Ranking | None:
        """Dicts or objects of ``RankingEntry``'s shape, best first; a coroutine or a plain method."""


# Not ValueError: pydantic would put its own words before the contract's.


def _not_blank(value: str, info: ValidationInfo) -> str:
    if not value.strip():
        raise PydanticCustomError("cannot_be_empty", "{name} cannot be empty", {"name": info.field_name})
    return value


def _from_one(value: int, info: ValidationInfo) -> int:
    if value < 1:
        raise PydanticCustomError("must_be_from_one", "{name} must be >= 1", {"name": info.field_name})
    return value


def _encodable(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        # Half of a surrogate pair: no file, database or model could take the prompt.
        raise PydanticCustomError("cannot_be_utf8", "Input holds text that UTF-8 cannot encode") from None
    return value


def _presentable(details: dict[str, JsonValue] | None) -> dict[str, JsonValue] | None:
    """JSON that can be written, sent and read back: no infinity, no number beyond all bounds."""
    waiting: list[JsonValue] = [details]
    while waiting:
        match waiting.pop():
            case bool() | None:
                pass
            case int() | float() as number if not -_LARGEST <= number <= _LARGEST:
                raise PydanticCustomError(
                    "cannot_be_shown", "Input holds a number that JSON cannot represent"
                )
            case str() as text:
                _encodable(text)
            case list() as items:
                waiting += items
            case dict() as entries:
                waiting += [*entries.keys(), *entries.values()]
    return details


_LARGEST = sys.float_info.max


def _none_is(empty: object) -> BeforeValidator:
    """For what another library's object may leave at ``None``."""
    return BeforeValidator(lambda value: empty if value is None else value)


Text = Annotated[str, AfterValidator(_encodable)]
Count = Annotated[int, Field(le=2**63 - 1)]


class Record(BaseModel):
    """What all of these have in common: they do not change, and are read from attributes, too."""

    model_config = ConfigDict(frozen=True, from_attributes=True)

    def __repr_args__(self) -> Iterable[tuple[str | None, object]]:
        """Long texts and lists are cut: a history would fill the screen."""
        return [(name, _Shown(_SHORT.repr(value))) for name, value in super().__repr_args__()]


class _Shown(str):
    __slots__ = ()
    __repr__ = str.__str__


_SHORT = reprlib.Repr()
_SHORT.maxstring, _SHORT.maxlist, _SHORT.maxother = 60, 3, 120


class RankingEntry(Record):
    """One team's place in an execution; the list's order is the rank."""

    team_id: Text
    team_name: Text
    max_score: FiniteFloat
    total_rounds: Count


class RoundState(Record):
    """A finished round of a team: what it submitted and how that was judged."""

    round_number: Count
    submission_content: Text
    evaluation_score: FiniteFloat
    score_details: Annotated[dict[str, JsonValue] | None, AfterValidator(_presentable)] = None
    evaluation_feedback: Text | None = None
    round_started_at: datetime | None = None
    round_ended_at: datetime | None = None

    _round_number = field_validator("round_number")(_from_one)


class RoundPromptContext(Record):
    """What a team or judgment prompt is made from.

    A ``ranking`` given here wins over any store; the context's store wins over the builder's.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    user_prompt: Text
    round_number: Count
    round_history: list[RoundState]
    team_id: Text
    team_name: Text
    execution_id: Text
    ranking: list[RankingEntry] | None = None
    store: RankingStore | None = Field(default=None, exclude=True, repr=False)

    _round_number = field_validator("round_number")(_from_one)
    _not_blank = field_validator("user_prompt", "team_id", "team_name", "execution_id")(_not_blank)


class EvaluatorPromptContext(Record):
    """What an evaluator prompt is made from."""

    user_query: Text
    submission: Text

    _not_blank = field_validator("user_query", "submission")(_not_blank)


class SubmissionRecord(Record):
    """An earlier submission of a team, for round prompts."""

    round_number: int
    content: str
    score: float | None = None
    feedback: Annotated[str, _none_is("")] = ""


class EvaluationResult(Record):
    """How a submission was judged, for round prompts."""

    overall_score: float
    feedback_summary: str
    metrics: Annotated[dict[str, float], _none_is({})] = {}


class LeaderboardEntry(Record):
    """A team's rank in an execution, for round prompts."""

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


R = TypeVar("R", bound=Record)


def taken(model: type[R], given: object) -> R:
    """The record itself, or one made from a dict's keys or an object's attributes.

    Raises ``ContextError``, which is a pydantic ``ValidationError``, for what lacks a field or breaks a rule.
    """
    if isinstance(given, model):
        return given
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise ContextError.wrap(error, CONTEXT_INVALID) from error


def all_taken(model: type[R], given: Iterable[object]) -> list[R]:
    """The same for each of many."""
    return [taken(model, one) for one in given]


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
