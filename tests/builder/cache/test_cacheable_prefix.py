"""The text that a template surely begins with, for each level."""

import pytest

from builder.cache.cacheable_prefix import LEVELS, CacheablePrefix, PrefixAnalysis, shared_prefix
from builder.cache.lints import analyse
from builder.errors import TemplateFailure
from builder.jail import JailPool
from builder.template.defaults import DEFAULT_TEMPLATES
from builder.template.dialect import CONTRACT, MIXSEEK, Dialect
from builder.template.render import render
from builder.template.variables import KINDS, PromptKind, sample_values

VALUES = sample_values("team") | {
    "user_prompt": "TASK",
    "round_number": 2,
    "current_datetime": "2025-11-19T1",
}


def found(text: str, kind: PromptKind = "team", dialect: Dialect = MIXSEEK) -> PrefixAnalysis:
    return analyse(kind, text, sample_values(kind) | VALUES, dialect)


def texts(text: str, dialect: Dialect = MIXSEEK) -> list[str]:
    return [prefix.text for prefix in found(text, dialect=dialect).prefixes]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("abc\n", ["abc"] * 3),
        ("a {{ user_prompt }} b", ["a ", "a TASK b", "a TASK b"]),
        ("a {{ user_prompt }} {{ round_number }} b", ["a ", "a TASK ", "a TASK 2 b"]),
        ("{{ current_datetime }}", ["", "", ""]),
        ("a{{ user_prompt ~ round_number ~ current_datetime }}", ["a", "a", "a"]),
        (
            "{{ 'a' * 3 }}{{ [1, 2]|join(',') }}{{ user_prompt|upper|length }}",
            ["aaa1,2", "aaa1,24", "aaa1,24"],
        ),
        (
            "a{# {{ current_datetime }} #}b{% raw %}{{ current_datetime }}{% endraw %}c",
            ["ab{{ current_datetime }}c"] * 3,
        ),
        # set
        ("{% set a = current_datetime %}x{{ user_prompt }}{{ a }}", ["x", "xTASK", "xTASK"]),
        ("{% set a = current_datetime %}{% set a = 'y' %}{{ a }}", ["y"] * 3),
        ("{% set a, b = 'y', round_number %}{{ a }}{{ b }}", ["", "", "y2"]),
        ("{% set a %}b{{ round_number }}{% endset %}x{{ a }}", ["x", "x", "xb2"]),
        ("{% set a = 'x' %}{% if user_prompt %}{% set a = 'y' %}{% endif %}{{ a }}", ["", "y", "y"]),
        ("{% set n = namespace(a='x') %}{{ n.a }}{% set n.a = round_number %}{{ n.a }}", ["x", "x", "x2"]),
        (
            "{% set n = namespace(a=0) %}{% set z %}{% if round_number > 1 %}{% set n.a = 1 %}{% endif %}"
            "{% endset %}x{{ n.a }}",
            ["x", "x", "x1"],
        ),
        (
            "{% set n = namespace(a=0, b=0) %}{% set z %}{% for i in range(3) %}{% set n.a = n.b %}"
            "{% set n.b = round_number %}{% endfor %}{% endset %}x{{ n.a }}",
            ["x", "x", "x2"],
        ),
        (
            "{% set n = namespace(a=0) %}{% set k = namespace(a=0) %}{% set z %}{% for i in range(3) %}"
            "{% set n.a = k.a %}{% set k.a = round_number %}{% endfor %}{% endset %}x{{ n.a }}",
            ["x", "x", "x2"],
        ),
        ("{% set n = namespace(a=round_number) %}{% set n.b = 'x' %}y{{ n.a }}", ["y", "y", "y2"]),
        (
            "{% if false %}{% set a = 'y' %}{% else %}{% set a = round_number %}{% endif %}x{{ a }}",
            ["x", "x", "x2"],
        ),
        ("a{% for i in [] %}{{ i }}{% else %}{{ round_number }}{% endfor %}", ["a", "a", "a2"]),
        # macros
        (
            "{% macro m(a) %}<{{ a }}>{% endmacro %}{{ m('x') }}{{ m(user_prompt) }}",
            ["<x>", "<x><TASK>", "<x><TASK>"],
        ),
        ("{% macro m() %}{{ round_number }}{% endmacro %}x{{ m() }}", ["x", "x", "x2"]),
        ("{% macro m(a=round_number) %}{{ a }}{% endmacro %}x{{ m() }}", ["x", "x", "x2"]),
        (
            "{% set v = 'x' %}{% macro m() %}{{ v }}{% endmacro %}{% set v = round_number %}a{{ m() }}",
            ["a", "a", "a2"],
        ),
        (
            "{% set v = 'x' %}{% macro m() %}{{ v }}{% endmacro %}{% set v = round_number %}"
            "a{% with v = 'y' %}{{ m() }}{% endwith %}",
            ["a", "a", "a2"],
        ),
        ("{% macro m() %}<{{ caller() }}>{% endmacro %}{% call m() %}x{% endcall %}y", ["<x>y"] * 3),
        (
            "{% macro m() %}<{{ caller() }}>{% endmacro %}a{% call m() %}{{ round_number }}{% endcall %}",
            ["a", "a", "a<2>"],
        ),
        (
            "{% macro m() %}<{{ caller(round_number) }}>{% endmacro %}a{% call(v) m() %}{{ v }}{% endcall %}",
            ["a", "a", "a<2>"],
        ),
        (
            "{% set n = namespace(a=0) %}{% macro m(v) %}{% set n.a = v %}{% endmacro %}"
            "{% set z = m(round_number) %}x{{ n.a }}",
            ["x", "x", "x2"],
        ),
        # if
        ("a{% if round_number > 1 %}b{% endif %}c", ["a", "a", "abc"]),
        ("a{% if user_prompt %}b{{ round_number }}c{% else %}d{% endif %}e", ["a", "ab", "ab2ce"]),
        ("a{% if user_prompt %}b{% else %}d{{ round_number }}{% endif %}e", ["a", "ab", "abe"]),
        ("a{% if user_prompt == '' %}b{% elif round_number %}c{% endif %}e", ["a", "a", "ace"]),
        ("a{% if user_prompt %}b{% elif round_number %}c{% endif %}e", ["a", "ab", "abe"]),
        (
            "a{% if true %}b{% if user_prompt %}c{{ round_number }}{% endif %}d{% endif %}e",
            ["ab", "abc", "abc2de"],
        ),
        ("{{ 'a' if round_number > 1 else 'b' }}c", ["", "", "ac"]),
        # what is kept or dropped as a whole
        ("a{% for i in range(2) %}{{ i }}{% endfor %}b", ["a01b"] * 3),
        ("a{% for i in range(2) %}x{{ round_number }}{% endfor %}b", ["a", "a", "ax2x2b"]),
        ("a{% for i in range(round_number) %}x{% else %}y{% endfor %}b", ["a", "a", "axxb"]),
        ("a{% with x = round_number %}y{% endwith %}b", ["a", "a", "ayb"]),
        ("a{% filter upper %}b{{ round_number }}{% endfilter %}", ["a", "a", "aB2"]),
        ("a{% filter replace('b', user_prompt) %}b{% endfilter %}", ["a", "aTASK", "aTASK"]),
        ("{% set x = 1 %}a {%- if round_number > 1 %} b{% endif %}", ["a", "a", "a b"]),
    ],
)
def test_the_text_ends_exactly_at_what_may_change(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


def test_whitespace_is_trimmed_as_the_dialect_trims_it() -> None:
    text = "a\n  {% if round_number > 1 %}\nb\n{% endif %}\nc\n"
    assert texts(text, MIXSEEK) == ["a\n  ", "a\n  ", "a\n  \nb\n\nc"]
    assert texts(text, CONTRACT) == ["a\n", "a\n", "a\nb\nc"]


def test_branches_within_branches_are_not_nested_deeper_than_python_allows() -> None:
    opened = "{% if user_prompt == 'a' %}x" + "{% elif user_prompt == 'b' %}y" * 9 + "{% else %}"
    assert texts("a" + opened * 12 + "{{ current_datetime }}" + "{% endif %}" * 12) == ["a", "a", "a"]


@pytest.mark.parametrize("elifs", [3, 100])
def test_long_chains_of_tests_are_kept_or_dropped(elifs: int) -> None:
    chain = "".join(f"{{% elif user_prompt == '{n}' %}}{n}" for n in range(elifs))
    stable = f"a{{% if user_prompt == 'x' %}}b{chain}{{% else %}}c{{% endif %}}d"
    assert texts(stable) == ["a", "acd", "acd"]
    assert texts(stable.replace("%}0", "%}{{ current_datetime }}"))[1] in ("a", "ac")


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("a", [("a", None, ""), ("a", None, ""), ("a", None, "")]),
        (
            "課題\r\n{{ user_prompt }}\r\n🏆 {{- round_number|string }}\n{{ 1 ~ current_datetime }}",
            [
                ("課題\r\n", 2, "user_prompt"),
                ("課題\r\n{{ user_prompt }}\r\n🏆 ", 3, "round_number"),
                ("課題\r\n{{ user_prompt }}\r\n🏆 {{- round_number|string }}\n", 4, "current_datetime"),
            ],
        ),
        (
            "a\n{% if round_number > 1 %}b\n{{ ('{{' ~ current_datetime)|upper }}{% endif %}",
            [("a\n", 2, "if"), ("a\n", 2, "if"), ("a\n{% if round_number > 1 %}b\n", 3, "current_datetime")],
        ),
        (
            "a\n{% for i in user_prompt %}{% endfor %}",
            [("a\n", 2, "for"), (None, None, ""), (None, None, "")],
        ),
        ("{% set t = current_datetime %}\n{{ [t] }}", [("{% set t = current_datetime %}\n", 2, "t")] * 3),
        ("a{{ {'b': user_prompt} }}", [("a", 1, "user_prompt"), (None, None, ""), (None, None, "")]),
    ],
)
def test_the_culprit_and_the_end_of_the_stable_source_are_named(
    text: str, places: list[tuple[str | None, int | None, str]]
) -> None:
    for prefix, (source, line, culprit) in zip(found(text).prefixes, places, strict=True):
        assert text[: prefix.source_end] == (text if source is None else source)
        assert (prefix.culprit_line, prefix.culprit) == (line, culprit)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dialect", [CONTRACT, MIXSEEK])
def test_default_templates_are_stable_up_to_the_time(kind: PromptKind, dialect: Dialect) -> None:
    values = sample_values(kind)
    analysis = analyse(kind, DEFAULT_TEMPLATES[kind], values, dialect)
    prompt = render(kind, DEFAULT_TEMPLATES[kind], values, dialect)
    assert analysis.total_bytes == len(prompt.encode())
    assert analysis.prefix(2).text + str(values["current_datetime"]) == prompt
    assert analysis.prefix(2).culprit == "current_datetime"
    assert analysis.prefix(0).culprit == "user_prompt"
    for level in LEVELS:
        prefix = analysis.prefix(level)
        assert prefix.level == level
        assert (prefix.chars, prefix.bytes) == (len(prefix.text), len(prefix.text.encode()))


def test_submissions_change_with_the_round() -> None:
    analysis = analyse(
        "evaluator", "{{ user_prompt }}|{{ submission }}|", {"user_prompt": "t", "submission": "s"}, MIXSEEK
    )
    assert [prefix.text for prefix in analysis.prefixes] == ["", "t|", "t|s|"]


def test_names_that_nobody_declared_and_random_choices_end_every_level() -> None:
    assert [p.text for p in analyse("team", "a{{ x }}", {"x": 1}, MIXSEEK).prefixes] == ["a"] * 3
    analysis = analyse("team", "a{{ [1, 2]|random }}", {}, MIXSEEK)
    assert [(p.text, p.culprit) for p in analysis.prefixes] == [("a", "random")] * 3


@pytest.mark.parametrize("text", ["{% if %}", "{{ nothing }}", "{{ 1 // 0 }}", "{% include 'a' %}"])
def test_a_template_that_fails_has_no_analysis(text: str) -> None:
    with pytest.raises(TemplateFailure):
        found(text)


def test_observed_prefix_is_cut_at_whole_characters() -> None:
    assert shared_prefix("課題🏆a", "課題🏆b") == (3, 10)
    assert shared_prefix("🏆", "🏅") == (0, 0)  # their first bytes are the same
    assert shared_prefix("", "a") == (0, 0)
    assert shared_prefix("ab", "ab") == (2, 2)


def test_the_jail_answers_as_the_builder_does() -> None:
    with JailPool(size=1, spares=0, batch_size=1) as pool:
        for kind in KINDS:
            values = sample_values(kind)
            assert pool.cacheable_prefixes(kind, DEFAULT_TEMPLATES[kind], values, CONTRACT) == analyse(
                kind, DEFAULT_TEMPLATES[kind], values, CONTRACT
            )
        for refused in ["{% if %}", "{{ nothing }}", "{{ 1 // 0 }}", "{{ ''.__class__ }}", ""]:
            assert pool.cacheable_prefixes("team", refused, VALUES, MIXSEEK, owner="a") is None


def test_nothing_ends_a_prompt_without_variables() -> None:
    assert found("a").prefix(0) == CacheablePrefix(0, "a", 1, 1, 1, None, "")
