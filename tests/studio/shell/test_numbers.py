"""Scores and their differences as pages write them, whatever an evaluator gave."""

from datetime import timedelta

import pytest
from django.utils import translation

from studio.shell.numbers import percent, score, signed, took, way
from studio.shell.tags import exact

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (81.0, "81.00"),
        (-3.456, "−3.46"),
        (-0.001, "0.00"),
        (None, "–"),
        (NAN, "–"),
        (INF, "∞"),
        (-INF, "−∞"),
        (1e300, "1e+300"),
        (-12_345_678.0, "−1.23e+07"),
    ],
)
def test_a_score_is_short_whatever_it_is(value: float | None, written: str) -> None:
    assert score(value) == written


@pytest.mark.parametrize(
    ("value", "written", "direction"),
    [
        (3.1, "+3.10", "up"),
        (-0.25, "−0.25", "down"),
        (0.001, "±0.00", "same"),
        (-0.001, "±0.00", "same"),
        (INF, "+∞", "up"),
        (-INF, "−∞", "down"),
        (NAN, "–", "same"),
        (None, "–", "same"),
    ],
)
def test_a_difference_carries_its_sign(value: float | None, written: str, direction: str) -> None:
    assert (signed(value), way(value)) == (written, direction)


@pytest.mark.parametrize(
    ("share", "written"), [(0.876, "88 %"), (1.0, "100 %"), (7.5, "7.50"), (NAN, "–"), (None, "–")]
)
def test_a_confidence_is_a_share_where_it_is_one(share: float | None, written: str) -> None:
    assert percent(share) == written


@pytest.mark.parametrize(
    ("seconds", "in_english", "in_japanese"),
    [
        (4.26, "4.3 s", "4.3秒"),
        (59, "59 s", "59秒"),
        (125, "2 min 5 s", "2分5秒"),
        (7260, "2 h 1 min", "2時間1分"),
    ],
)
def test_a_length_of_time_has_two_units_at_most(seconds: float, in_english: str, in_japanese: str) -> None:
    assert took(timedelta(seconds=seconds)) == in_english
    with translation.override("ja"):
        assert took(timedelta(seconds=seconds)) == in_japanese


def test_a_text_is_shown_to_the_byte() -> None:
    assert exact("a\r\n<b>") == "a&#13;\n&lt;b&gt;"
