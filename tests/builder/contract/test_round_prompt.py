"""Round prompts as plain text: the documents' words, to the byte."""

from builder.contract.round_context import RoundContext
from builder.contract.round_prompt import (
    PlainTextPromptBuilder,
    RoundPromptConfig,
    build_prompt,
    build_round_prompt,
)
from builder.template.models import LeaderboardEntry
from tests.builder.round_records import QUERY, RANKING, RECORDS, RESULTS, context

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


def test_later_rounds_have_previews_ten_teams_and_a_line_of_scores() -> None:
    assert build_round_prompt(QUERY, 4, "team-012", RECORDS, RESULTS, RANKING, 12) == ROUND_FOUR


def test_values_are_put_in_as_they_are() -> None:
    query = "  字下げ\n   \n{user_query} {0} %s\n\t# コメント"
    text = build_prompt(context(2, query=query), PlainTextPromptBuilder())
    assert f"元のクエリ:\n{query}\n\nこれまで" in text


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
