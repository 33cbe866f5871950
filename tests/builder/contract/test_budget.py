"""Round prompts within a budget: level 3 goes first, then level 2, level 1 never."""

from pathlib import Path

import pytest

from builder.cache.tokens import count
from builder.contract.budget import FittedPrompt, LeftOut, fit_round_prompt
from builder.contract.round_prompt import PlainTextPromptBuilder, RoundPromptConfig, build_prompt
from builder.contract.round_templates import Jinja2PromptBuilder
from tests.builder.round_records import context

HEAD = """ユーザのクエリに対して、継続的に改善した回答を提供してください。

元のクエリ:
質問

これまでのあなたのSubmission履歴と評価結果:
"""
FOOT = """

このラウンドでの改善点:
- 前回の評価フィードバックに基づいて改善してください
- 自分たちの現在順位（2位）を念頭に、品質向上に注力してください"""
LEVEL_1 = f"""{HEAD}ラウンド 3:
- スコア: 70.0/100

チーム全体のランキング:
あなたのチームの現在順位: 2位{FOOT}"""
LEVEL_2 = f"""{HEAD}ラウンド 3:
- スコア: 70.0/100
- フィードバック: 冗長です

チーム全体のランキング:
全チーム最高スコアランキング:
  1位: Team 1 (スコア: 87.5/100)
  2位: Team 2 (スコア: 85.0/100) ← あなたのチーム
  3位: Team 3 (スコア: 82.5/100)

あなたのチームの現在順位: 2位
スコア推移: 60.0 → 72.5 → 70.0（前回比 -2.5）{FOOT}"""
SOME_OF_LEVEL_3 = f"""{HEAD}ラウンド 2: {"い" * 250}
ラウンド 3: {"う" * 200}...[中略]...{"え" * 100}
- スコア: 70.0/100
- フィードバック: 冗長です

チーム全体のランキング:
全チーム最高スコアランキング:
  1位: Team 1 (スコア: 87.5/100)
  2位: Team 2 (スコア: 85.0/100) ← あなたのチーム
  3位: Team 3 (スコア: 82.5/100)

あなたのチームの現在順位: 2位
スコア推移: 60.0 → 72.5 → 70.0（前回比 -2.5）{FOOT}"""
LEVEL_3 = (LeftOut("submissions", (1, 2, 3)), LeftOut("teams"), LeftOut("earlier_results"))
CONTEXT = context(query="質問")


def fit(budget: int, **config: bool) -> FittedPrompt:
    return fit_round_prompt(CONTEXT, PlainTextPromptBuilder(RoundPromptConfig(**config)), budget=budget)


def tokens(text: str) -> int:
    return count(text).tokens


def test_what_fits_is_whole() -> None:
    whole = build_prompt(CONTEXT, PlainTextPromptBuilder())
    fitted = fit_round_prompt(CONTEXT)
    assert fitted == FittedPrompt(whole, count(whole), 3000)
    assert fitted.left_out == () and not fitted.over_budget and fitted.notes() == []
    assert fit(tokens(whole)) == FittedPrompt(whole, count(whole), tokens(whole))
    assert fit(tokens(whole) - 1).text != whole


def test_level_three_is_filled_from_the_newest_backwards() -> None:
    fitted = fit(tokens(SOME_OF_LEVEL_3))
    assert fitted.text == SOME_OF_LEVEL_3
    assert fitted.left_out == (LeftOut("submissions", (1,)), LeftOut("teams"), LeftOut("earlier_results"))


def test_level_three_goes_before_level_two() -> None:
    fitted = fit(tokens(LEVEL_2))
    assert (fitted.text, fitted.left_out, fitted.over_budget) == (LEVEL_2, LEVEL_3, False)


def test_level_one_stays() -> None:
    fitted = fit(tokens(LEVEL_1))
    two = (LeftOut("feedback"), LeftOut("leaders"), LeftOut("trend"))
    assert (fitted.text, fitted.left_out, fitted.over_budget) == (LEVEL_1, (*two, *LEVEL_3), False)


def test_level_one_alone_beyond_the_budget_is_said() -> None:
    fitted = fit(10)
    assert (fitted.text, fitted.over_budget) == (LEVEL_1, True)
    assert fitted.notes() == [
        f"The parts that are never left out need {tokens(LEVEL_1)} tokens; the budget is 10.",
        "Left out (level 2): the feedback on the latest round",
        "Left out (level 2): the three leading teams",
        "Left out (level 2): the score trend",
        "Left out (level 3): the submissions, by round: 1, 2, 3",
        "Left out (level 3): the teams from rank 4 on",
        "Left out (level 3): scores and feedback of earlier rounds",
    ]
    assert fitted.notes("ja")[-3] == "省略（レベル3）：ラウンド 1, 2, 3 のSubmission"


def test_a_first_round_has_nothing_to_leave_out() -> None:
    fitted = fit_round_prompt(context(1), budget=5)
    assert (fitted.text, fitted.left_out, fitted.over_budget) == (
        build_prompt(context(1), PlainTextPromptBuilder()),
        (),
        True,
    )


def test_what_was_not_to_be_shown_is_not_left_out() -> None:
    parts = [each.part for each in fit(10, enable_trend_analysis=False).left_out]
    assert parts == ["feedback", "leaders", "submissions", "teams", "earlier_results"]
    parts = [each.part for each in fit(10, show_metric_scores=True).left_out]
    assert parts[-1] == "metrics"


def test_under_every_budget_the_levels_hold() -> None:
    whole = tokens(build_prompt(CONTEXT, PlainTextPromptBuilder()))
    before = 0
    for budget in range(0, whole + 20, 23):
        fitted = fit(budget, show_metric_scores=True)
        assert all(line in fitted.text for line in ("質問", "現在順位: 2位", "- スコア: 70.0/100"))
        assert fitted.over_budget == (fitted.tokens.tokens > budget) == (budget < tokens(LEVEL_1))
        missing = {each.level for each in fitted.left_out}
        if 2 in missing:
            assert "Team 4" not in fitted.text and "い" * 200 not in fitted.text
        assert [each.level for each in fitted.left_out] == sorted(each.level for each in fitted.left_out)
        before = max(before, fitted.tokens.tokens)
    assert before > tokens(SOME_OF_LEVEL_3)


def test_feedback_that_nobody_gave_is_not_left_out() -> None:
    silent = CONTEXT.evaluation_feedback[2].model_copy(update={"feedback_summary": ""})
    without = CONTEXT.model_copy(update={"evaluation_feedback": [*CONTEXT.evaluation_feedback[:2], silent]})
    assert fit_round_prompt(without, budget=10).text == LEVEL_1
    assert "feedback" not in {each.part for each in fit_round_prompt(without, budget=10).left_out}
    fitted = fit_round_prompt(without, budget=tokens(LEVEL_2))
    assert fitted.text.startswith(LEVEL_2[: LEVEL_2.index("\n- フィード")] + "\n\nチーム")


def test_an_unknown_models_tokens_are_an_estimate() -> None:
    fitted = fit_round_prompt(CONTEXT, budget=400, model="claude-sonnet-4")
    assert not fitted.tokens.exact and fitted.tokens.tokenizer == "estimate"
    assert fitted.tokens.tokens <= 400


@pytest.mark.parametrize("budget", [10, 150])
def test_a_template_is_given_less(tmp_path: Path, budget: int) -> None:
    text = """{{ user_query }} {{ current_team_rank }}
{% for record in submission_history %}
{{ record.round_number }} {{ record.score }} [{{ record.content }}] [{{ record.feedback }}]
{% endfor %}
{% for entry in leaderboard_ranking %}{{ entry.team_name }} {% endfor %}
"""
    (tmp_path / "continuation_prompt.jinja2").write_text(text, encoding="utf-8")
    fitted = fit_round_prompt(CONTEXT, Jinja2PromptBuilder(tmp_path), budget=budget)
    if budget == 10:
        assert (fitted.text, fitted.over_budget) == ("質問 2\n3 70.0 [] []\n", True)
    else:
        teams = "".join(f"Team {number} " for number in range(1, 11))
        assert fitted.text == f"質問 2\n3 70.0 [] [冗長です]\n{teams}"
        # The template shows no trend, so none was left out.
        assert [each.part for each in fitted.left_out] == ["submissions", "earlier_results"]


def test_a_template_that_needs_everything_is_whole_and_over_budget(tmp_path: Path) -> None:
    text = "{{ leaderboard_ranking[0].team_name }} {{ user_query * 30 }}"
    (tmp_path / "continuation_prompt.jinja2").write_text(text, encoding="utf-8")
    fitted = fit_round_prompt(CONTEXT, Jinja2PromptBuilder(tmp_path), budget=5)
    assert (fitted.text, fitted.left_out, fitted.over_budget) == ("Team 1 " + "質問" * 30, (), True)
