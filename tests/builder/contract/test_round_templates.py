"""Round prompts from a workspace's own templates: what they may use, and what they become."""

from pathlib import Path

import jinja2
import pytest

from builder.contract.round_prompt import PlainTextPromptBuilder, RoundPromptConfig, build_prompt
from builder.contract.round_templates import (
    TEMPLATE_FILES,
    Jinja2PromptBuilder,
    RoundTemplate,
    check_round_template,
)
from builder.errors import PromptFileRefused, TemplateFailure, UndefinedFailure
from builder.template.round_filters import setup_jinja2_environment
from tests.builder.round_records import context

DOCUMENTS = """ユーザのクエリに対して、継続的に改善した回答を提供してください。

元のクエリ:
{{ user_query }}

これまでのあなたのSubmission履歴と評価結果:
{% for record in submission_history %}
ラウンド {{ record.round_number }}:
- Submission: {{ record.content[:200] }}...
- スコア: {{ record.score }}/100
- フィードバック: {{ record.feedback }}

{% endfor %}

チーム全体のランキング:
全チーム最高スコアランキング:
{% for ranking in leaderboard_ranking[:10] %}
  {{ ranking.rank }}位: {{ ranking.team_name }} (スコア: {{ ranking.best_score }}/100)
  {% if ranking.team_id == team_id %}← あなたのチーム{% endif %}
{% endfor %}

あなたのチームの現在順位: {{ current_team_rank }}位
"""
"""The documents' example."""

ALL = """{{ user_query }} {{ round_number + 1 }} {{ team_id }} {{ team_name }} {{ current_team_rank }}
{% for result in evaluation_feedback %}
{{ result.overall_score|format_score }} {{ result.feedback_summary|summarize(3) }}
{% for name, score in result.metrics|items %}{{ name }}={{ score }} {% endfor %}

{% endfor %}
{{ (submission_history|last).content|summarize(max_len=2) }} {{ submission_history[-1].score }}
{{ leaderboard_ranking[current_team_rank - 1]['team_name'] }}
{% for entry in leaderboard_ranking[:4] %}{{ entry.rank|medal }}{% endfor %}
"""


def folder_of(path: Path, **templates: str) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    for name, text in templates.items():
        (path / f"{name}_prompt.jinja2").write_text(text, encoding="utf-8")
    return path


def build(path: Path, text: str, metadata: dict[str, str] | None = None) -> str:
    builder = Jinja2PromptBuilder(folder_of(path, continuation=text))
    return build_prompt(context(3, query="質問"), builder, metadata)


def found(text: str, template: RoundTemplate = "continuation") -> list[tuple[int, str, str]]:
    problems = check_round_template(template, text)
    return [(problem.line, problem.message, problem.suggestion) for problem in problems]


def test_the_documents_example_passes_and_renders(tmp_path: Path) -> None:
    assert found(DOCUMENTS) == []
    head, tail = build(tmp_path, DOCUMENTS).split("  3位")
    assert (
        head
        == f"""ユーザのクエリに対して、継続的に改善した回答を提供してください。

元のクエリ:
質問

これまでのあなたのSubmission履歴と評価結果:
ラウンド 1:
- Submission: 最初の回答...
- スコア: 60.0/100
- フィードバック: 根拠が足りません

ラウンド 2:
- Submission: {"い" * 200}...
- スコア: 72.46/100
- フィードバック: 構成は良い
例を増やすこと


チーム全体のランキング:
全チーム最高スコアランキング:
  1位: Team 1 (スコア: 87.5/100)
  2位: Team 2 (スコア: 85.0/100)
← あなたのチーム"""
    )
    assert tail.endswith("  10位: Team 10 (スコア: 65.0/100)\n\nあなたのチームの現在順位: 2位")


def test_every_variable_field_and_filter_can_be_used(tmp_path: Path) -> None:
    assert found(ALL) == []
    assert (
        build(tmp_path, ALL)
        == """質問 4 team-002 team-002 2
60.0/100 根拠が...
clarity=65.0 coverage=55.0 
72.5/100 構成は...
clarity=77.46 coverage=67.46 
いい... 72.46
Team 2
🥇🥈🥉4"""
    )


def test_the_teams_name_comes_from_the_metadata(tmp_path: Path) -> None:
    assert build(tmp_path, "{{ team_name }}\n", {"team_name": "青組"}) == "青組"
    assert build(tmp_path, "{{ team_name }}\n", {"team_name": " "}) == "team-002"
    initial = Jinja2PromptBuilder(
        folder_of(tmp_path / "first", initial="{{ team_name }}: {{ user_query }}\n")
    )
    assert initial.build_initial_prompt("質問", "team-002", {"team_name": "青組"}) == "青組: 質問"
    assert initial.build_initial_prompt("質問", "team-002") == "team-002: 質問"


def test_each_missing_template_falls_back_by_itself(tmp_path: Path) -> None:
    plain = PlainTextPromptBuilder()
    first, later = context(1), context(3)
    for number, (templates, expected) in enumerate(
        [
            ({}, [build_prompt(first, plain), build_prompt(later, plain)]),
            ({"initial": "一"}, ["一", build_prompt(later, plain)]),
            ({"continuation": "二"}, [build_prompt(first, plain), "二"]),
            ({"initial": "一", "continuation": "二"}, ["一", "二"]),
        ]
    ):
        workspace = tmp_path / str(number)
        folder_of(workspace / "configs" / "prompt_templates", **templates)
        builder = Jinja2PromptBuilder.for_workspace(workspace)
        assert [build_prompt(first, builder), build_prompt(later, builder)] == expected
    nowhere = Jinja2PromptBuilder.for_workspace(tmp_path / "nowhere")
    assert build_prompt(later, nowhere) == build_prompt(later, plain)


def test_config_limits_what_a_template_is_given(tmp_path: Path) -> None:
    text = "{{ submission_history|length }} {{ submission_history[0].round_number }}\n"
    text += "{{ evaluation_feedback|length }} {{ evaluation_feedback[0].overall_score }}\n"
    text += "{{ leaderboard_ranking|length }}\n"
    config = RoundPromptConfig(max_submission_history_items=1, max_leaderboard_display_teams=2)
    builder = Jinja2PromptBuilder(folder_of(tmp_path, continuation=text), config)
    assert build_prompt(context(3), builder) == "1 2\n1 72.46\n2"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "一\n{{ user_qery }}",
            (
                2,
                "`user_qery` is not a variable of this template. Did you mean `user_query`?",
                "Write `user_query`.",
            ),
        ),
        (
            "{% for r in submission_history[1:] %}\n{{ r.contant }}\n{% endfor %}",
            (
                2,
                "`contant` is not a field of `SubmissionRecord`. Did you mean `content`?",
                "Write `content`.",
            ),
        ),
        (
            "{{ (leaderboard_ranking|first)['model_config'] }}",
            (
                1,
                "`model_config` is not a field of `LeaderboardEntry`.",
                "It has: best_score, rank, team_id, team_name.",
            ),
        ),
        (
            "{{ submission_history.content }}",
            (
                1,
                "`submission_history` is a list and has no field `content`.",
                "Loop over it: `{% for item in submission_history %}{{ item.content }}{% endfor %}`.",
            ),
        ),
        (
            "{% set last = evaluation_feedback[round_number - 2] %}\n{{ last.scores }}",
            (
                2,
                "`scores` is not a field of `EvaluationResult`. Did you mean `overall_score`?",
                "Write `overall_score`.",
            ),
        ),
        (
            "{{ team_id|medals }}",
            (1, "There is no filter `medals`. Did you mean `medal`?", "Write `medal`."),
        ),
        (
            "{{ team_id.rank }}",
            (1, "`team_id` is a plain value and has no part `rank`.", "Write `{{ team_id }}`."),
        ),
        (
            "\n",
            (
                1,
                "The template is empty.",
                "Write at least {{ user_query }}, or delete the file: then the built-in text is used.",
            ),
        ),
    ],
)
def test_a_problem_names_its_line_and_what_to_write(text: str, problem: tuple[int, str, str]) -> None:
    assert found(text) == [problem]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        # One name for two lists: each loop knows its own.
        ("{% for x in submission_history %}{{ x.content }}{% endfor %}"
         "{% for x in leaderboard_ranking %}{{ x.content }}{% endfor %}", ["LeaderboardEntry"]),
        ("{% for x in submission_history %}{{ loop.index }}{% if not loop.first %}"
         "{{ loop.previtem.score }}{{ loop.previtem.rank }}{% endif %}{% endfor %}", ["SubmissionRecord"]),
        ("{% if round_number > 2 %}{% set x = submission_history[0] %}{% else %}"
         "{% set x = submission_history[1:]|last %}{% endif %}{{ x.content }}{{ x.rank }}",
         ["SubmissionRecord"]),
        ("{% if round_number > 2 %}{% set x = submission_history[0] %}{% else %}"
         "{% set x = leaderboard_ranking[0] %}{% endif %}{{ x.content }}{{ x.rank }}", []),
        ("{% with x = evaluation_feedback|reverse|list %}{{ x[0].metrics.clarity }}{{ x[0].score }}"
         "{% endwith %}",
         ["EvaluationResult"]),
        ("{% for x in submission_history if x.score > 50 and x.best_score %}{% else %}{{ team_id }}"
         "{% endfor %}",
         ["SubmissionRecord"]),
        ("{% for x in submission_history %}{% endfor %}{% macro m(x) %}{{ x.rank }}{% endmacro %}"
         "{{ m(leaderboard_ranking[0]) }}{{ m(submission_history[0].rank) }}", ["SubmissionRecord"]),
        ("{% set ns = namespace(best=0) %}{% for x in submission_history %}{% if x.score > ns.best %}"
         "{% set ns.best = x.score %}{% endif %}{% endfor %}{{ ns.best }}", []),
        ("{{ (submission_history[0] if round_number > 2 else submission_history[-1]).rank }}",
         ["SubmissionRecord"]),
        ("{% for name, score in evaluation_feedback[0].metrics|items %}{{ name.upper() }}{% endfor %}", []),
    ],
)  # fmt: skip
def test_fields_are_followed_through_loops_branches_and_names(text: str, wrong: list[str]) -> None:
    problems = check_round_template("continuation", text)
    assert [problem.params.get("record") for problem in problems] == wrong


def test_the_first_round_has_no_history() -> None:
    [(line, text, _)] = found("一\n{{ round_number }}", "initial")
    assert (line, text) == (2, "`round_number` is a variable of the team template, not of this one.")


@pytest.mark.parametrize(
    "expression",
    [
        "submission_history[0].__class__",
        "submission_history[0].model_dump()",
        "submission_history[0].model_copy",
        "submission_history[0]['__dict__']",
        "submission_history.append(1)",
        "submission_history[0].content.format(submission_history[0])",
        "submission_history|map(attribute='__class__')|list",
        "(submission_history|first)|attr('model_fields')",
        "self.__init__",
        "cycler.__init__",
        "evaluation_feedback[0].metrics.update({})",
        "evaluation_feedback[0].metrics.pop('clarity')",
    ],
)
def test_a_record_opens_nothing_beyond_its_fields(expression: str, tmp_path: Path) -> None:
    text = f"一\n{{{{ {expression} }}}}"
    with pytest.raises(TemplateFailure) as raised:
        build(tmp_path, text)
    assert raised.value.line == 2
    assert str(raised.value).startswith("continuation_prompt.jinja2, line 2: ")


@pytest.mark.parametrize("field", ["model_dump", "model_config", "copy", "json", "dict", "count", "index"])
def test_what_the_text_does_not_tell_is_refused_when_it_runs(field: str, tmp_path: Path) -> None:
    # What a macro is given is not followed, so the check lets most of these pass.
    macro = f"{{% macro show(record) %}}{{{{ record.{field} }}}}{{% endmacro %}}"
    text = f"{macro}\n{{{{ show(submission_history[0]) }}}}"
    with pytest.raises(TemplateFailure):
        build(tmp_path, text)


def test_a_failure_while_rendering_names_file_and_line(tmp_path: Path) -> None:
    with pytest.raises(UndefinedFailure) as raised:
        build(tmp_path, "一\n{{ submission_history[7].content }}")
    assert raised.value.line == 2
    assert raised.value.text("ja").startswith("continuation_prompt.jinja2 2行目：")


def test_a_failure_speaks_japanese_and_says_what_to_write(tmp_path: Path) -> None:
    with pytest.raises(TemplateFailure) as raised:
        build(tmp_path, "{{ user_qery }}")
    assert raised.value.text("ja") == (
        "continuation_prompt.jinja2 1行目：`user_qery` はこのテンプレートの変数ではありません。"
        "`user_query` のことですか？"
    )
    assert raised.value.advice("ja") == "`user_query` と書いてください。"
    assert raised.value.advice() == "Write `user_query`."


def test_a_template_that_leads_out_of_the_workspace_is_not_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("秘密", encoding="utf-8")
    folder = folder_of(tmp_path / "workspace" / "configs" / "prompt_templates")
    (folder / TEMPLATE_FILES["initial"]).symlink_to(secret)
    for make in (Jinja2PromptBuilder, lambda _: Jinja2PromptBuilder.for_workspace(tmp_path / "workspace")):
        with pytest.raises(PromptFileRefused):
            make(folder)


def test_a_template_beyond_all_bounds_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TemplateFailure, match="has more than 65536 characters"):
        build(tmp_path, "あ" * 65_536 * 2)


def test_filters_are_the_documents() -> None:
    env = jinja2.Environment()
    setup_jinja2_environment(env)
    text = "{{ 72.46|format_score }} {{ 'あいう'|summarize(2) }} {{ 'あい'|summarize(2) }}"
    text += " {{ 1|medal }}{{ 4|medal }}"
    assert env.from_string(text).render() == "72.5/100 あい... あい 🥇4"
