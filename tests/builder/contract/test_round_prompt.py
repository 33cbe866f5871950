"""Round prompts as plain text: the documents' words, to the byte."""

import inspect
from dataclasses import asdict

import pytest
from pydantic import ValidationError

from builder.contract.round_context import RoundContext
from builder.contract.round_prompt import (
    PlainTextPromptBuilder,
    PromptBuilder,
    RoundPromptConfig,
    build_prompt,
    build_round_prompt,
)
from builder.contract.round_templates import Jinja2PromptBuilder
from builder.template.models import LeaderboardEntry
from tests.builder.round_records import QUERY, RANKING, RECORDS, RESULTS, context

WITHOUT_TREND = RoundPromptConfig(enable_trend_analysis=False)

INITIAL = """ユーザのクエリに対して、最良の回答を提供してください。

クエリ:
売上データを分析し、
    - 傾向
    - 提案
をまとめてください。"""

ROUND_TWO = """ユーザのクエリに対して、継続的に改善した回答を提供してください。

元のクエリ:
売上データを分析し、
    - 傾向
    - 提案
をまとめてください。

これまでのあなたのSubmission履歴と評価結果:
ラウンド 1:
- Submission: 最初の回答...
- スコア: 60.0/100
- フィードバック: 根拠が足りません

チーム全体のランキング:
全チーム最高スコアランキング:
  1位: Team 1 (スコア: 87.5/100)
  2位: Team 2 (スコア: 85.0/100) ← あなたのチーム

あなたのチームの現在順位: 2位

このラウンドでの改善点:
- 前回の評価フィードバックに基づいて改善してください
- 自分たちの現在順位（2位）を念頭に、品質向上に注力してください"""

ROUND_FOUR = f"""ユーザのクエリに対して、継続的に改善した回答を提供してください。

元のクエリ:
{QUERY}

これまでのあなたのSubmission履歴と評価結果:
ラウンド 1:
- Submission: 最初の回答...
- スコア: 60.0/100
- フィードバック: 根拠が足りません

ラウンド 2:
- Submission: {"い" * 200}...
- スコア: 72.5/100
- フィードバック: 構成は良い
例を増やすこと

ラウンド 3:
- Submission: {"う" * 200}...
- スコア: 70.0/100
- フィードバック: 冗長です

チーム全体のランキング:
全チーム最高スコアランキング:
  1位: Team 1 (スコア: 87.5/100)
  2位: Team 2 (スコア: 85.0/100)
  3位: Team 3 (スコア: 82.5/100)
  4位: Team 4 (スコア: 80.0/100)
  5位: Team 5 (スコア: 77.5/100)
  6位: Team 6 (スコア: 75.0/100)
  7位: Team 7 (スコア: 72.5/100)
  8位: Team 8 (スコア: 70.0/100)
  9位: Team 9 (スコア: 67.5/100)
  10位: Team 10 (スコア: 65.0/100)

あなたのチームの現在順位: 12位
スコア推移: 60.0 → 72.5 → 70.0（前回比 -2.5）

このラウンドでの改善点:
- 前回の評価フィードバックに基づいて改善してください
- 自分たちの現在順位（12位）を念頭に、品質向上に注力してください"""


def test_the_first_round_has_the_query_as_it_was_written() -> None:
    assert build_round_prompt(QUERY, 1, "team-002", [], [], [], 0) == INITIAL
    assert PlainTextPromptBuilder().build_initial_prompt(QUERY, "team-002") == INITIAL


def test_a_second_round_is_the_documents_text() -> None:
    assert build_round_prompt(QUERY, 2, "team-002", RECORDS[:1], RESULTS[:1], RANKING[:2], 2) == ROUND_TWO


def test_later_rounds_have_previews_ten_teams_and_a_line_of_scores() -> None:
    assert build_round_prompt(QUERY, 4, "team-012", RECORDS, RESULTS, RANKING, 12) == ROUND_FOUR


def test_without_trend_analysis_the_line_of_scores_is_missing_and_nothing_else() -> None:
    trend = "\nスコア推移: 60.0 → 72.5 → 70.0（前回比 -2.5）"
    assert ROUND_FOUR.count(trend) == 1
    text = build_round_prompt(QUERY, 4, "team-012", RECORDS, RESULTS, RANKING, 12, config=WITHOUT_TREND)
    assert text == ROUND_FOUR.replace(trend, "")


def test_no_line_ends_in_a_space() -> None:
    text = build_prompt(context(), PlainTextPromptBuilder())
    assert [line for line in text.splitlines() if line != line.rstrip()] == []


def test_values_are_put_in_as_they_are() -> None:
    query = "  字下げ\n   \n{user_query} {0} %s\n\t# コメント"
    text = build_prompt(context(2, query=query), PlainTextPromptBuilder())
    assert f"元のクエリ:\n{query}\n\nこれまで" in text


def test_config_has_the_documents_defaults_and_takes_no_negative_number() -> None:
    assert asdict(RoundPromptConfig()) == {
        "max_submission_history_items": 5,
        "max_leaderboard_display_teams": 10,
        "submission_preview_chars": 200,
        "enable_trend_analysis": True,
        "estimated_prompt_tokens": 3000,
        "show_metric_scores": False,
    }
    with pytest.raises(ValidationError):
        RoundPromptConfig(max_submission_history_items=-1)


def test_config_limits_rounds_previews_and_teams() -> None:
    config = RoundPromptConfig(
        max_submission_history_items=1,
        max_leaderboard_display_teams=2,
        submission_preview_chars=3,
        show_metric_scores=True,
    )
    text = build_prompt(context(), PlainTextPromptBuilder(config))
    start, end = text.index("これまで"), text.index("このラウンドでの")
    assert text[start:end] == (
        """これまでのあなたのSubmission履歴と評価結果:
ラウンド 3:
- Submission: ううう...
- スコア: 70.0/100
- メトリクス: clarity: 75.0, coverage: 65.0
- フィードバック: 冗長です

チーム全体のランキング:
全チーム最高スコアランキング:
  1位: Team 1 (スコア: 87.5/100)
  2位: Team 2 (スコア: 85.0/100) ← あなたのチーム

あなたのチームの現在順位: 2位
スコア推移: 60.0 → 72.5 → 70.0（前回比 -2.5）

"""
    )


def test_a_history_of_no_items_shows_none() -> None:
    builder = PlainTextPromptBuilder(RoundPromptConfig(max_submission_history_items=0))
    assert "評価結果:\n（過去のSubmissionはありません）\n\nチーム全体" in build_prompt(context(), builder)


def test_a_team_without_a_score_is_told_so() -> None:
    nothing = RoundContext(
        round_number=2,
        submission_history=[],
        evaluation_feedback=[],
        leaderboard_ranking=RANKING[:1],
        current_team_rank=None,
        user_query="質問",
        team_id="team-099",
    )
    assert (
        build_prompt(nothing, PlainTextPromptBuilder())
        == """ユーザのクエリに対して、継続的に改善した回答を提供してください。

元のクエリ:
質問

これまでのあなたのSubmission履歴と評価結果:
（過去のSubmissionはありません）

チーム全体のランキング:
全チーム最高スコアランキング:
  1位: Team 1 (スコア: 87.5/100)

あなたのチームの現在順位: まだありません

このラウンドでの改善点:
- 前回の評価フィードバックに基づいて改善してください
- 品質向上に注力してください"""
    )


def test_a_name_with_braces_is_no_placeholder() -> None:
    entry = LeaderboardEntry(rank=1, team_id="t", team_name="{entry.rank.__class__}", best_score=1)
    text = build_round_prompt("質問", 2, "t", [], [], [entry], 1)
    assert "  1位: {entry.rank.__class__} (スコア: 1.0/100) ← あなたのチーム\n" in text


@pytest.mark.parametrize("builder", [PlainTextPromptBuilder, Jinja2PromptBuilder])
@pytest.mark.parametrize("method", ["build_initial_prompt", "build_continuation_prompt"])
def test_builders_take_what_the_protocol_says(builder: type, method: str) -> None:
    own, agreed = (inspect.signature(getattr(each, method)) for each in (builder, PromptBuilder))
    assert [(p.name, p.kind, p.default) for p in own.parameters.values()] == [
        (p.name, p.kind, p.default) for p in agreed.parameters.values()
    ]
