"""Data to text, to the byte."""

import json
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.errors import TimezoneError
from builder.invalid_input import ContextError
from builder.template.dialect import CONTRACT, DIALECTS, MIXSEEK, Dialect
from builder.template.formatters import (
    current_time,
    format_ranking_table,
    format_submission_history,
    generate_position_message,
    get_current_datetime_with_timezone,
    timezone,
    variables,
)
from builder.template.models import EvaluatorPromptContext, RankingEntry, RoundPromptContext, RoundState
from builder.template.variables import PromptKind, names

NOW = datetime(2025, 11, 19, 12, 34, 56, 789012, UTC)
NO_HISTORY = "まだ過去のSubmissionはありません。"
RANKING: list[dict[str, Any]] = [
    {"team_id": "team1", "team_name": "Alpha", "max_score": 85.5, "total_rounds": 3},
    {"team_id": "team2", "team_name": "Beta", "max_score": 80.0, "total_rounds": 2},
]


def state(**changes: Any) -> RoundState:
    return RoundState(
        **{"round_number": 1, "submission_content": "初回の分析結果", "evaluation_score": 75.5} | changes
    )


def context(**changes: Any) -> RoundPromptContext:
    return RoundPromptContext(
        **{
            "user_prompt": "データ分析タスク",
            "round_number": 2,
            "round_history": [state()],
            "team_id": "team1",
            "team_name": "Alpha",
            "execution_id": "exec1",
        }
        | changes
    )


# --- history -----------------------------------------------------------------------------


def test_without_details_their_lines_are_left_out() -> None:
    assert format_submission_history([state()]) == (
        "## ラウンド 1\nスコア: 75.50/100\nあなたの提出内容: 初回の分析結果"
    )


def test_mixseek_delivers_no_feedback() -> None:
    told = state(evaluation_feedback="根拠が弱い")
    assert format_submission_history([told], MIXSEEK) == format_submission_history([state()], MIXSEEK)


@given(st.text(st.characters(exclude_categories=["Cs"])), st.sampled_from(list(DIALECTS.values())))
def test_any_submission_is_shown_as_it_is(content: str, dialect: Dialect) -> None:
    ending = dialect.sentences.submission.partition("{content}")[2]
    assert format_submission_history([state(submission_content=content)], dialect).endswith(content + ending)


@pytest.mark.parametrize("text", ["{score}", "{0}", "{x.__class__}", "{", "}}", "%s", "{{ user_prompt }}"])
def test_braces_in_a_text_are_text(text: str) -> None:
    history = format_submission_history([state(submission_content=text, evaluation_feedback=text)])
    assert history == (
        f"## ラウンド 1\nスコア: 75.50/100\n評価フィードバック: {text}\nあなたの提出内容: {text}"
    )
    entry = RANKING[0] | {"team_name": text}
    assert format_ranking_table([entry], "team9", "") == f"#1 {text} - スコア: 85.50/100 (ラウンド数: 3)"


# --- ranking -----------------------------------------------------------------------------


def test_a_list_is_numbered_as_it_is_given() -> None:
    assert format_ranking_table(RANKING[::-1], "team1", "Alpha").splitlines() == [
        "#1 Beta - スコア: 80.00/100 (ラウンド数: 2)",
        "**#2 Alpha (あなたのチーム) - スコア: 85.50/100 (ラウンド数: 3)**",
    ]


def test_an_entry_that_lacks_a_field_is_refused_by_its_name() -> None:
    with pytest.raises(ContextError, match="total_rounds: Field required"):
        format_ranking_table([{"team_id": "t", "team_name": "T", "max_score": 1.0}], "t", "T")


# --- position ----------------------------------------------------------------------------


# --- clock and zone ----------------------------------------------------------------------


def test_a_zone_that_is_passed_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    assert get_current_datetime_with_timezone(NOW, "America/New_York") == "2025-11-19T07:34:56.789012-05:00"


def test_a_full_second_has_no_fraction() -> None:
    assert (
        get_current_datetime_with_timezone(NOW.replace(microsecond=0), "UTC") == "2025-11-19T12:34:56+00:00"
    )


def test_a_clock_without_a_zone_shows_the_time_of_the_zone_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    naive = NOW.replace(tzinfo=None)
    assert get_current_datetime_with_timezone(naive, "Asia/Tokyo") == "2025-11-19T12:34:56.789012+09:00"


def test_the_time_now_follows_the_environment_that_is_passed() -> None:
    assert current_time({"TZ": "Asia/Tokyo"}).tzinfo == ZoneInfo("Asia/Tokyo")
    assert current_time({}).tzinfo is UTC


@pytest.mark.parametrize(
    "name",
    [
        *(
            "",
            " ",
            ".",
            "..",
            "Asia",
            "America/",
            "Invalid/Timezone",
            "JST-9",
            ":UTC",
            "utc",
            "UTC ",
            "Asia/Tokyo\n",
        ),
        *("/etc/localtime", "/usr/share/zoneinfo/UTC", "../UTC", "Asia/../UTC", "./UTC", "Asia//Tokyo"),
        *("zone.tab", "tzdata.zi", "a\0b", "\ud800", "東京", "x" * 5_000, "{value}"),
    ],
)
def test_a_zone_that_is_none_gives_the_documented_message(name: str) -> None:
    with pytest.raises(TimezoneError) as refused:
        timezone(name)
    assert isinstance(refused.value, ValueError)
    assert str(refused.value) == (
        f"Invalid timezone in TZ environment variable: {name}."
        " Valid examples: 'UTC', 'Asia/Tokyo', 'America/New_York'"
    )


def test_an_empty_zone_in_the_environment_is_an_error_not_a_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "")
    with pytest.raises(TimezoneError):
        get_current_datetime_with_timezone(NOW)
    with pytest.raises(TimezoneError):
        current_time()


@given(st.text())
def test_any_zone_name_is_either_known_or_refused(name: str) -> None:
    try:
        assert timezone(name).utcoffset(NOW) is not None
    except TimezoneError as refused:
        assert refused.params == {"value": name}


# --- all values of a template ------------------------------------------------------------


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=lambda dialect: dialect.name)
@pytest.mark.parametrize("kind", ["team", "judgment"])
@pytest.mark.parametrize("number", [1, 2])
def test_every_variable_of_a_template_has_a_value(kind: PromptKind, number: int, dialect: Dialect) -> None:
    values = variables(kind, context(round_number=number), RANKING, NOW, dialect, "")
    assert values.keys() == names(kind)


def test_the_values_of_the_newest_release_are_made_for_a_template() -> None:
    with pytest.raises(TypeError, match="depend on the template"):
        variables("team", context(), RANKING, NOW, MIXSEEK)


def test_a_later_round_has_history_ranking_and_place() -> None:
    assert variables("team", context(), RANKING, NOW) == {
        "user_prompt": "データ分析タスク",
        "round_number": 2,
        "submission_history": format_submission_history([state()]),
        "ranking_table": format_ranking_table(RANKING, "team1", "Alpha"),
        "team_position_message": generate_position_message(1, 2),
        "current_datetime": "2025-11-19T12:34:56.789012+00:00",
    }


def test_a_first_round_is_bare_whatever_the_context_carries() -> None:
    values = variables("team", context(round_number=1, ranking=RANKING), RANKING, NOW)
    assert values["submission_history"] == NO_HISTORY
    assert values["ranking_table"] == values["team_position_message"] == ""


def test_the_judgment_of_a_first_round_sees_the_round_just_played() -> None:
    values = variables("judgment", context(round_number=1, ranking=RANKING), RANKING, NOW)
    assert values["submission_history"] == format_submission_history([state()])
    assert values["ranking_table"] == values["team_position_message"] == ""


def test_mixseek_shows_the_history_of_a_first_round_but_no_ranking() -> None:
    values = variables("team", context(round_number=1), RANKING, NOW, MIXSEEK, "")
    assert values["submission_history"] == format_submission_history([state()], MIXSEEK)
    assert values["ranking_table"] == "まだランキング情報がありません。"
    assert values["team_position_message"] == "まだあなたのチームの順位はありません。"


@pytest.mark.parametrize(
    ("ranking", "dialect", "table", "place"),
    [
        (None, CONTRACT, "", ""),
        ([], CONTRACT, "現在はランキング情報がありません。", ""),
        (None, MIXSEEK, "まだランキング情報がありません。", "まだあなたのチームの順位はありません。"),
        ([], MIXSEEK, "まだランキング情報がありません。", "まだあなたのチームの順位はありません。"),
    ],
)
def test_no_store_and_an_empty_ranking_are_told_apart(
    ranking: list[RankingEntry] | None, dialect: Dialect, table: str, place: str
) -> None:
    values = variables("team", context(), ranking, NOW, dialect, "")
    assert (values["ranking_table"], values["team_position_message"]) == (table, place)


def test_a_team_that_is_not_ranked_has_no_place() -> None:
    values = variables("team", context(team_id="team9"), RANKING, NOW)
    assert values["team_position_message"] == ""
    assert "あなたのチーム" not in str(values["ranking_table"])


def test_the_ranking_of_the_context_wins() -> None:
    own = [RankingEntry(team_id="team1", team_name="Own", max_score=1, total_rounds=1)]
    assert "Own" in str(variables("team", context(ranking=own), RANKING, NOW)["ranking_table"])
    assert variables("team", context(ranking=[]), RANKING, NOW)["ranking_table"] == (
        "現在はランキング情報がありません。"
    )


def test_the_evaluator_sees_the_query_as_the_prompt_of_the_user() -> None:
    values = variables("evaluator", EvaluatorPromptContext(user_query="課題", submission="提出"), None, NOW)
    assert values == {
        "user_prompt": "課題",
        "submission": "提出",
        "current_datetime": "2025-11-19T12:34:56.789012+00:00",
    }


def test_the_history_of_a_context_read_from_json_is_the_same() -> None:
    details = {"overall_score": 81.25, "metrics": [{"metric_name": "正確さ", "score": 90, "note": None}]}
    told = state(score_details=details)
    again = RoundState.model_validate_json(json.dumps(told.model_dump(mode="json")))
    assert format_submission_history([again]) == format_submission_history([told])
