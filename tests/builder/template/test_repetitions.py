"""How often the loops of a template can run: bounded by the text alone, also where no context comes to."""

import pytest

from builder.messages import Language
from builder.problems import errors_in
from builder.template.check import check
from builder.template.defaults import DEFAULT_TEMPLATES
from builder.template.variables import KINDS


def loops(*over: str, body: str = "x") -> str:
    opened = "".join(f"{{% for v{n} in {value} %}}" for n, value in enumerate(over))
    return opened + body + "{% endfor %}" * len(over)


ENDS = (
    loops("range(1000)", "range(1000)"),
    loops("range(round_number)"),
    loops("range(1, round_number + 1)", "range(v0)"),
    loops("range(round_number - 1, 0, -1)"),
    loops("range([user_prompt|length, 100]|min)"),
    loops("range([3, 5, 7][round_number % 3])"),
    loops("range(5)", "range(loop.index)"),
    loops("user_prompt.splitlines()[:20]", "range(9999)"),
    loops("user_prompt.split('\\n\\n')", "v0.splitlines()", "v1.split()|list", body="{{ v2 }}"),
    "{% set lines = user_prompt.splitlines() %}" + loops("lines", "submission_history.splitlines()"),
    "{% set n = 3 %}" + loops("range(n)", "range(n * 2)"),
    "{% macro row(n) %}{% for i in range(n) %}-{% endfor %}{% endmacro %}"
    + loops("range(20)", body="{{ row(40) }}"),
    "{{ '=' * 80 }}{{ '-' * user_prompt|length }}",
    "{% set ns = namespace(n=0) %}{% for l in user_prompt %}{% set ns.n = ns.n + 1 %}{% endfor %}{{ ns.n }}",
)
REPEATS = (
    loops("range(99999)", "range(99999)", "range(99999)"),
    loops("range(1000)", "range(1001)"),
    loops("range(1000)", "range(999)") * 2,
    loops("range(round_number)", "range(round_number)", "range(round_number + 9)"),
    loops("user_prompt", "submission_history", "ranking_table", body="{% for c in [1, 2] %}{% endfor %}"),
    loops("user_prompt", "user_prompt"),
    loops(*["user_prompt.splitlines()"] * 3),
    "{% set words = user_prompt.split() %}" + loops("words", "words", "words"),
    "{% set r = range(99999) %}" + loops("r", "r"),
    "{% set t = range(99999)|join %}" + loops("t", "t"),
    "{% macro m(r) %}" + loops("r", "r") + "{% endmacro %}{{ m(range(9999)) }}",
    "{% macro m() %}" + loops("range(9999)") + "{% endmacro %}" + loops("range(9999)", body="{{ m() }}"),
    "{% macro m() %}" + loops("range(9999)", body="{{ caller() }}") + "{% endmacro %}"
    "{% call m() %}" + loops("range(9999)") + "{% endcall %}",
    "{% macro m0() %}x{% endmacro %}"
    + "".join(f"{{% macro m{n} () %}}{f'{{{{ m{n - 1}() }}}}' * 10}{{% endmacro %}}" for n in range(1, 9))
    + "{{ m8() }}",
    loops("[0] * 99999", "[0] * 99999"),
    "{{ 'a' * 999999 * 999999 }}",
    "{{ user_prompt * 999999 * 999 }}",
    loops("range(9999)", body="{{ 'a'|center(999999) }}"),
)  # fmt: skip
SORT = "{{ user_prompt|list|sort|first }}"
WORKS = (
    loops("range(1000)", "range(999)", body="{{ range(99999)|sum }}"),
    loops("range(9999)", body="{{ 'x' in range(99999) }}"),
    loops("range(99999)", body="{{ user_prompt }}"),
    loops("range(99999)", body=SORT),
    loops("user_prompt", body="{{ user_prompt|wordwrap(1)|length }}"),
    "{% for i in range(99999) if user_prompt|list|sort %}x{% endfor %}",
    "{% set d = {'a': [user_prompt]} %}" + loops("range(9999)", body="{{ d.a[0]|list|sort|first }}"),
    loops("[user_prompt]|list", "range(9999)", body="{{ v0|title|length }}"),
    loops("range(9999)", body="{% for a, b in {'k': user_prompt}|items %}{{ b|title|length }}{% endfor %}"),
    "{% macro m() %}{{ user_prompt }}{% endmacro %}" + loops("range(9999)", body="{{ m()|list|sort|first }}"),
    "{% macro m(t=user_prompt) %}{{ t|list|sort|first }}{% endmacro %}"
    + loops("range(9999)", body="{{ m() }}"),
    loops("range(9999)", body="{% filter wordwrap(1) %}{{ user_prompt }}{% endfilter %}"),
    "{% filter replace('', 'xx') %}" * 20 + "x" + "{% endfilter %}" * 20,
    "{% set ns = namespace(t='') %}" + loops("range(999)", "range(999)", body="{% set ns.t = ns.t ~ 'x' %}"),
    "{% set form = '%99999s' %}" + loops("range(9999)", body="{{ form % 'a' }}"),
    loops("range(9999)", body="{{ 'a'|center(width=99999) }}"),
    loops("range(9999)", body="{{ [1, [2]]|tojson(indent=99999) }}"),
    loops("range(99999)", body="{{ 'a'|replace('a', new=user_prompt) }}"),
    "{{ ('x' * 9999).join('y' * 99999)|length }}",
    "{{ ([[1, 2]] * 99999)|sum(start=[])|length }}",
    loops("('%99999s' % 'a')", body="{{ v0 }}") + loops("('%99999s' % 'a')", "range(9)", body=SORT),
)
WORKS_LITTLE = (
    loops(
        "user_prompt.splitlines()", body="{% if v0 in submission_history %}{{ v0|title|wordwrap }}{% endif %}"
    ),
    loops("user_prompt", body="{% if v0 not in ranking_table %}{{ v0 }}{% endif %}"),
    "{% set words = user_prompt.split()|sort %}"
    + loops("words", body="{{ v0 in words[:20] }}{{ words|length }}"),
    loops("range(round_number)", body="{{ user_prompt|indent(4)|wordwrap(79) }}"),
    "{% macro row(t) %}| {{ t|trim|center(20) }} |{% endmacro %}"
    + loops("submission_history.splitlines()", "v0.split('|')", body="{{ row(v1) }}"),
    "{% filter indent(2) %}" + loops("user_prompt.splitlines()", body="{{ v0|upper }}") + "{% endfilter %}",
    SORT * 20,
)
OPEN = (
    loops("range(user_prompt|length)"),
    loops("range(user_prompt|int)"),
    loops("range(round_number, user_prompt|wordcount)"),
    loops("range(0 - user_prompt|length, 0)"),
    "{% set n = user_prompt|length %}" + loops("range(n + 1)"),
    "{% set ns = namespace(n=1) %}{% for i in range(9) %}{% set ns.n = ns.n * 9 %}{% endfor %}"
    + loops("range(ns.n)"),
    "{{ range(user_prompt|length)|join }}",
)


def codes(text: str) -> list[str]:
    return [problem.code for problem in errors_in(check("team", text))]


@pytest.mark.parametrize("text", ENDS)
def test_what_ends_soon_is_accepted(text: str) -> None:
    assert codes(text) == []


@pytest.mark.parametrize("text", REPEATS)
def test_too_many_repetitions_are_refused(text: str) -> None:
    assert "gate-repetitions" in codes(text)


@pytest.mark.parametrize("text", WORKS)
def test_too_much_work_in_a_loop_is_refused(text: str) -> None:
    assert codes(text) == ["gate-work"] or "gate-repetitions" in codes(text)


@pytest.mark.parametrize("text", WORKS_LITTLE)
def test_little_work_in_a_loop_is_accepted(text: str) -> None:
    assert codes(text) == []


def test_too_much_work_says_how_to_do_less() -> None:
    (problem,) = errors_in(check("team", "a\n" + loops("range(99999)", body=SORT)))
    assert problem.line == 2
    assert problem.text() == (
        "The loops of this template could go through too much text or too many items: as much work as"
        " 409,995,900 repetitions; 2,000,000 are allowed."
    )
    assert "before the loop" in problem.advice() and "ループの前で1回だけ" in problem.advice("ja")


@pytest.mark.parametrize("text", OPEN)
def test_a_range_without_a_bound_is_refused(text: str) -> None:
    assert codes(text) == ["gate-range-open"]


def test_a_loop_that_only_one_task_reaches_is_refused_with_what_to_write() -> None:
    bomb = loops("range(99999)", "range(99999)", "range(99999)")
    (problem,) = errors_in(
        check("team", f"a\n{{% if 'Q4 forecast' in user_prompt %}}\n{bomb}\n{{% endif %}}")
    )
    assert (problem.line, problem.text()) == (
        3,
        "The loops of this template could repeat something 9,999,800,001 times; 1,000,000 are allowed.",
    )
    assert problem.advice() == (
        "Write shorter ranges, or do not put one loop into another. A loop over a value's lines"
        " counts as 1,000 times, over its characters as 10,000; with `[:20]` behind the value as 20."
    )
    assert "1,000回" in problem.advice("ja")


@pytest.mark.parametrize(("language", "advice"), [("en", "range([…, 100]|min)"), ("ja", "上限を書いて")])
def test_a_range_without_a_bound_says_how_to_give_it_one(language: Language, advice: str) -> None:
    (problem,) = errors_in(check("team", OPEN[0]))
    assert advice in problem.advice(language)


def test_the_defaults_of_mixseek_are_accepted() -> None:
    assert [errors_in(check(kind, DEFAULT_TEMPLATES[kind])) for kind in KINDS] == [[], [], []]


@pytest.mark.parametrize(
    "text",
    [
        "{% set x0 = round_number %}"
        + "".join(f"{{% set x{n + 1} = x{n} + x{n} %}}" for n in range(400))
        + loops("range(x400)"),
        "".join(f"{{% macro m{n}() %}}{{{{ m{n + 1}() }}}}{{% endmacro %}}" for n in range(400))
        + "{{ m0() }}",
        "".join(
            f"{{% macro m{n}() %}}"
            + "".join(f"{{% call m{n - 1}() %}}{'{{ caller() }}' * k}{{% endcall %}}" for k in (1, 2, 3))
            + "{% endmacro %}"
            for n in range(1, 40)
        ),
        loops("range(round_number * " + "9" * 400 + ")"),
        loops("range(0x" + "f" * 3000 + ")"),
    ],
)
def test_the_bound_is_found_without_running_away(text: str) -> None:
    assert codes(text)
