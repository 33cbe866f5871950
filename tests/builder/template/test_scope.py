import pytest

from builder.problems import Problem, errors_in
from builder.template.check import check
from builder.template.nearest import nearest
from builder.template.variables import PromptKind


def errors(template: str, kind: PromptKind = "team") -> list[Problem]:
    return errors_in(check(kind, template))


def the_error(template: str, kind: PromptKind = "team") -> Problem:
    found = errors(template, kind)
    assert len(found) == 1, found
    return found[0]


def test_unknown_variable_reports_its_line_and_column_and_what_was_meant() -> None:
    found = the_error("# user_promt\n\n\nuser_promt: {{ user_prompt }} {{ user_promt }}\n")
    assert found.message == ("`user_promt` is not a variable of this template. Did you mean `user_prompt`?")
    assert found.suggestion == "Write `user_prompt`."
    assert found.text("ja") == (
        "`user_promt` はこのテンプレートの変数ではありません。`user_prompt` のことですか？"
    )
    assert (found.line, found.column, found.replaces, found.replacement) == (
        4,
        34,
        "user_promt",
        "user_prompt",
    )


def test_unknown_variable_without_a_neighbour_lists_what_there_is() -> None:
    found = the_error("\n{{ zzz }}", "evaluator")
    assert found.message == "`zzz` is not a variable of this template."
    assert found.suggestion == "It has: current_datetime, submission, user_prompt."


def test_variable_of_another_template_is_named_as_such() -> None:
    found = the_error("\n{{ submission }}", "team")
    assert found.message == "`submission` is a variable of the evaluator template, not of this one."
    found = the_error("\n{{ ranking_table }}", "evaluator")
    assert found.message == "`ranking_table` is a variable of the team template, not of this one."


@pytest.mark.parametrize(
    "template",
    [
        "{% if round_number > 1 %}{{ nope }}{% endif %}",
        "{% if round_number > 1 %}{% else %}{{ nope }}{% endif %}",
        "{% if nope %}{% endif %}",
        "{% if 1 %}{% elif nope %}{% endif %}",
        "{{ 'a' if round_number > 1 else nope }}",
        "{{ false and nope }}",
        "{% for i in [] %}{{ nope }}{% endfor %}",
        "{% for i in 'a' %}{% else %}{{ nope }}{% endfor %}",
        "{% for i in nope %}{% endfor %}",
        "{% for i in 'a' if nope %}{% endfor %}",
        "{% macro m() %}{{ nope }}{% endmacro %}",
        "{% macro m(a=nope) %}{% endmacro %}",
        "{% set x = nope %}",
        "{% set x %}{{ nope }}{% endset %}",
        "{% with x = nope %}{% endwith %}",
        "{% filter replace('a', nope) %}{% endfilter %}",
        "{{ user_prompt|replace('a', nope) }}",
        "{{ user_prompt[nope:] }}",
        "{{ {'a': [nope]} }}",
        "{{ nope|default('') }}",
        "{{ nope is defined }}",
        "{{ nope is string }}",
        "{{ nope|upper }}",
        "{{ nope.name }}",
        "{{ user_prompt is divisibleby(nope) }}",
        "{% macro m() %}{{ caller() }}{% endmacro %}{% call m() %}{{ nope }}{% endcall %}",
    ],
)
def test_unknown_variable_is_found_in_every_branch(template: str) -> None:
    assert [problem.params["name"] for problem in errors(f"\n{template}")] == ["nope"]


@pytest.mark.parametrize(
    "template",
    [
        "{% set x = 1 %}{{ x }}",
        "{% if round_number %}{% set x = 1 %}{% else %}{% set x = 2 %}{% endif %}{{ x }}",
        "{% if 1 %}{% set x = 1 %}{% elif 2 %}{% set x = 1 %}{% else %}{% set x = 2 %}{% endif %}{{ x }}",
        "{% set x = 1 %}{% for i in 'a' %}{% set x = x + 1 %}{{ x }}{% endfor %}{{ x }}",
        "{% for a, b in [(1, 2)] %}{{ a }}{{ b }}{% endfor %}",
        "{% for i in 'ab' if i != 'a' %}{{ i }}{{ loop.index }}{% else %}none{% endfor %}",
        "{% for i in 'a' %}{% for j in 'b' if loop.first %}{{ j }}{% else %}{{ loop.index }}{% endfor %}"
        "{% endfor %}",
        "{% with a = 1, b = 2 %}{{ a }}{{ b }}{% endwith %}",
        "{% set a %}x{% endset %}{{ a }}",
        "{% macro m(a, b=a) %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }}",
        "{% macro m() %}{{ caller() }}{% endmacro %}{% call m() %}x{% endcall %}",
        "{% if round_number > 1 %}{% set x = 1 %}{% endif %}{{ x|default('') }}{{ x is defined }}",
        "{% set ns = namespace(n=0) %}{% for i in 'ab' %}{% set ns.n = ns.n + 1 %}{% endfor %}{{ ns.n }}",
    ],
)
def test_names_that_have_a_value_are_accepted(template: str) -> None:
    assert errors(f"\n{template}") == []


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (
            "{% if round_number > 1 %}{% set x = 1 %}{% endif %}{{ x }}",
            "`x` may be undefined here: it is not set in every branch above.",
        ),
        (
            "{% if 1 %}{% set x = 1 %}{% elif 2 %}{% else %}{% set x = 1 %}{% endif %}{{ x }}",
            "`x` may be undefined here: it is not set in every branch above.",
        ),
        (
            "{{ x }}{% set x = 1 %}",
            "`x` has no value here: it is set in line 2, later or inside another block.",
        ),
        (
            "{% set x = x %}",
            "`x` has no value here: it is set in line 2, later or inside another block.",
        ),
        (
            "{% for x in 'ab' %}{% endfor %}{{ x }}",
            "`x` has no value here: it is set in line 2, later or inside another block.",
        ),
        (
            "{% for i in 'ab' %}{% else %}{{ i }}{% endfor %}",
            "`i` has no value here: it is set in line 2, later or inside another block.",
        ),
        (
            "{% with x = 1 %}{% endwith %}{{ x }}",
            "`x` has no value here: it is set in line 2, later or inside another block.",
        ),
        (
            "{% with a = 1, b = a %}{{ b }}{% endwith %}",
            "`a` has no value here: it is set in line 2, later or inside another block.",
        ),
        (
            "{% set t %}{% set x = 1 %}{% endset %}{{ x }}",
            "`x` has no value here: it is set in line 2, later or inside another block.",
        ),
        (
            "{% filter upper %}{% set x = 1 %}{% endfilter %}{{ x }}",
            "`x` has no value here: it is set in line 2, later or inside another block.",
        ),
        (
            "{% macro m(a) %}{% set x = a %}{{ x }}{% endmacro %}{{ x }}",
            "`x` has no value here: it is set in line 2, later or inside another block.",
        ),
        (
            "{% macro m(a=b, b=1) %}{{ a }}{{ b }}{% endmacro %}",
            "`b` has no value here: it is set in line 2, later or inside another block.",
        ),
        (
            "{% set b = 1 %}{% macro m(b=b) %}{{ b }}{% endmacro %}",
            "`b` has no value here: it is set in line 2, later or inside another block.",
        ),
        (
            "{{ m() }}{% macro m() %}{% endmacro %}",
            "`m` has no value here: it is set in line 2, later or inside another block.",
        ),
        ("{{ m() }}", "There is no macro `m` at this point."),
        ("{{ len(user_prompt) }}", "There is no function `len`."),
        ("{{ loop.index }}", "`loop` exists only inside a {% for %} loop."),
        ("{% for i in 'a' %}{% endfor %}{{ loop.index }}", "`loop` exists only inside a {% for %} loop."),
        ("{% for i in 'a' if loop.first %}{% endfor %}", "`loop` exists only inside a {% for %} loop."),
        ("{{ caller() }}", "`caller` exists only inside a {% macro %}."),
        (
            "{% macro m() %}{{ caller() }}{% endmacro %}{% call m() %}{{ caller() }}{% endcall %}",
            "`caller` exists only inside a {% macro %}.",
        ),
        (
            "{% macro m(a) %}{{ a }}{% endmacro %}{{ m() }}",
            "The call of `m` gives no value for `a`.",
        ),
        (
            "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, 2) }}",
            "The call of `m` passes too many arguments.",
        ),
        (
            "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, b=2) }}",
            "The call of `m` passes too many arguments.",
        ),
        (
            "{% macro m() %}{{ caller() }}{% endmacro %}{{ m() }}",
            "`m` uses `caller()`, so it can only be called by {% call %}.",
        ),
        (
            "{% macro m() %}x{% endmacro %}{% call m() %}{% endcall %}",
            "`m` never uses `caller()`, so {% call %} cannot call it.",
        ),
        (
            "{% macro m() %}{{ caller() }}{% endmacro %}{% call(a) m() %}{{ a }}{% endcall %}",
            "The call of `caller` gives no value for `a`.",
        ),
        (
            "{% macro m() %}{{ caller(1) }}{% endmacro %}{% call m() %}{% endcall %}",
            "The call of `caller` passes too many arguments.",
        ),
    ],
)
def test_name_without_a_value_at_that_point_is_an_error(template: str, message: str) -> None:
    found = the_error(f"\n{template}")
    assert (found.line, found.message) == (2, message)


def test_each_use_of_an_unknown_name_is_reported_where_it_stands() -> None:
    found = errors("{{ nope }}\n{{ user_prompt }} {{ nope ~ nope }}\n")
    assert [(problem.line, problem.column) for problem in found] == [(1, 4), (2, 22), (2, 29)]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("user_promt", "user_prompt"),
        ("User_Prompt", "user_prompt"),
        ("history", "submission_history"),
        ("sub", "submission_history"),
        ("ranking", "ranking_table"),
        ("datetime", "current_datetime"),
        ("qqq", None),
    ],
)
def test_nearest_name(written: str, meant: str | None) -> None:
    known = ["user_prompt", "submission_history", "ranking_table", "current_datetime"]
    assert nearest(written, known) == meant
