import pytest
from jinja2 import Environment, StrictUndefined

from builder.problems import Problem, errors_in
from builder.template.check import check
from builder.template.dialect import MIXSEEK
from builder.template.render import render
from tests.builder.attacks import ATTACKS, HARMLESS

VALUES: dict[str, str | int] = {"user_prompt": "task", "round_number": 2}


def refusal(template: str) -> Problem:
    found = errors_in(check("team", template))
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    "template", [pytest.param(template, id=template[:60]) for group in ATTACKS.values() for template in group]
)
def test_attack_is_refused_with_its_line(template: str) -> None:
    found = errors_in(check("team", f"first line\n{template}"))
    assert found
    assert all(problem.line in (1, 2) and problem.message and problem.text("ja") for problem in found)


@pytest.mark.parametrize(("template", "output"), HARMLESS.items())
def test_harmless_template_is_accepted_and_renders_as_without_a_sandbox(template: str, output: str) -> None:
    assert errors_in(check("team", template)) == []
    plain = Environment(autoescape=False, undefined=StrictUndefined)
    assert plain.from_string(template).render(VALUES) == output
    assert render("team", template, VALUES, MIXSEEK) == output


@pytest.mark.parametrize(
    ("template", "column", "message", "suggestion"),
    [
        (
            "{% include 'x' %}",
            4,
            "The tag `include` is not allowed in a prompt template.",
            "A template cannot include others: write the text here; for repeated text use {% macro %}.",
        ),
        ("{{ 2 ** 3 }}", 4, "The operator `**` is not allowed.", "Multiply with `*`, or write the number."),
        (
            "{{ 2000000 }}",
            4,
            "A number in a template may not be larger than 1000000.",
            "Write a smaller number, or put it in quotes if it is only text.",
        ),
        (
            "{{ 0x000000000000000000ffffff }}",  # what counts may stand behind many zeros
            4,
            "A number in a template may not be larger than 1000000.",
            "Write a smaller number, or put it in quotes if it is only text.",
        ),
        (
            "{{ user_prompt.__class__ }}",
            15,
            "`__class__` begins with an underscore; such names are not allowed.",
            "Choose a name that begins with a letter.",
        ),
        (
            "{{ lipsum() }}",
            4,
            "`lipsum` is not available in a prompt template.",
            "Use the variables of this template; lists are written [1, 2] and dictionaries {'a': 1}.",
        ),
        (
            "{% set user_prompt = 1 %}",
            8,
            "`user_prompt` is a variable of this template and cannot be given another value.",
            "Choose another name, such as `my_user_prompt`.",
        ),
        (
            "{% for loop in 'ab' %}{% endfor %}",
            8,
            "`loop` is reserved and cannot be used as a name.",
            "Choose another name.",
        ),
        (
            "{{ user_prompt.upper }}",
            15,
            "`user_prompt` is a plain value and has no part `upper`.",
            "Write `{{ user_prompt|upper }}`.",
        ),
        (
            "{{ user_prompt.text }}",
            15,
            "`user_prompt` is a plain value and has no part `text`.",
            "Write `{{ user_prompt }}`.",
        ),
        (
            "{{ user_prompt.rstrip() }}",
            15,
            "The method `rstrip()` is not allowed.",
            "Use `strip()`, or `|trim`.",
        ),
        (
            "{{ 'a'.upper }}",
            7,
            "`upper` is a method and must be called: `upper()`.",
            "Add the parentheses. As a key of a dictionary, choose another word.",
        ),
        (
            "{{ 'a'.zfill(9) }}",
            7,
            "The method `zfill()` is not allowed.",
            "Allowed: capitalize count endswith find join lower replace split splitlines startswith strip"
            " title upper.",
        ),
        (
            "{% for k, v in {'a': 1}.items() %}{% endfor %}",
            24,
            "The method `items()` is not allowed.",
            "Write `{% for key, value in table|items %}`, or `{% for key in table %}` for the keys alone.",
        ),
        (
            "{{ [1].append(2) }}",
            7,
            "The method `append()` changes its list or dictionary, and is not allowed.",
            "Make a new list: `{% set names = names + ['new'] %}`; inside a loop, keep it in a `namespace`.",
        ),
        (
            "{{ '{}'.format(1) }}",
            8,
            "`format` is not allowed, because it can access Python internals.",
            "Join texts with `~`, for instance `'Round ' ~ round_number`; round numbers with `|round(2)`.",
        ),
        (
            "{{ 'a'['b' ~ 'c'] }}",
            7,
            "In square brackets only a number, a slice or a fixed text is allowed.",
            "For a number that is computed, write `[…|int]`; to go through a dictionary,"
            " `{% for key, value in table|items %}`; to choose from it, {% if %}.",
        ),
        (
            "{{ 'a b'.split()|map('upper')|join }}",
            18,
            "The filter `map` is not allowed, because it can access Python internals.",
            "Use a loop: `{% for item in items if … %}{{ item|upper }}{% endfor %}`.",
        ),
        (
            "{{ '%s'|format(1) }}",
            9,
            "`format` is not allowed, because it can access Python internals.",
            "Join texts with `~`, for instance `'Round ' ~ round_number`; round numbers with `|round(2)`.",
        ),
        (
            "{{ [1]|random }}",
            8,
            "The filter `random` is not allowed: a prompt must come out the same each time.",
            "Use `|first`, or pick by round: `items[round_number % 3]`.",
        ),
        (
            "{{ user_prompt|uppr }}",
            16,
            "There is no filter `uppr`. Did you mean `upper`?",
            "Write `upper`.",
        ),
        (
            "{{ [1]|sort(attribute='a') }}",
            8,
            "The filter `sort` is given arguments that are not allowed.",
            "It takes: case_sensitive, reverse.",
        ),
        (
            "{{ [1]|unique }}",
            8,
            "The filter `unique` does not return a text or list by itself.",
            "Write `|unique|list`, `|unique|join` or `{% for … in …|unique %}`.",
        ),
        (
            "{% for a in 'ab' recursive %}{% endfor %}",
            4,
            "A loop may not be `recursive`.",
            "Write the levels as separate loops.",
        ),
        (
            "{% macro m() %}{{ m() }}{% endmacro %}",
            4,
            "The macro `m` calls itself, directly or through another macro.",
            "Use a loop instead.",
        ),
        (
            "{% macro m() %}{% endmacro %}{{ m }}",
            33,
            "The macro `m` can only be called: `m(…)`.",
            "Write `{{ m() }}`.",
        ),
        (
            "{{ range(200000)|length }}",
            9,
            "`range` takes one to three whole numbers and gives at most 100000 of them.",
            "Write a shorter range.",
        ),
        (
            "{% set a = 'x' %}{% set b|replace(a, 'y') %}x{% endset %}",
            21,
            "The filter of a {% set %} block can only take fixed values.",
            "Write `{% set a %}…{% endset %}{% set b = a|replace(…) %}`.",
        ),
    ],
)
def test_refusal_names_the_construct_and_what_to_write_instead(
    template: str, column: int, message: str, suggestion: str
) -> None:
    found = refusal(f"\n{template}")
    assert (found.line, found.column, found.message, found.suggestion) == (2, column, message, suggestion)


def test_refusal_speaks_japanese() -> None:
    found = refusal("\n{% include 'x' %}")
    assert found.text("ja") == "タグ `include` はプロンプトテンプレートでは使えません。"
    assert found.advice("ja") == (
        "テンプレートは単独で完結します。本文をここに書いてください。繰り返しは {% macro %} でできます。"
    )


def test_misspelt_filter_can_be_mended_mechanically() -> None:
    found = refusal("\n{{ user_prompt | uper }}")
    assert (found.replaces, found.replacement, found.line, found.column) == ("uper", "upper", 2, 18)


def test_template_of_the_largest_size_is_accepted() -> None:
    assert errors_in(check("team", "x\n" * 32_768)) == []


def test_long_chains_that_are_not_nested_are_accepted() -> None:
    elifs = "".join(f"{{% elif round_number == {n} %}}round {n}\n" for n in range(300))
    template = "{% if round_number == 999 %}\n" + elifs + "{% else %}late\n{% endif %}"
    assert errors_in(check("team", template)) == []
    assert render("team", template, {"round_number": 299}) == "round 299\n"
    joined = "{{ " + " ~ ".join(["user_prompt"] * 500) + " }}\n"
    assert errors_in(check("team", joined)) == []
    assert render("team", joined, {"user_prompt": "x"}) == "x" * 500


def test_thirty_levels_are_accepted_and_thirty_one_are_not() -> None:
    def nested(levels: int) -> str:
        return "{% if true %}" * levels + "x" + "{% endif %}" * levels + "\n"

    assert errors_in(check("team", nested(28))) == []
    found = refusal(nested(29))
    assert found.message == "The template is nested too deeply; 30 levels are allowed."


def test_too_many_parts_are_refused() -> None:
    assert errors_in(check("team", "{{ user_prompt }}\n" * 1_490)) == []
    found = refusal("{{ user_prompt }}\n" * 1_510)
    assert found.message == "The template has too many parts; 3000 are allowed."
