"""What costs a cache, where, how much, and the order that would be better."""

import pytest

from builder.cache.cacheable_prefix import Level, PrefixAnalysis, against_minimum
from builder.cache.lints import analyse
from builder.jail import JailPool
from builder.problems import Problem, errors_in
from builder.template.check import check
from builder.template.defaults import DEFAULT_TEMPLATES
from builder.template.dialect import CONTRACT, MIXSEEK, Dialect
from builder.template.variables import KINDS, PromptKind, sample_values

VALUES = sample_values("team") | {
    "user_prompt": "売上を分析🏆",
    "ranking_table": "#1 Alpha",
    "submission_history": "初回",
}

CALL_FIRST = """\
Now: {{ current_datetime }}

# 規則
丁寧に。🏆

# Task
{{ user_prompt }}
"""
ROUND_FIRST = "# Round\n{{ round_number }}\n\n# Task\n{{ user_prompt }}\n\n# Rules\nBe exact.\n"
HISTORY_LATE = """\
{{ user_prompt }}

# Board
{{ ranking_table }}

# Before
{{ submission_history }}

{{ current_datetime }}
"""
IF_FIRST = """\
{{ user_prompt }}

{% if round_number > 1 %}
# Later

{{ ranking_table }}
{% endif %}

# 規則
同じ文。
"""


def counted(text: str, dialect: Dialect, minimum: int | None) -> PrefixAnalysis:
    analysis = analyse("team", text, VALUES, dialect, minimum=minimum is not None)
    return against_minimum(analysis, minimum)


def lints(text: str, dialect: Dialect = MIXSEEK, minimum: int | None = None) -> dict[str, Problem]:
    found = counted(text, dialect, minimum).lints
    assert len({lint.code for lint in found}) == len(found)
    assert [lint.line for lint in found] == sorted(lint.line for lint in found)
    return {lint.code: lint for lint in found}


def analysis(text: str, dialect: Dialect = MIXSEEK) -> PrefixAnalysis:
    return analyse("team", text, VALUES, dialect)


def grown(text: str, suggestion: str | None, level: Level) -> int:
    assert suggestion is not None
    return analysis(suggestion).prefix(level).bytes - analysis(text).prefix(level).bytes


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dialect", [CONTRACT, MIXSEEK])
def test_default_templates_have_nothing_to_mend(kind: PromptKind, dialect: Dialect) -> None:
    assert analyse(kind, DEFAULT_TEMPLATES[kind], sample_values(kind), dialect).lints == ()


def test_a_value_of_the_call_before_static_text_is_moved_to_the_end() -> None:
    lint = lints(CALL_FIRST)["C001"]
    assert (lint.line, lint.params) == (1, {"name": "current_datetime"})
    assert lint.replacement == (
        "# 規則\n丁寧に。🏆\n\n# Task\n{{ user_prompt }}\n\nNow: {{ current_datetime }}\n"
    )
    assert (
        lint.bytes_lost
        == grown(CALL_FIRST, lint.replacement, 2)
        == len("# 規則\n丁寧に。🏆\n\n# Task\n売上を分析🏆\n\n".encode())
    )
    assert lint.text().startswith("`current_datetime` changes with every call")
    assert lint.advice("ja") == "テンプレートの末尾に移してください。"


def test_a_value_of_the_round_before_one_of_the_task_is_moved_behind_it() -> None:
    lint = lints(ROUND_FIRST)["C002"]
    assert (lint.line, lint.params) == (2, {"name": "round_number", "later": "user_prompt"})
    assert (
        lint.replacement == "# Rules\nBe exact.\n\n# Task\n{{ user_prompt }}\n\n# Round\n{{ round_number }}\n"
    )
    assert lint.bytes_lost == grown(ROUND_FIRST, lint.replacement, 1) > 0


def test_history_is_moved_before_the_other_values_of_the_round() -> None:
    lint = lints(HISTORY_LATE)["C003"]
    assert (lint.line, lint.params["name"]) == (7, "ranking_table")
    assert lint.replacement == (
        "{{ user_prompt }}\n\n# Before\n{{ submission_history }}\n\n"
        "# Board\n{{ ranking_table }}\n\n{{ current_datetime }}\n"
    )
    # The next round begins with all that stands before the ranking.
    assert lint.bytes_lost == len("# Before\n初回\n\n".encode())


def test_an_order_that_leaves_the_history_where_it_is_is_not_suggested_for_it() -> None:
    found = lints(
        "{{ current_datetime }}\n\n# Task\n{{ user_prompt }}\n{{ ranking_table }}\n{{ submission_history }}\n"
    )
    assert found["C001"].replacement is not None
    assert found["C003"].replacement is None
    assert found["C003"].bytes_lost == len("初回".encode())


@pytest.mark.parametrize("dialect", [CONTRACT, MIXSEEK])
def test_static_text_is_moved_before_a_volatile_if(dialect: Dialect) -> None:
    lint = lints(IF_FIRST, dialect)["C004"]
    assert (lint.line, lint.params) == (3, {"name": "round_number"})
    assert lint.replacement == (
        "# 規則\n同じ文。\n\n{{ user_prompt }}\n\n"
        "{% if round_number > 1 %}\n# Later\n\n{{ ranking_table }}\n{% endif %}\n"
    )
    assert lint.bytes_lost == len("# 規則\n同じ文。\n\n".encode())


def test_a_whole_time_is_cut_to_its_date() -> None:
    lint = lints(
        "{{ user_prompt }} at {{ current_datetime }}\n\n{{ ranking_table }}: {{ current_datetime ~ '!' }}\n"
    )["C005"]
    assert lint.replacement == (
        "{{ user_prompt }} at {{ current_datetime[:10] }}\n\n"
        "{{ ranking_table }}: {{ current_datetime[:10] ~ '!' }}\n"
    )
    assert not errors_in(check("team", lint.replacement))
    assert lint.bytes_lost == len(f"\n\n#1 Alpha: {VALUES['current_datetime']}!")
    assert "C005" not in lints(lint.replacement)


def test_a_short_prefix_is_named_where_a_minimum_is_given() -> None:
    lint = lints(CALL_FIRST, minimum=1024)["C006"]
    assert (lint.line, lint.params["minimum"]) == (1, 1024)
    assert lint.replacement == lints(CALL_FIRST)["C001"].replacement
    assert lint.bytes_lost == grown(CALL_FIRST, lint.replacement, 1)
    assert lint.text("ja").startswith("タスク中に変わらない部分：3トークン。")
    assert "C006" not in lints(CALL_FIRST)
    assert "C006" not in lints(CALL_FIRST, minimum=3)
    assert "C006" in lints(CALL_FIRST, minimum=4)
    assert lints("a {{ user_prompt }}", minimum=1024)["C006"].replacement is None


@pytest.mark.parametrize(("text", "name"), [("a {{ x }} bc", "x"), ("a {{ ['b']|random }} bc", "random")])
def test_what_nobody_can_foresee_is_named(text: str, name: str) -> None:
    found = analyse("team", text, {"x": "b"}, MIXSEEK).lints
    assert [(lint.code, lint.params, lint.bytes_lost, lint.replacement) for lint in found] == [
        ("C007", {"name": name}, 4, None)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "a\n\n{{ user_prompt }}\n\n{{ submission_history }}\n\n{{ ranking_table }}\n\n{{ current_datetime }}",
        "a {{ user_prompt }}\n\n{% if user_prompt %}\nb\n{% endif %}\n\nstatic\n",
        "{{ user_prompt }} in round {{ round_number }}, at {{ current_datetime[:10] }}\n",
        "{{ user_prompt }}\n\n{{ round_number }} is the round.\n---\n",
        "{% set now = current_datetime %}\nstatic\n\n{{ user_prompt }}\n\n{{ now }}\n",
    ],
)
def test_well_ordered_templates_have_no_lints(text: str) -> None:
    assert lints(text) == {}


def test_text_of_one_paragraph_is_not_torn_apart() -> None:
    lint = lints("At {{ current_datetime[:10] }}:\nrule one\nrule two\n")["C001"]
    assert (lint.replacement, lint.bytes_lost) == (None, len("rule one\nrule two\n"))


def test_names_stay_behind_what_binds_them() -> None:
    text = (
        "{% set who = 'あなた' %}\n{{ current_datetime }}\n\n{% set who = who ~ round_number %}\n{{ who }}"
        "\n\n{{ who }} へ\n\n{% macro m() %}{{ who }}{% endmacro %}\n\n{{ m() }}: {{ user_prompt }}"
        "\n\nstatic\n"
    )
    suggestion = lints(text)["C001"].replacement
    assert suggestion is not None
    assert sorted(filter(None, suggestion.split("\n"))) == sorted(filter(None, text.split("\n")))
    bound = suggestion.index("{% set who = who ~")
    assert suggestion.index("{% set who = 'あなた'") < bound < suggestion.index("{{ who }} へ")
    assert bound < suggestion.index("{{ m() }}")
    assert suggestion.index("static") < suggestion.index("{{ current_datetime }}")


def test_blocks_comments_and_raw_text_stay_in_one_piece() -> None:
    block = (
        "{% for i in range(2) %}\n\n# in\n\n{{ i }}{{ round_number }}\n{% endfor %}\n"
        "{# a\n\n# b #}\n{% raw %}\n\n# {{ c }}\n{% endraw %}"
    )
    setting = "{% set s|trim %}\n\nx\n{% endset %}"
    text = f"{{{{ current_datetime }}}}\n\n{block}\n\n{setting}\n\n# Static\n\nyes\n"
    suggestion = lints(text)["C001"].replacement
    assert suggestion is not None
    assert block in suggestion
    assert (
        suggestion.index("# Static\n\nyes")
        < suggestion.index(block)
        < suggestion.index("{{ current_datetime }}")
    )


def test_whitespace_control_holds_its_neighbours_together() -> None:
    assert (
        lints("{{ current_datetime }}\n\n{%- if user_prompt %}a{% endif -%}\n\nstatic\n")["C001"].replacement
        is None
    )


def test_line_ends_stay_as_they_were_typed() -> None:
    suggestion = lints(CALL_FIRST.replace("\n", "\r\n"))["C001"].replacement
    assert suggestion is not None
    assert suggestion.replace("\r\n", "\n") == lints(CALL_FIRST)["C001"].replacement
    assert suggestion.count("\r\n") == suggestion.count("\n")


def test_a_suggestion_has_nothing_left_to_reorder() -> None:
    for text in (CALL_FIRST, ROUND_FIRST, HISTORY_LATE, IF_FIRST):
        for lint in lints(text).values():
            if lint.code < "C005" and lint.replacement is not None:
                assert not {"C001", "C002", "C003", "C004"} & set(lints(lint.replacement))


@pytest.mark.slow
def test_the_jail_gives_the_same_lints() -> None:
    with JailPool(size=1, spares=0, batch_size=1) as pool:
        for text in (CALL_FIRST, ROUND_FIRST, HISTORY_LATE, IF_FIRST):
            for minimum in (None, 1024):
                assert pool.cacheable_prefixes(
                    "team", text, VALUES, MIXSEEK, minimum_tokens=minimum
                ) == counted(text, MIXSEEK, minimum)
