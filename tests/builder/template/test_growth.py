"""How large texts and numbers of a template can become: bounded by the text alone."""

import jinja2
import pytest

from builder.problems import errors_in
from builder.template.check import check
from builder.template.growth import LONGEST_TEXT
from tests.builder.template.test_repetitions import loops

NAMES = "{% set ns = namespace(x='a', y='b', n=2, items=[1]) %}"


def per_line(body: str) -> str:
    return f"{NAMES}{{% for l in user_prompt.splitlines() %}}\n{body}{{% endfor %}}{{{{ ns.x }}}}"


DOUBLES = [
    "{% set ns.x = ns.x ~ ns.x %}",
    "{% set ns.x = ns.x + ns.x %}",
    "{% set ns.x = ns.x * 2 %}",
    "{% set ns.x = ns.x|upper ~ ns.x|lower %}",
    "{% set ns.x = ns.x ~ ns.x[:-1] %}",
    "{% set ns.x = ns.x ~ ns.x if l == 'x' else ns.x %}",
    "{% set t = ns.x ~ l %}{% set ns.x = t ~ ns.x %}",
    "{% with t = ns.x %}{% set ns.x = t ~ t %}{% endwith %}",
    "{% set ns.y = ns.x %}{% set ns.x = ns.x ~ ns.y %}",
    "{% set ns.x = ns.x ~ ns.y %}{% set ns.y = ns.y ~ ns.x %}",
    "{% set ns.x = ns.x|replace('a', 'aa') %}",
    "{% set ns.x = ns.x.replace('a', 'aa') %}",
    "{% set ns.x = ns.x|replace('', 'b') %}",
    "{% set ns.x = [ns.x, ns.x]|join %}",
    "{% set ns.x = ns.x|join('--') %}",
    "{% set ns.x = ns.x.join(['a', 'b', 'c']) %}",
    "{% set ns.x = '%s%s' % (ns.x, ns.x) %}",
    "{% set ns.items = ns.items + ns.items %}",
    "{% set ns.items = [ns.items, ns.items] %}",
    "{% set ns.x %}{{ ns.x }}{{ ns.x }}{% endset %}",
    "{% set ns.x %}{% for i in range(2) %}{{ ns.x }}{% endfor %}{% endset %}",
    "{% for c in ns.x %}{% set ns.x = ns.x ~ c %}{% endfor %}",
    "{% set ns.x = ns.x ~ 'a' * ns.x|length %}",
    "{% set ns.x = ns.x|center(ns.x|length * 2) %}",
    "{% set ns.x = ns.x|wordwrap(1, true, ns.x) %}",
    "{% set ns.x = ns.x|tojson %}",
    "{% set ns.x = [ns.x] ~ '' %}",
    "{% set ns.n = ns.n * ns.n %}",
    "{% set m = ns.n %}{% set ns.n = m * ns.n %}",
]  # fmt: skip
ACCUMULATES = [
    "{% set ns.x = ns.x ~ l ~ '\\n' %}",
    "{% set ns.x = ns.x + l %}",
    "{% set ns.x = '- ' ~ l ~ ns.x %}",
    "{% set ns.x = ns.x ~ user_prompt %}",
    "{% set ns.x = ns.x ~ l if l else ns.x %}",
    "{% if l %}{% set ns.x = ns.x ~ 'a' %}{% else %}{% set ns.x = ns.x ~ 'b' %}{% endif %}",
    "{% set t = ns.x ~ l %}{% set ns.x = t %}",
    "{% set l = l ~ ' ' ~ l %}{{ l }}",
    "{% set t = l ~ l %}{% set ns.x = ns.x ~ t ~ t %}",
    "{% set ns.y = ns.x %}{% set ns.x = l %}{{ ns.y ~ ns.y }}",
    "{% set ns.x = (ns.x ~ ns.x)[:500] %}",
    "{% set ns.x = (ns.x ~ ns.x)|truncate(500) %}",
    "{% set ns.x = (ns.x ~ l)|trim|indent(2) %}",
    "{% set ns.x = ns.x ~ l|replace('a', 'bbbb') %}",
    "{% set ns.x = ns.x|replace('a', 'b') ~ l %}",
    "{% set ns.x = ns.x.split()|join(' ') ~ l %}",
    "{% set ns.x = '\\n'.join(ns.x.splitlines()) ~ l %}",
    "{% set ns.x = ns.x ~ '%d: %s' % (loop.index, l) %}",
    "{% set ns.x %}{{ ns.x }}{{ l }}{% endset %}",
    "{% set ns.items = (ns.items + [loop.index])|unique|list %}",
    "{% set ns.n = ns.n + 1 %}{% set ns.x = ns.x ~ ns.n ~ '. ' ~ l %}",
    "{{ '  ' * ns.n }}{% set ns.n = ns.n + 1 %}",
    "{% set ns.items = [ns.items, l] %}",
    "{% set ns.n = ns.n + l|length %}",
    "{% set ns.n = ns.n * 2 %}",
    "{% set ns.n = (ns.n * ns.n) % 1000 %}",
    "{% set m = namespace(t=l) %}{% for i in range(3) %}{% set m.t = m.t ~ m.t %}{% endfor %}",
]  # fmt: skip
LONG = [
    NAMES + "{% macro d(t) %}{{ t }}{{ t }}{% endmacro %}"
    "{% for l in user_prompt.splitlines() %}{% set ns.x = d(ns.x) %}{% endfor %}",
    NAMES + "{% macro d() %}{% set ns.x = ns.x ~ ns.x %}{% endmacro %}"
    "{% for l in user_prompt.splitlines() %}{{ d() }}{% endfor %}",
    NAMES + "{% macro d() %}{{ caller() }}{{ caller() }}{% endmacro %}{% for l in user_prompt %}"
    "{% set ns.x %}{% call d() %}{{ ns.x }}{% endcall %}{% endset %}{% endfor %}",
    NAMES + loops("range(100)", body="{% set ns.x = ns.x ~ ns.x %}"),
    NAMES + loops("range(60)", body="{% set ns.n = ns.n * ns.n %}"),
    NAMES + loops("range(9)", body="{% set ns.x = ns.x.replace('', ns.x) %}"),
    NAMES + loops("range(40)", body="{% set ns.items = [ns.items, ns.items] %}") + "{{ ns.items }}",
    "{% set x = user_prompt %}" + "{% set x = x ~ x %}" * 40,
    "{% set x0 = user_prompt %}" + "".join(f"{{% set x{n + 1} = x{n} ~ x{n} %}}" for n in range(40)),
    "{% macro m0() %}{{ user_prompt }}{% endmacro %}"
    + "".join(
        f"{{% macro m{n}() %}}{{% set t = m{n - 1}() %}}{{{{ t ~ t ~ t ~ t ~ t }}}}{{% endmacro %}}"
        for n in range(1, 12)
    )
    + "{{ m11() }}",
    "{{ 'x' * user_prompt|int }}",
    "{% set n = user_prompt|int %}{{ 'x' * n }}",
    "{{ '%999999999d' % 1 }}",
    "{{ '%*d' % (round_number, 1) }}",
    "{{ user_prompt % round_number }}",
    "{% for part in 'abc'|slice(user_prompt|int) %}{% endfor %}",
    "{% for part in 'abc'|batch(user_prompt|int, 'x') %}{% endfor %}",
    "{{ user_prompt|center(user_prompt|int) }}",
    "{{ user_prompt|indent(user_prompt|int) }}",
    "{{ user_prompt|tojson(user_prompt|int) }}",
    "{{ ('\\n' * 999999)|indent(999) }}",
    "{{ user_prompt|replace('e', user_prompt) }}",
    "{{ user_prompt|join(user_prompt) }}",
]
SHORT = [
    NAMES + "{% macro li(t) %}- {{ t }}{% endmacro %}{% for l in user_prompt.splitlines() %}"
    "{% set ns.x = ns.x ~ li(l) %}{% endfor %}{{ li(li(ns.x)) }}",
    NAMES + "{% for l in user_prompt.splitlines() %}{% set t = l ~ ' ' %}{% set ns.x = ns.x ~ t %}"
    "{% endfor %}{% set t = ns.x|trim %}{{ t }}{{ t }}",
    "{% macro twice(t) %}{{ t }}{{ t }}{% endmacro %}{{ twice(twice(user_prompt)) }}",
    "{% macro box(t, n=2) %}[{{ t * n }}]{% endmacro %}{{ box(user_prompt) }}{{ box('b', n=80) }}",
    "{% macro b() %}[{{ caller() }}]{% endmacro %}{% set t %}{% call b() %}{% call b() %}x{% endcall %}"
    "{% endcall %}{% endset %}{{ t }}",
    NAMES + loops("range(5)", body="{% set ns.x = ns.x ~ ns.x %}"),
    "{{ '-' * user_prompt|length }}{{ '=' * [user_prompt|length, 80]|min }}",
    "{{ '%5.2f' % 3.5 }}{% set form = '%s: %s' %}{{ form % (round_number, user_prompt) }}",
    "{% for n in [1, 2, 3] %}{{ n % 2 }}{{ '#' * n }}{% endfor %}{{ round_number % 2 }}",
    "{{ user_prompt|center(80) }}{{ user_prompt|indent(4) }}{{ user_prompt|wordwrap(79) }}",
    "{{ user_prompt|tojson }}",
    "{{ user_prompt|replace('\\n', '\\n> ') }}",
    "{% for row in user_prompt.split()|batch(3, '') %}{{ row|join(' ') }}{% endfor %}",
]  # fmt: skip


def codes(text: str) -> set[str]:
    return {problem.code for problem in errors_in(check("team", text))}


@pytest.mark.parametrize("body", DOUBLES)
def test_what_doubles_with_every_line_is_refused(body: str) -> None:
    assert codes(per_line(body)) == {"gate-doubles"}


@pytest.mark.parametrize("text", LONG)
def test_what_may_become_of_any_length_is_refused(text: str) -> None:
    assert codes(text) in ({"gate-doubles"}, {"gate-long"})


@pytest.mark.parametrize("text", [*map(per_line, ACCUMULATES), *SHORT])
def test_what_adds_a_little_in_every_turn_is_accepted_and_stays_short(text: str) -> None:
    assert codes(text) == set()
    task = "\n".join("all work and no play" for _ in range(1000))
    rendered = jinja2.Template(text).render(user_prompt=task, round_number=2)
    assert len(rendered) <= 2 * LONGEST_TEXT


def test_a_text_that_doubles_is_named_with_what_to_write() -> None:
    text = per_line("{% set t = ns.x ~ '-' %}\n{% set ns.x = t ~ ns.x %}")
    (problem,) = errors_in(check("team", f"{{% if 'Q4 forecast' in user_prompt %}}\n{text}\n{{% endif %}}"))
    assert (problem.line, problem.text()) == (
        4,
        "`ns.x` is built from itself more than once per loop iteration: it doubles each time.",
    )
    assert problem.advice() == (
        "Append what is new, once: `{% set ns.x = ns.x ~ line %}`; or cut the result: `(ns.x ~ ns.x)[:1000]`."
    )
    assert "新しい部分を1回だけ追加" in problem.advice("ja")


def test_a_length_that_a_value_decides_is_refused_with_how_to_limit_it() -> None:
    (problem,) = errors_in(check("team", "a\n{{ 'x' * user_prompt|int }}"))
    assert problem.line == 2
    assert "[…, 100]|min" in problem.advice()
    assert codes("{{ 'x' * [user_prompt|int, 100]|min }}") == set()
