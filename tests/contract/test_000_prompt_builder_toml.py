"""Document 000, Prompt Builder TOML Schema, in its order."""

import asyncio
import tomllib
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from jinja2 import Environment

import builder
from builder import EvaluatorPromptContext, RoundPromptContext, RoundState, UserPromptBuilder, check_file
from tests.contract.command_line import Outcome
from tests.contract.documents import BY_ROUND, COMPETITION, MINIMAL

FIELDS = ("team_user_prompt", "evaluator_user_prompt", "judgment_user_prompt")
NOW = datetime(2025, 11, 19, 12, 34, 56, 789012, UTC)
STAMP = NOW.isoformat()
EXAMPLES = {"minimal": MINIMAL, "rounds": BY_ROUND, "competition": COMPETITION}
HISTORY = "## ラウンド 1\nスコア: 75.50/100\nあなたの提出内容: 初回"
RANKING = [{"team_id": "t1", "team_name": "Alpha", "max_score": 75.5, "total_rounds": 1}]
TABLE = "**#1 Alpha (あなたのチーム) - スコア: 75.50/100 (ラウンド数: 1)**"
FIRST = "🏆 現在、あなたのチームは1位です！この調子で頑張ってください。"

Command = Callable[..., Outcome]


def documents_own_check(data: bytes) -> None:
    """The example of validation that the document ends with."""
    table = tomllib.loads(data.decode()).get("prompt_builder", {})
    env = Environment()
    for field in FIELDS:
        assert field in table, f"Missing required field: {field}"
        env.parse(table[field])


def write(workspace: Path, text: str) -> Path:
    path = workspace / "configs" / "prompt_builder.toml"
    path.write_text(text, encoding="utf-8", newline="")
    return path


def said(text: str) -> list[str]:
    return [f"{each.severity}: {each.text()}" for each in check_file(text.encode(), "f.toml")]


def context(round_number: int, **changes: Any) -> RoundPromptContext:
    state = RoundState(round_number=1, submission_content="初回", evaluation_score=75.5)
    return RoundPromptContext(
        **{
            "user_prompt": "課題",
            "round_number": round_number,
            "round_history": [] if round_number == 1 else [state],
            "team_id": "t1",
            "team_name": "Alpha",
            "execution_id": "e1",
            "ranking": RANKING,
        }
        | changes
    )


def team_prompt(workspace: Path, text: str, round_number: int) -> str:
    write(workspace, text)
    made = UserPromptBuilder(workspace, clock=lambda: NOW, environ={})
    return asyncio.run(made.build_team_prompt(context(round_number)))


def only(team: str) -> str:
    """A file whose team template is this one."""
    rest = MINIMAL.partition('"""\n\nevaluator')[2]
    return f'[prompt_builder]\nteam_user_prompt = """\n{team}\n"""\n\nevaluator{rest}'


# --- ファイル配置 -------------------------------------------------------------------------


def test_placement_init_writes_the_file_where_mixseek_looks(command: Command, tmp_path: Path) -> None:
    assert command("init", tmp_path).code == 0
    path = tmp_path / "configs" / "prompt_builder.toml"
    documents_own_check(path.read_bytes())


@pytest.mark.parametrize("named", [True, False])
def test_placement_check_finds_the_file_of_a_workspace(
    command: Command, workspace: Path, monkeypatch: pytest.MonkeyPatch, named: bool
) -> None:
    path = write(workspace, MINIMAL.replace("user_prompt }}", "user_promt }}"))
    monkeypatch.setenv("MIXSEEK_WORKSPACE", "" if named else str(workspace))
    outcome = command("check", *([workspace] if named else []))
    assert (outcome.code, outcome.out.partition(": ")[0]) == (1, f"{path}:4:4")


def test_placement_render_falls_back_to_the_environment(
    command: Command, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(workspace, MINIMAL)
    given = '{"user_query": "課題", "submission": "提出"}'
    assert command("render", "evaluator", "-c", "-", stdin=given).code == 2
    monkeypatch.setenv("MIXSEEK_WORKSPACE", str(workspace))
    assert command("render", "evaluator", "-c", "-", stdin=given).out == "# 評価対象\n提出"


def test_placement_orchestrators_prompt_builder_config_wins(command: Command, workspace: Path) -> None:
    write(workspace, MINIMAL)
    (workspace / "configs" / "orchestrator.toml").write_text(
        '[orchestrator]\nprompt_builder_config = "mine.toml"\n'
    )
    (workspace / "mine.toml").write_text("[prompt_builder]\nteam_user_prompt = 'mine'\n")
    assert builder.load_settings(workspace).team_user_prompt == "mine"
    assert f"{workspace / 'mine.toml'}:1: error: Missing required field" in command("check", workspace).out


# --- 必須フィールド, 利用可能変数 ---------------------------------------------------------


def test_fields_are_the_three_of_the_table() -> None:
    assert tuple(builder.PromptBuilderSettings.model_fields) == FIELDS
    assert [f"{kind}_user_prompt" for kind in builder.VARIABLES] == [*FIELDS]


ROUND_VARIABLES = [
    ("user_prompt", "string", "元のユーザプロンプト"),
    ("round_number", "int", "現在のラウンド番号（1始まり）"),
    ("submission_history", "string", "過去のSubmission履歴（整形済み文字列）"),
    ("ranking_table", "string", "リーダーボード情報（整形済み文字列）"),
    ("team_position_message", "string", "チーム順位メッセージ"),
    ("current_datetime", "string", "現在日時（ISO 8601形式、タイムゾーン付き）"),
]
EVALUATOR_VARIABLES = [
    ("user_prompt", "string", "元のユーザプロンプト"),
    ("submission", "string", "評価対象のエージェント提出内容"),
    ("current_datetime", "string", "現在日時（ISO 8601形式、タイムゾーン付き）"),
]


@pytest.mark.parametrize(
    ("kind", "table"),
    [("team", ROUND_VARIABLES), ("judgment", ROUND_VARIABLES), ("evaluator", EVALUATOR_VARIABLES)],
)
def test_variables_are_those_of_the_table_and_no_others(
    kind: builder.PromptKind, table: list[tuple[str, str, str]]
) -> None:
    known = [(each.name, each.type, each.description.ja) for each in builder.VARIABLES[kind]]
    assert known == table


@pytest.mark.parametrize(("kind", "table"), [("team", ROUND_VARIABLES), ("judgment", ROUND_VARIABLES)])
def test_variables_can_all_be_used(workspace: Path, kind: str, table: list[tuple[str, str, str]]) -> None:
    names = [name for name, _, _ in table]
    text = "\n".join(f"{{{{ {name} }}}}" for name in names)
    write(workspace, f"[prompt_builder]\n{kind}_user_prompt = '''\n{text}'''\n")
    made = UserPromptBuilder(workspace, clock=lambda: NOW, environ={})
    built = asyncio.run(getattr(made, f"build_{kind}_prompt")(context(2)))
    assert built == "\n".join(["課題", "2", HISTORY, TABLE, FIRST, STAMP])


# --- Jinja2構文ルール ---------------------------------------------------------------------

BRANCHES = """{% if round_number == 1 %}
ラウンド1の指示
{% elif round_number == 2 %}
ラウンド2の指示
{% else %}
それ以降の指示
{% endif %}"""


def test_syntax_variables_are_expanded(workspace: Path) -> None:
    text = "{{ user_prompt }}\n{{ round_number }}"
    assert team_prompt(workspace, only(text), 3) == "課題\n3"


@pytest.mark.parametrize(
    ("number", "branch"), [(1, "ラウンド1の指示\n"), (2, "ラウンド2の指示\n"), (3, "それ以降の指示\n")]
)
def test_syntax_each_round_has_its_branch(workspace: Path, number: int, branch: str) -> None:
    assert team_prompt(workspace, only(BRANCHES), number) == branch


def test_syntax_comments_are_not_printed(workspace: Path) -> None:
    assert team_prompt(workspace, only("a{# これはコメントです。出力されません #}b"), 1) == "ab"


def test_syntax_dashes_strip_the_space_on_both_sides(workspace: Path) -> None:
    text = "a \n{%- if round_number -%}  {# 前後の空白を除去 #}\n内容\n{%- endif -%}\n b"
    assert team_prompt(workspace, only(text), 1) == "a内容b"


# --- 設定例 -------------------------------------------------------------------------------


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_are_without_errors(command: Command, workspace: Path, example: str) -> None:
    text = EXAMPLES[example]
    assert [each for each in said(text) if each.startswith("error")] == []
    path = write(workspace, text)
    assert command("check", path).code == 0
    documents_own_check(path.read_bytes())


@pytest.mark.parametrize("number", [1, 2, 3])
def test_example_minimal_shows_the_task(workspace: Path, number: int) -> None:
    assert team_prompt(workspace, MINIMAL, number) == "# タスク\n課題"


PHASES = {
    1: "## 初期調査フェーズ\n- 広範な情報収集を行ってください\n- 主要な情報源を特定してください\n",
    2: (
        "## 深掘りフェーズ\n- 前回の結果を分析してください\n- 不足している情報を補完してください\n\n"
        f"### 前回の提出\n{HISTORY}\n"
    ),
    3: (
        "## 最終統合フェーズ\n- すべての情報を統合してください\n- 最終的な回答を作成してください\n\n"
        f"### これまでの提出履歴\n{HISTORY}\n"
    ),
}


@pytest.mark.parametrize("number", PHASES)
def test_example_by_round_has_a_phase_for_each(workspace: Path, number: int) -> None:
    assert team_prompt(workspace, BY_ROUND, number) == (
        f"---\n現在日時: {STAMP}\n---\n\n# ユーザタスク\n課題\n\n# ラウンド {number}\n\n{PHASES[number]}"
    )


@pytest.mark.parametrize("number", [1, 2, 3])
def test_example_competition_shows_the_leaderboard(workspace: Path, number: int) -> None:
    place, table = ("", "") if number == 1 else (FIRST, TABLE)
    past = f"## 過去の提出\n{HISTORY}\n\n上位チームの戦略を参考に、より良い回答を目指してください。\n"
    assert team_prompt(workspace, COMPETITION, number) == (
        f"# 競合タスク\n課題\n\n## ラウンド情報\n- 現在のラウンド: {number}\n- {place}\n\n"
        f"## リーダーボード\n{table}\n\n{'' if number == 1 else past}"
    )


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_show_the_evaluator_the_submission(workspace: Path, example: str) -> None:
    write(workspace, EXAMPLES[example])
    made = UserPromptBuilder(workspace, clock=lambda: NOW, environ={})
    given = EvaluatorPromptContext(user_query="課題", submission="提出された内容")
    assert "提出された内容" in made.build_evaluator_prompt(given)


# --- バリデーションルール -----------------------------------------------------------------


@pytest.mark.parametrize("field", FIELDS)
def test_rule_1_each_field_is_required(field: str) -> None:
    assert f"error: Missing required field: {field}" in said(MINIMAL.replace(field, "other"))


def test_rule_1_an_empty_file_lacks_all_three() -> None:
    assert said("") == [f"error: Missing required field: {field}" for field in FIELDS]


def test_rule_1_a_field_is_a_string() -> None:
    assert said("[prompt_builder]\nteam_user_prompt = 5\n") == [
        "error: team_user_prompt must be a string, but is a TOML integer"
    ]


def test_rule_2_templates_are_valid_jinja2() -> None:
    assert any(each.startswith("error: ") for each in said(only("{% if round_number %}\n{{ user_prompt }}")))


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("user_prompt }}", "unknown_variable }}", "`unknown_variable` is not a variable of this template."),
        (
            "submission }}",
            "ranking_table }}",
            "`ranking_table` is a variable of the team template, not of this one.",
        ),
        (
            "user_prompt }}",
            "submission }}",
            "`submission` is a variable of the evaluator template, not of this one.",
        ),
    ],
)
def test_rule_3_only_a_templates_own_variables(old: str, new: str, sentence: str) -> None:
    assert said(MINIMAL.replace(old, new)) == [f"error: {sentence}"]


def test_rule_4_a_single_line_is_a_hint() -> None:
    text = MINIMAL.replace('"""\n# タスク\n{{ user_prompt }}\n"""', "'{{ user_prompt }}'")
    assert [each.partition(":")[0] for each in said(text)] == ["hint"]


def test_rule_4_line_breaks_in_a_string_of_one_line_are_a_warning() -> None:
    text = MINIMAL.replace('"""\n# タスク\n{{ user_prompt }}\n"""', '"# タスク\\n{{ user_prompt }}\\n"')
    assert said(text) == ["warning: team_user_prompt has line breaks but is written as a string of one line"]
    (problem,) = check_file(text.encode(), "f.toml")
    assert (problem.line, problem.advice()) == (
        2,
        'Write it between triple quotes ("""), each line on its own.',
    )


def test_rule_4_what_is_written_here_has_triple_quotes(command: Command, tmp_path: Path) -> None:
    command("init", tmp_path)
    text = (tmp_path / "configs" / "prompt_builder.toml").read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if line.startswith(FIELDS)] == [
        f'{field} = """' for field in FIELDS
    ]


# --- edges --------------------------------------------------------------------------------


def test_edge_line_ends_of_windows_render_the_same(workspace: Path) -> None:
    with_crlf = team_prompt(workspace, BY_ROUND.replace("\n", "\r\n"), 2)
    assert with_crlf == team_prompt(workspace, BY_ROUND, 2)


def test_edge_a_byte_order_mark_is_refused_with_a_sentence() -> None:
    assert said("\ufeff" + MINIMAL) == [
        "error: the file begins with a byte order mark (BOM), which MixSeek cannot read"
    ]
