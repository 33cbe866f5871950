"""What strange files hold is put right or left out; it never breaks an answer."""

import json
from collections.abc import Callable

import pytest

from builder.errors import UnknownRound
from builder.invalid_input import ContextError
from builder.leaderboard import AggregationStore
from builder.leaderboard.rows import delivered_of, details_of, metrics_of, score_of
from tests.builder.leaderboard.conftest import Played
from tests.builder.leaderboard.test_store import _write

Open = Callable[..., AggregationStore]


@pytest.mark.parametrize(
    "stored", [None, "", "{", "[1]", "7", "null", "[" * 100_000, '{"a": ' + "9" * 5000 + "}"]
)
def test_details_that_are_no_object_are_none(stored: str | None) -> None:
    assert details_of(stored) is None


def test_half_a_surrogate_pair_becomes_a_question_mark() -> None:
    assert details_of(r'{"comment": "a\ud800b", "\ude00": "\ud83d\ude00"}') == {"comment": "a?b", "?": "😀"}
    delivered = delivered_of(r'[{"parts": [{"part_kind": "user-prompt", "content": "a\udfffb"}]}]')
    assert delivered is not None
    assert delivered.text == "a?b"


@pytest.mark.parametrize(
    ("details", "column", "score"),
    [
        ({"overall_score": 84.235}, 84.23500061035156, 84.235),
        ({"overall_score": 7}, None, 7.0),
        ({"overall_score": 7}, 0.0, 0.0),
        ({"overall_score": 1e300}, 3.5, 3.5),
        ({"overall_score": True}, 3.5, 3.5),
        ({"overall_score": "90"}, 3.5, 3.5),
        ({"overall_score": float("inf")}, 3.5, 3.5),
        ({"overall_score": 10**400}, 3.5, 3.5),
        (None, 3.5, 3.5),
        (None, float("nan"), None),
        (None, None, None),
    ],
)
def test_the_score_is_the_evaluators_number_unless_the_column_says_another(
    details: dict[str, object] | None, column: float | None, score: float | None
) -> None:
    assert score_of(details, column) == score


def test_metrics_of_any_shape_are_read_as_far_as_they_go() -> None:
    listed = [
        {"metric_name": "A", "score": 1, "evaluator_comment": "c"},
        {"score": "x"},
        5,
        {"score": float("inf")},
    ]
    found = metrics_of({"metrics": listed})
    assert [(metric.name, metric.score, metric.comment) for metric in found] == [
        ("A", 1.0, "c"),
        ("", None, ""),
        ("", None, ""),
    ]
    assert metrics_of({"metrics": {"A": 1}}) == metrics_of({}) == metrics_of(None) == ()


@pytest.mark.parametrize(
    "messages",
    [
        None,
        [],
        {},
        [7],
        [{"parts": 7}],
        [{"parts": [7, {"part_kind": "user-prompt"}, {"part_kind": "text", "content": "x"}]}],
        [{"parts": []}, {"parts": [{"part_kind": "user-prompt", "content": "a later message"}]}],
    ],
)
def test_a_conversation_without_a_first_user_part_tells_no_prompt(messages: object) -> None:
    assert delivered_of(json.dumps(messages)) is None


def test_a_prompt_with_attachments_is_its_text() -> None:
    content = ["before ", {"kind": "image-url", "url": "https://example.com/a.png"}, "after"]
    delivered = delivered_of(json.dumps([{"parts": [{"part_kind": "user-prompt", "content": content}]}]))
    assert delivered is not None
    assert (delivered.text, delivered.timestamp) == ("before after", None)


@pytest.mark.slow
def test_rows_that_no_prompt_could_have_been_made_from_are_refused(played: Played, open_store: Open) -> None:
    _write(played, "UPDATE execution_summary SET user_prompt = ' '")
    with pytest.raises(ContextError, match="user_prompt cannot be empty"):
        open_store(played.path).rebuild(played.ids[0], "team-001", 1)
    _write(played, 'UPDATE leader_board SET score_details = \'{"overall_score": 1, "x": 1e999}\'')
    with pytest.raises(ContextError):
        open_store(played.path).rebuild(played.ids[0], "team-001", 2, task="t")


@pytest.mark.slow
def test_a_team_with_a_row_of_round_0_shows_its_rounds(played: Played, open_store: Open) -> None:
    """No prompt can be rebuilt for it; what is stored can be shown, and other teams lose nothing."""
    run = played.ids[0]
    _write(
        played,
        f"UPDATE leader_board SET round_number = 0 WHERE execution_id = '{run}' AND team_id = 'team-001'"
        " AND round_number = 1",
    )
    store = open_store(played.path)
    assert store.round(run, "team-001", 2).score is not None
    assert store.round(run, "team-001", 0).round_number == 0
    with pytest.raises(UnknownRound):
        store.round(run, "team-001", 9)
    with pytest.raises(UnknownRound):
        store.delivered(run, "team-001", 9)
    teams = {stored.team_id for stored in store.delivered_rounds(run).rounds}
    assert "team-002" in teams and "team-001" not in teams
