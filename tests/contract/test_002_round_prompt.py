"""Document 002, the round prompts: texts, protocol, templates, filters, configuration.

Beside it: ``test_002_context_and_budget.py``, the store's queries, compression and the three levels.
"""

import dataclasses
import inspect
import re
from pathlib import Path
from typing import Any

import jinja2
import pytest
from pydantic import ValidationError

import builder
from builder import (
    EvaluationResult,
    Jinja2PromptBuilder,
    LeaderboardEntry,
    PlainTextPromptBuilder,
    PromptBuilder,
    RoundPromptConfig,
    SubmissionRecord,
    build_round_prompt,
    setup_jinja2_environment,
)
from tests.contract.documents import CONTINUATION
from tests.contract.mixseek_shapes import Judged, Placed, Submitted

QUERY = "売上データを分析し、\n    - 傾向\n    - 提案 {0}\nをまとめてください。"
CONTENTS = ["最初の回答", "い" * 250, "う" * 200]
SCORES = [60.0, 72.46, 70.0]
FEEDBACK = ["根拠が足りません", "例を増やすこと", "冗長です"]
SUBMITTED = [Submitted(number, content) for number, content in enumerate(CONTENTS, start=1)]
JUDGED = [Judged(score, feedback) for score, feedback in zip(SCORES, FEEDBACK, strict=True)]
PLACED = [Placed(rank, f"team-{rank}", f"Team {rank}", 90 - rank) for rank in range(1, 13)]
RECORDS = [
    SubmissionRecord(round_number=each.round_number, content=each.content, score=score, feedback=feedback)
    for each, score, feedback in zip(SUBMITTED, SCORES, FEEDBACK, strict=True)
]
RESULTS = [
    EvaluationResult(overall_score=each.overall_score, feedback_summary=each.feedback_summary)
    for each in JUDGED
]
RANKING = [LeaderboardEntry(**vars(each)) for each in PLACED]
WITHOUT_TREND = RoundPromptConfig(enable_trend_analysis=False)


def documents_text(rank: int = 2) -> str:
    """What the document's two functions print, but for the comment inside one of the f-strings."""
    history = "\n\n".join(
        f"ラウンド {record.round_number}:\n- Submission: {record.content[:200]}...\n"
        f"- スコア: {result.overall_score:.1f}/100\n- フィードバック: {result.feedback_summary}"
        for record, result in zip(RECORDS, RESULTS, strict=True)
    )
    lines = ["全チーム最高スコアランキング:"]
    for entry in RANKING[:10]:
        marker = "← あなたのチーム" if entry.team_id == f"team-{rank}" else ""
        lines.append(f"  {entry.rank}位: {entry.team_name} (スコア: {entry.best_score:.1f}/100) {marker}")
    lines.append(f"\nあなたのチームの現在順位: {rank}位")
    ranking = "\n".join(lines)
    return (
        "ユーザのクエリに対して、継続的に改善した回答を提供してください。\n\n"
        f"元のクエリ:\n{QUERY}\n\nこれまでのあなたのSubmission履歴と評価結果:\n{history}\n\n"
        f"チーム全体のランキング:\n{ranking}\n\nこのラウンドでの改善点:\n"
        "- 前回の評価フィードバックに基づいて改善してください\n"
        f"- 自分たちの現在順位（{rank}位）を念頭に、品質向上に注力してください"
    )


def without_trailing_spaces(text: str) -> str:
    return re.sub(r" +$", "", text, flags=re.MULTILINE)


def round_four(records: Any = RECORDS, results: Any = RESULTS, ranking: Any = RANKING, **options: Any) -> str:
    return build_round_prompt(QUERY, 4, "team-2", records, results, ranking, 2, **options)


# --- names, version -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        *("build_round_prompt", "PromptBuilder", "PlainTextPromptBuilder", "Jinja2PromptBuilder"),
        *("RoundContext", "gather_round_context", "AggregationStore", "RoundPromptConfig"),
        *("SubmissionRecord", "EvaluationResult", "LeaderboardEntry", "TEMPLATE_VARIABLES"),
        *("compress_submission_history", "setup_jinja2_environment", "fit_round_prompt"),
    ],
)
def test_names_are_imported_from_builder(name: str) -> None:
    assert name in builder.__all__ and getattr(builder, name) is not None


def test_version_is_a_semantic_one() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", builder.__version__)


# --- build_round_prompt ---------------------------------------------------------------------


def test_build_round_prompt_takes_the_documents_arguments() -> None:
    assert [*inspect.signature(build_round_prompt).parameters][:7] == [
        *("user_query", "round_number", "team_id", "submission_history", "evaluation_feedback"),
        *("leaderboard_ranking", "current_team_rank"),
    ]


def test_round_one_is_the_query_alone() -> None:
    assert build_round_prompt(QUERY, 1, "team-2", [], [], [], 0) == (
        f"ユーザのクエリに対して、最良の回答を提供してください。\n\nクエリ:\n{QUERY}"
    )


def test_later_rounds_are_the_documents_text_with_the_trend_off() -> None:
    """Decided differently: no space after «/100)»; ten of twelve teams and 200 characters are shown."""
    text = round_four(config=WITHOUT_TREND)
    assert text == without_trailing_spaces(documents_text())
    assert text != documents_text() and text == without_trailing_spaces(text)


def test_later_rounds_have_one_line_more_by_default() -> None:
    """Decided differently: the document names the trend and gives it no text."""
    trend = "\nスコア推移: 60.0 → 72.5 → 70.0（前回比 -2.5）"
    expected = without_trailing_spaces(documents_text()).replace("現在順位: 2位", "現在順位: 2位" + trend)
    assert round_four() == expected


def test_records_may_be_the_controllers_own_objects() -> None:
    expected = round_four()
    assert round_four(SUBMITTED, JUDGED, PLACED) == expected
    own = PlainTextPromptBuilder().build_continuation_prompt(QUERY, 4, "team-2", SUBMITTED, JUDGED, PLACED, 2)
    assert own == expected
    with pytest.raises(ValidationError):
        round_four([object()], JUDGED, PLACED)


def test_records_need_only_what_the_documents_use() -> None:
    assert EvaluationResult(overall_score=80.0, feedback_summary="f").metrics == {}
    bare = SubmissionRecord(round_number=1, content="c")
    assert (bare.score, bare.feedback) == (None, "")
    text = build_round_prompt("q", 2, "t", [bare], [], [], None)
    assert "ラウンド 1:\n- Submission: c...\n- フィードバック:" in text and "スコア: " not in text
    unset = {"round_number": 1, "content": "c", "score": None, "feedback": None}
    assert SubmissionRecord.model_validate(unset) == bare, "as another library's optional fields are"
    judged = {"overall_score": 80.0, "feedback_summary": "f", "metrics": None}
    assert EvaluationResult.model_validate(judged).metrics == {}
    full = SubmissionRecord(round_number=1, content="c", score=50, feedback="f")
    assert "- スコア: 50.0/100\n- フィードバック: f" in build_round_prompt("q", 2, "t", [full], [], [], None)
    entry = LeaderboardEntry(rank=1, team_id="t", team_name="T", best_score=1)
    assert (entry.rank, entry.team_id, entry.team_name, entry.best_score) == (1, "t", "T", 1)


# --- protocol and injection -----------------------------------------------------------------


@pytest.mark.parametrize("implementation", [PromptBuilder, PlainTextPromptBuilder, Jinja2PromptBuilder])
def test_protocol_signatures(implementation: type[PromptBuilder]) -> None:
    first, later = implementation.build_initial_prompt, implementation.build_continuation_prompt
    assert [*inspect.signature(first).parameters] == ["self", "user_query", "team_id", "metadata"]
    assert [*inspect.signature(later).parameters] == [
        *("self", "user_query", "round_number", "team_id", "submission_history", "evaluation_feedback"),
        *("leaderboard_ranking", "current_team_rank", "metadata"),
    ]
    for method in (first, later):
        assert inspect.signature(method).parameters["metadata"].default is None


def test_protocol_can_be_inherited_by_a_mock() -> None:
    class MockPromptBuilder(PromptBuilder):
        def build_continuation_prompt(self, *args: Any, **named: Any) -> str:
            return "Mock prompt for testing"

    assert MockPromptBuilder().build_continuation_prompt() == "Mock prompt for testing"


def test_injection_the_plain_builder_needs_no_arguments() -> None:
    named = {
        "user_query": QUERY,
        "round_number": 4,
        "team_id": "team-2",
        "submission_history": RECORDS,
        "evaluation_feedback": RESULTS,
        "leaderboard_ranking": RANKING,
        "current_team_rank": 2,
    }
    assert PlainTextPromptBuilder().build_continuation_prompt(**named) == round_four()  # type: ignore[arg-type]


# --- Jinja2PromptBuilder --------------------------------------------------------------------


def templates(folder: Path, **texts: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}_prompt.jinja2").write_text(text, encoding="utf-8")
    return folder


def test_jinja2_renders_the_documents_template_as_jinja2_would(tmp_path: Path) -> None:
    made = Jinja2PromptBuilder(templates(tmp_path, continuation=CONTINUATION))
    plain = jinja2.Environment(trim_blocks=True, lstrip_blocks=True).from_string(CONTINUATION)
    values = {
        "user_query": "Test query",
        "submission_history": RECORDS,
        "leaderboard_ranking": RANKING,
        "team_id": "team-2",
        "current_team_rank": 2,
    }
    text = made.build_continuation_prompt("Test query", 4, "team-2", RECORDS, RESULTS, RANKING, 2)
    assert text == plain.render(values)
    assert "Test query" in text and "ラウンド" in text
    own = made.build_continuation_prompt("Test query", 4, "team-2", SUBMITTED, JUDGED, PLACED, 2)
    assert own == text, "a record without a score has its result's"


def test_jinja2_takes_the_teams_name_from_the_metadata(tmp_path: Path) -> None:
    made = Jinja2PromptBuilder(templates(tmp_path, initial="{{ team_name }}: {{ user_query }}"))
    assert made.build_initial_prompt("q", "t", {"team_name": "青組"}) == "青組: q"


def test_phase_3_a_workspaces_templates_or_the_plain_text(tmp_path: Path) -> None:
    plain = PlainTextPromptBuilder().build_initial_prompt("q", "t")
    assert Jinja2PromptBuilder(tmp_path / "nowhere").build_initial_prompt("q", "t") == plain
    folder = templates(tmp_path / "configs" / "prompt_templates")
    assert Jinja2PromptBuilder.for_workspace(tmp_path).build_initial_prompt("q", "t") == plain
    templates(folder, initial="own {{ user_query }}")
    made = Jinja2PromptBuilder.for_workspace(tmp_path)
    assert made.build_initial_prompt("q", "t") == "own q"
    continued = made.build_continuation_prompt(QUERY, 4, "team-2", RECORDS, RESULTS, RANKING, 2)
    assert continued == round_four(), "the one that is not there falls back by itself"


def test_phase_3_a_broken_template_names_file_and_line(tmp_path: Path) -> None:
    templates(tmp_path, initial="一\n{{ user_qery }}")
    with pytest.raises(builder.TemplateFailure, match=r"\Ainitial_prompt.jinja2, line 2: `user_qery`"):
        Jinja2PromptBuilder(tmp_path)


# --- 4 拡張ポイント -------------------------------------------------------------------------


def test_4_variables_are_those_of_the_document() -> None:
    assert builder.TEMPLATE_VARIABLES == {
        "initial": {"user_query": "str", "team_id": "str", "team_name": "str"},
        "continuation": {
            "user_query": "str",
            "round_number": "int",
            "team_id": "str",
            "team_name": "str",
            "submission_history": "list[SubmissionRecord]",
            "evaluation_feedback": "list[EvaluationResult]",
            "leaderboard_ranking": "list[LeaderboardEntry]",
            "current_team_rank": "int",
        },
    }


def test_4_every_variable_can_be_used(tmp_path: Path) -> None:
    text = (
        "{{ user_query }} {{ round_number }} {{ team_id }} {{ team_name }} {{ current_team_rank }} "
        "{{ submission_history[0].content }} {{ evaluation_feedback[0].feedback_summary }} "
        "{{ leaderboard_ranking[0].team_name }}"
    )
    made = Jinja2PromptBuilder(templates(tmp_path, continuation=text))
    built = made.build_continuation_prompt("q", 4, "team-2", RECORDS, RESULTS, RANKING, 2)
    assert built == "q 4 team-2 team-2 2 最初の回答 根拠が足りません Team 1"


FILTERS = [
    *(("75.55|format_score", "75.5/100"), ("-3|format_score", "-3.0/100")),
    *(("('あ' * 201)|summarize", "あ" * 200 + "..."), ("('あ' * 200)|summarize", "あ" * 200)),
    *(("('x' * 151)|summarize(150)", "x" * 150 + "..."), ("''|summarize", "")),
    *(("1|medal", "🥇"), ("2|medal", "🥈"), ("3|medal", "🥉"), ("4|medal", "4"), ("0|medal", "0")),
]


@pytest.mark.parametrize(("expression", "shown"), FILTERS)
def test_4_filters(tmp_path: Path, expression: str, shown: str) -> None:
    env = jinja2.Environment()
    setup_jinja2_environment(env)
    assert env.from_string(f"{{{{ {expression} }}}}").render() == shown
    made = Jinja2PromptBuilder(templates(tmp_path, initial=f"{{{{ {expression} }}}}"))
    assert made.build_initial_prompt("q", "t") == shown


# --- RoundPromptConfig ----------------------------------------------------------------------


def test_config_is_the_documents_dataclass() -> None:
    assert dataclasses.is_dataclass(RoundPromptConfig)
    assert dataclasses.asdict(RoundPromptConfig()) == {
        "max_submission_history_items": 5,
        "max_leaderboard_display_teams": 10,
        "submission_preview_chars": 200,
        "enable_trend_analysis": True,
        "estimated_prompt_tokens": 3000,
        "show_metric_scores": False,
    }
    assert RoundPromptConfig(1, 2, 3, False, 4).estimated_prompt_tokens == 4
    with pytest.raises(ValidationError):
        RoundPromptConfig(-1)


def test_config_limits_rounds_teams_and_previews() -> None:
    text = round_four(config=RoundPromptConfig(1, 2, 3, False))
    assert "ラウンド 3:\n- Submission: ううう...\n" in text
    assert "ラウンド 2:" not in text and "  2位" in text and "  3位" not in text


def test_config_latest_five_of_eight() -> None:
    records = [SubmissionRecord(round_number=number, content="c", score=1) for number in range(1, 9)]
    text = build_round_prompt("q", 9, "t", records, [], [], None)
    assert re.findall(r"^ラウンド (\d):$", text, flags=re.MULTILINE) == ["4", "5", "6", "7", "8"]


def test_config_no_items_are_none_not_all() -> None:
    assert "評価結果:\n（過去のSubmissionはありません）\n" in round_four(config=RoundPromptConfig(0))
