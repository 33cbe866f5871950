"""Document 003, API Contract: UserPromptBuilder: §2, the formatters."""

import inspect
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from pydantic import ValidationError

from builder import (
    RoundState,
    format_ranking_table,
    format_submission_history,
    generate_position_message,
    get_current_datetime_with_timezone,
)
from tests.contract.mixseek_shapes import NOW

RANKING: list[dict[str, Any]] = [
    {"team_id": "team1", "team_name": "Alpha", "max_score": 85.5, "total_rounds": 3},
    {"team_id": "team2", "team_name": "Beta", "max_score": 80.0, "total_rounds": 2},
]
ODD = "{score} {{ user_prompt }}\r\n\x00👩‍👧 %s"


def state(**changes: Any) -> RoundState:
    return RoundState(**{"round_number": 1, "submission_content": "...", "evaluation_score": 75.5} | changes)


# --- 2.1 format_submission_history ------------------------------------------------------------


def test_2_1_example_to_the_byte() -> None:
    history = [state(score_details={"accuracy": 80.0}, round_started_at=NOW, round_ended_at=NOW)]
    assert format_submission_history(history) == (
        '## ラウンド 1\nスコア: 75.50/100\nスコア詳細:\n{\n  "accuracy": 80.0\n}\nあなたの提出内容: ...'
    )
    assert next(iter(inspect.signature(format_submission_history).parameters)) == "round_history"


def test_2_1_no_history_is_a_sentence() -> None:
    assert format_submission_history([]) == "まだ過去のSubmissionはありません。"


def test_2_1_one_blank_line_between_rounds_and_none_after() -> None:
    assert format_submission_history([state(), state(round_number=2)]) == (
        "## ラウンド 1\nスコア: 75.50/100\nあなたの提出内容: ...\n\n"
        "## ラウンド 2\nスコア: 75.50/100\nあなたの提出内容: ..."
    )


def test_2_1_empty_details_are_details() -> None:
    assert "\nスコア詳細:\n{}\n" in format_submission_history([state(score_details={})])


def test_2_1_feedback_has_a_line_where_there_is_some() -> None:
    """Decided differently: the document's format has no such line."""
    assert format_submission_history([state(evaluation_feedback="根拠が弱い")]) == (
        "## ラウンド 1\nスコア: 75.50/100\n評価フィードバック: 根拠が弱い\nあなたの提出内容: ..."
    )


@pytest.mark.parametrize(
    ("score", "shown"),
    [
        *((-5, "-5.00"), (0, "0.00"), (-0.0, "-0.00"), (100, "100.00"), (123.456, "123.46")),
        *((75.555, f"{75.555:.2f}"), (1e300, f"{1e300:.2f}")),
    ],
)
def test_2_1_a_score_has_two_decimals_whatever_its_size(score: float, shown: str) -> None:
    assert f"\nスコア: {shown}/100\n" in format_submission_history([state(evaluation_score=score)])


@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_2_1_a_score_is_finite(score: float) -> None:
    with pytest.raises(ValidationError):
        state(evaluation_score=score)


def test_2_1_five_hundred_long_rounds() -> None:
    history = [state(round_number=n, submission_content="あ" * 4_000) for n in range(1, 501)]
    text = format_submission_history(history)
    assert (text.count("## ラウンド "), text.count("あ" * 4_000)) == (500, 500)


def test_2_1_values_come_through_as_they_are() -> None:
    text = format_submission_history([state(submission_content=ODD, evaluation_feedback=ODD)])
    assert text == f"## ラウンド 1\nスコア: 75.50/100\n評価フィードバック: {ODD}\nあなたの提出内容: {ODD}"


# --- 2.2 format_ranking_table -----------------------------------------------------------------


def test_2_2_example_to_the_byte() -> None:
    expected = (
        "**#1 Alpha (あなたのチーム) - スコア: 85.50/100 (ラウンド数: 3)**\n"
        "#2 Beta - スコア: 80.00/100 (ラウンド数: 2)"
    )
    assert format_ranking_table(RANKING, "team1", "Alpha") == expected
    assert format_ranking_table(ranking=RANKING, team_id="team1", team_name="Alpha") == expected


def test_2_2_no_ranking_is_a_sentence() -> None:
    assert format_ranking_table([], "team1", "Alpha") == "現在はランキング情報がありません。"


def test_2_2_the_own_team_is_known_by_its_id() -> None:
    same_name = [entry | {"team_name": "Alpha"} for entry in RANKING]
    assert format_ranking_table(same_name, "team2", "Alpha").splitlines()[1].startswith("**#2 Alpha (あなた")


@pytest.mark.parametrize("name", [ODD, "", " "])
def test_2_2_names_come_through_as_they_are(name: str) -> None:
    entry = RANKING[0] | {"team_name": name}
    assert format_ranking_table([entry], "other", "") == f"#1 {name} - スコア: 85.50/100 (ラウンド数: 3)"


# --- 2.3 generate_position_message ------------------------------------------------------------


@pytest.mark.parametrize(
    ("position", "total", "sentence"),
    [
        (1, 5, "🏆 現在、あなたのチームは1位です！この調子で頑張ってください。"),
        (2, 5, "現在、5チーム中2位です。素晴らしい成績です！"),
        (3, 5, "現在、5チーム中3位です。素晴らしい成績です！"),
        (4, 5, "現在、5チーム中4位です。"),
        (1, 1, "🏆 現在、あなたのチームは1位です！この調子で頑張ってください。"),
        (2, 2, "現在、2チーム中2位です。素晴らしい成績です！"),
    ],
)
def test_2_3_each_place_has_its_sentence(position: int, total: int, sentence: str) -> None:
    assert generate_position_message(position, total) == sentence


@pytest.mark.parametrize(
    ("position", "total", "text"),
    [
        *((0, 5, "Invalid position"), (-1, 5, "Invalid position"), (6, 5, "Invalid position")),
        *((1, 0, "Invalid total_teams"), (1, -3, "Invalid total_teams")),
    ],
)
def test_2_3_a_place_that_cannot_be_is_a_value_error(position: int, total: int, text: str) -> None:
    with pytest.raises(ValueError) as error:
        generate_position_message(position, total)
    assert (str(error.value), error.value.args[0]) == (text, text)


# --- 2.4 get_current_datetime_with_timezone ---------------------------------------------------


@pytest.mark.parametrize(
    ("zone", "shown"),
    [
        (None, "2025-11-19T12:34:56.789012+00:00"),
        ("Asia/Tokyo", "2025-11-19T21:34:56.789012+09:00"),
        ("Asia/Kathmandu", "2025-11-19T18:19:56.789012+05:45"),
        ("Pacific/Chatham", "2025-11-20T02:19:56.789012+13:45"),
        ("America/St_Johns", "2025-11-19T09:04:56.789012-03:30"),
        ("Etc/GMT+12", "2025-11-19T00:34:56.789012-12:00"),
        ("EST5EDT", "2025-11-19T07:34:56.789012-05:00"),
    ],
)
def test_2_4_the_time_in_the_zone_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, zone: str | None, shown: str
) -> None:
    if zone is not None:
        monkeypatch.setenv("TZ", zone)
    assert get_current_datetime_with_timezone(NOW) == shown


def test_2_4_without_arguments_it_is_now_and_the_zone_is_read_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = datetime.now(UTC)
    assert before <= datetime.fromisoformat(get_current_datetime_with_timezone()) <= datetime.now(UTC)
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    shown = datetime.fromisoformat(get_current_datetime_with_timezone())
    assert shown.utcoffset() == timedelta(hours=9)


@pytest.mark.parametrize(
    ("moment", "shown"),
    [
        (datetime(2025, 3, 9, 6, 59, tzinfo=UTC), "2025-03-09T01:59:00-05:00"),
        (datetime(2025, 3, 9, 7, 0, tzinfo=UTC), "2025-03-09T03:00:00-04:00"),
        (datetime(2025, 11, 2, 5, 30, tzinfo=UTC), "2025-11-02T01:30:00-04:00"),
        (datetime(2025, 11, 2, 6, 30, tzinfo=UTC), "2025-11-02T01:30:00-05:00"),
    ],
)
def test_2_4_summer_time_begins_and_ends(
    monkeypatch: pytest.MonkeyPatch, moment: datetime, shown: str
) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    assert get_current_datetime_with_timezone(moment) == shown
    assert moment.astimezone(ZoneInfo("America/New_York")).isoformat() == shown


@pytest.mark.parametrize(
    "zone",
    [
        *("", " ", "JST-9", ":Asia/Tokyo", "../etc/passwd", "/usr/share/zoneinfo/Asia/Tokyo", "Asia"),
        *("Asia/Tokyo ", "x" * 5_000, "Nope/Zone", "tzdata.zi", "zone.tab", "leapseconds", "posixrules\n"),
    ],
)
def test_2_4_a_zone_that_is_none_is_a_value_error(monkeypatch: pytest.MonkeyPatch, zone: str) -> None:
    monkeypatch.setenv("TZ", zone)
    with pytest.raises(ValueError) as error:
        get_current_datetime_with_timezone()
    assert str(error.value) == (
        f"Invalid timezone in TZ environment variable: {zone}."
        " Valid examples: 'UTC', 'Asia/Tokyo', 'America/New_York'"
    )
