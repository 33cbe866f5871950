"""Earlier rounds: which result belongs to which submission, compression, the line of scores."""

import pytest

from builder.cache.tokens import count
from builder.contract.round_history import compress_submission_history, played_rounds, score_trend
from builder.template.models import SubmissionRecord
from tests.builder.round_records import RECORDS, RESULTS


def record(number: int, content: str) -> SubmissionRecord:
    return SubmissionRecord(round_number=number, content=content, score=50, feedback="")


def test_results_of_all_rounds_meet_a_history_of_the_latest() -> None:
    assert [(each.number, each.score) for each in played_rounds(RECORDS[1:], RESULTS)] == [
        (2, 72.46),
        (3, 70.0),
    ]


def test_a_submission_without_a_result_has_what_its_record_says() -> None:
    first, second = played_rounds(RECORDS[:2], RESULTS[:1])
    assert first.metrics == {"clarity": 65.0, "coverage": 55.0}
    assert (second.score, second.feedback, second.metrics) == (72.46, "構成は良い\n例を増やすこと", {})


def test_the_newest_are_taken_first_and_shown_in_the_order_of_the_rounds() -> None:
    records = [record(1, "短い"), record(2, "長い文章" * 40), record(3, "い"), record(4, "う")]
    enough = "ラウンド 3: い\nラウンド 4: う"
    tokens = count(enough).tokens
    # Round 1 would fit beside them, but a history has no hole.
    assert compress_submission_history(records, max_tokens=tokens + 20) == enough
    assert compress_submission_history(records, max_tokens=tokens) == enough
    assert compress_submission_history(records, max_tokens=tokens - 1) == "ラウンド 4: う"
    assert compress_submission_history(records, max_tokens=1) == ""


@pytest.mark.parametrize(
    ("scores", "line"),
    [
        ([], ""),
        ([60.0], ""),
        ([60.0, 72.5], "スコア推移: 60.0 → 72.5（前回比 +12.5）"),
        ([60.0, 72.5, 70.0], "スコア推移: 60.0 → 72.5 → 70.0（前回比 -2.5）"),
        ([72.46, 72.54], "スコア推移: 72.5 → 72.5（前回比 ±0.0）"),
        ([72.54, 72.46], "スコア推移: 72.5 → 72.5（前回比 ±0.0）"),
    ],
)
def test_the_trend_is_one_line_from_two_scores_on(scores: list[float], line: str) -> None:
    assert score_trend(scores) == line
