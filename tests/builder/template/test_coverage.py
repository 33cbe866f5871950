"""Lines that contexts reach."""

import pytest

from builder.template.coverage import Coverage, coverage, unused
from builder.template.dialect import CONTRACT, MIXSEEK
from builder.template.render import render
from builder.template.variables import sample_values

TEMPLATE = """\
# {{ user_prompt }}
{% if round_number == 1 %}
first

round
{% elif round_number == 2 %}
second
{% else %}
{% for n in range(round_number - 3) %}
{{ n }}{% if n > 4 %} many{% endif %}
{% else %}
none
{% endfor %}
{% endif %}
{%- macro closing(who) -%}
bye {{ who }}
{%- endmacro %}
{{ closing("x") if round_number > 9 else "" }}
"""


def lines(round_number: int, text: str = TEMPLATE) -> Coverage:
    values = sample_values("team") | {"round_number": round_number}
    return coverage(text, values, MIXSEEK)


@pytest.mark.parametrize(
    ("round_number", "unreached"),
    [
        (1, {7, 9, 10, 12, 16}),
        (2, {3, 5, 9, 10, 12, 16}),
        (3, {3, 5, 7, 10, 16}),
        (4, {3, 5, 7, 12, 16}),
        (10, {3, 5, 7, 12}),
    ],
)
def test_lines_of_branches_that_were_not_taken_are_unreached(round_number: int, unreached: set[int]) -> None:
    assert lines(round_number).unreached == unreached


def test_contexts_together_reach_what_any_of_them_does() -> None:
    found = lines(1) | lines(2) | lines(3) | lines(10)
    assert found.unreached == frozenset()
    assert found.reached == {1, 2, 3, 5, 6, 7, 9, 10, 12, 15, 16, 18}


def test_what_was_reached_before_an_error_counts() -> None:
    text = "{% if true %}\na\n{{ 1 // (round_number - 1) }}\n{% if true %}\nb\n{% endif %}{% endif %}"
    assert lines(1, text).reached >= {1, 2, 3}
    assert lines(1, text).unreached == {5}


def test_lines_are_the_templates_own_whatever_is_trimmed() -> None:
    text = "a\n  {%- if round_number > 1 -%}\n\n  b\n  {% endif %}\n{% set c %}\nd\n{% endset %}{{ c }}"
    for dialect in (MIXSEEK, CONTRACT):
        found = coverage(text, sample_values("team") | {"round_number": 1}, dialect)
        assert (found.unreached, found.reached) == ({4}, {1, 2, 6, 7, 8})


def test_looking_changes_nothing_for_later_renderings() -> None:
    values = sample_values("team")
    before = render("team", TEMPLATE, values, MIXSEEK)
    coverage(TEMPLATE, values, MIXSEEK)
    assert render("team", TEMPLATE, values, MIXSEEK) == before


def test_variables_that_no_line_names_are_unused() -> None:
    assert unused("evaluator", "{{ submission | upper }}", MIXSEEK) == {"user_prompt", "current_datetime"}
