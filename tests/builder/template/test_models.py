"""Contexts, round states, ranking entries: their rules, and their way through JSON."""

import json
import math
from datetime import UTC, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from builder.invalid_input import ContextError
from builder.template.models import (
    EvaluatorPromptContext,
    PromptContext,
    RankingEntry,
    RoundPromptContext,
    RoundState,
    context_json,
    read_context,
)
from tests.fuzzing import share_of

STATE: dict[str, Any] = {"round_number": 1, "submission_content": "初回", "evaluation_score": 75.5}
CONTEXT: dict[str, Any] = {
    "user_prompt": "データ分析タスク",
    "round_number": 2,
    "round_history": [STATE],
    "team_id": "team1",
    "team_name": "Alpha",
    "execution_id": "exec1",
}


def reasons(model: type[BaseModel], data: dict[str, Any]) -> list[tuple[str, str]]:
    with pytest.raises(ValidationError) as refused:
        model.model_validate(data)
    return [(".".join(map(str, found["loc"])), found["msg"]) for found in refused.value.errors()]


@pytest.mark.parametrize("field", ["user_query", "submission"])
def test_an_evaluator_needs_a_task_and_a_submission(field: str) -> None:
    given_ = {"user_query": "課題", "submission": "提出"} | {field: " "}
    assert reasons(EvaluatorPromptContext, given_) == [(field, f"{field} cannot be empty")]


def test_a_text_is_kept_with_the_space_around_it() -> None:
    assert RoundPromptContext(**CONTEXT | {"user_prompt": " 課題\r\n "}).user_prompt == " 課題\r\n "


@pytest.mark.parametrize("score", [-3.5, 0, 100.5, 1e300])
def test_a_score_is_any_finite_number(score: float) -> None:
    assert RoundState(**STATE | {"evaluation_score": score}).evaluation_score == score


@pytest.mark.parametrize("score", [math.inf, -math.inf, math.nan])
def test_a_score_that_is_not_finite_is_refused(score: float) -> None:
    assert reasons(RoundState, STATE | {"evaluation_score": score})[0][0] == "evaluation_score"
    entry = {"team_id": "t", "team_name": "T", "max_score": score, "total_rounds": 1}
    assert reasons(RankingEntry, entry)[0][0] == "max_score"


@pytest.mark.parametrize("value", [math.inf, math.nan, [{"a": -math.inf}], [10**5000]], ids=type)
def test_score_details_hold_only_numbers_that_json_can_carry(value: Any) -> None:
    assert reasons(RoundState, STATE | {"score_details": {"x": value}}) == [
        ("score_details", "Input holds a number that JSON cannot represent")
    ]


@pytest.mark.parametrize(
    ("model", "data"),
    [
        (RoundPromptContext, CONTEXT | {"user_prompt": "a\ud800"}),
        (RoundPromptContext, CONTEXT | {"team_name": "\udc00"}),
        (RoundState, STATE | {"submission_content": "\ud800"}),
        (RoundState, STATE | {"evaluation_feedback": "\ud800"}),
        (RoundState, STATE | {"score_details": {"a": ["\ud800"]}}),
        (RoundState, STATE | {"score_details": {"\ud800": 1}}),
        (EvaluatorPromptContext, {"user_query": "a", "submission": "\ud800"}),
        (RankingEntry, {"team_id": "t", "team_name": "\ud800", "max_score": 1, "total_rounds": 1}),
    ],
)
def test_text_that_utf8_cannot_carry_is_refused(model: type[BaseModel], data: dict[str, Any]) -> None:
    assert [reason for _, reason in reasons(model, data)] == ["Input holds text that UTF-8 cannot encode"]


def test_a_number_beyond_all_bounds_is_refused_not_printed() -> None:
    assert reasons(RoundPromptContext, CONTEXT | {"round_number": 10**5000})[0][0] == "round_number"


def test_a_store_stays_behind_when_a_context_is_written() -> None:
    class Own:
        async def get_leader_board_ranking(self, execution_id: str) -> None: ...

    context = RoundPromptContext(**CONTEXT, store=Own())
    assert "store" not in json.loads(context_json(context))
    assert read_context("team", context_json(context)) == context.model_copy(update={"store": None})


def test_fields_of_another_tool_are_ignored() -> None:
    extra = {"user_query": "q", "submission": "s", "round_number": 3}
    context = read_context("evaluator", json.dumps(extra))
    assert context == EvaluatorPromptContext(user_query="q", submission="s")


def test_a_wrong_field_deep_inside_is_named() -> None:
    data = CONTEXT | {"round_history": [STATE, STATE | {"evaluation_score": "high"}]}
    with pytest.raises(ContextError) as refused:
        read_context("judgment", json.dumps(data))
    assert refused.value.field == "round_history.1.evaluation_score"


@pytest.mark.parametrize("text", ["", "null", "[]", "{", "\ufeff{}", b"\xff", "[" * 100_000, '"\ud800"'])
def test_what_is_no_context_is_refused_as_such(text: str | bytes) -> None:
    with pytest.raises(ContextError) as refused:
        read_context("team", text)
    assert str(refused.value).startswith("Not a context: ")
    assert refused.value.field == ""


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NAME = TEXT.filter(lambda text: text.strip() != "")
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
MOMENT = st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=9))])) | st.datetimes()
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | NUMBER | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
ROUND = st.integers(1, 2**63 - 1)
STATES = st.builds(
    RoundState,
    round_number=ROUND,
    submission_content=TEXT,
    evaluation_score=NUMBER,
    score_details=st.none() | st.dictionaries(TEXT, VALUE, max_size=3),
    evaluation_feedback=st.none() | TEXT,
    round_started_at=st.none() | MOMENT,
    round_ended_at=st.none() | MOMENT,
)
ENTRIES = st.builds(
    RankingEntry, team_id=TEXT, team_name=TEXT, max_score=NUMBER, total_rounds=st.integers(0, 99)
)
CONTEXTS: st.SearchStrategy[PromptContext] = st.builds(
    RoundPromptContext,
    user_prompt=NAME,
    round_number=ROUND,
    round_history=st.lists(STATES, max_size=2),
    team_id=NAME,
    team_name=NAME,
    execution_id=NAME,
    ranking=st.none() | st.lists(ENTRIES, max_size=2),
    store=st.none(),
) | st.builds(EvaluatorPromptContext, user_query=NAME, submission=NAME)


def survives(context: PromptContext) -> bool:
    kind = "evaluator" if isinstance(context, EvaluatorPromptContext) else "team"
    written = context_json(context)
    return read_context(kind, written) == context == read_context(kind, written.encode())


@given(CONTEXTS)
@settings(deadline=None)
def test_a_context_round_trips_through_json(context: PromptContext) -> None:
    assert survives(context)


@pytest.mark.slow
@given(CONTEXTS)
@settings(max_examples=share_of(2_000), deadline=None)
def test_many_contexts_round_trip_through_json(context: PromptContext) -> None:
    assert survives(context)
