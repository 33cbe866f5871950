"""Landmarks rule templates out; one that made a prompt is never among them."""

from contextlib import suppress

import pytest

from builder.errors import TemplateFailure
from builder.problems import errors_in
from builder.template.check import check
from builder.template.dialect import CONTRACT, MIXSEEK, Dialect
from builder.template.landmarks import Landmarks, landmarks
from builder.template.render import render
from builder.template.variables import sample_values
from tests.builder.template_grammar import TemplateGrammar


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", Landmarks(())),
        ("fixed", Landmarks(("fixed",), begins=True, ends=True)),
        ("{{ user_prompt }}", Landmarks(())),
        ("# 課題\n{{ user_prompt }}\n--", Landmarks(("# 課題\n", "\n--"), begins=True, ends=True)),
        (
            "{{ user_prompt }}{% if round_number > 1 %}no{% endif %}yes{# - #}!",
            Landmarks(("yes!",), ends=True),
        ),
        ("a{% set b = 1 %}c{{ b }}", Landmarks(("ac",), begins=True)),
        ("{% macro m() %}no{% endmacro %}a{{ m() }}", Landmarks(("a",), begins=True)),
    ],
)
def test_landmarks_are_what_no_branch_can_leave_out(text: str, found: Landmarks) -> None:
    assert landmarks(text, MIXSEEK) == found


def test_landmarks_are_trimmed_as_the_dialect_trims() -> None:
    text = "a\n  {% set b = 1 %}\nc"
    assert landmarks(text, MIXSEEK).texts == ("a\n  \nc",)
    assert landmarks(text, CONTRACT).texts == ("a\nc",)


@pytest.mark.parametrize(
    ("text", "prompt", "may_have"),
    [
        ("a{{ user_prompt }}a", "a", False),
        ("a{{ user_prompt }}a", "aa", True),
        ("fixed", "fixed!", False),
        ("x{{ user_prompt }}y{{ user_prompt }}", "x1y1", True),
        ("x{{ user_prompt }}y{{ user_prompt }}", "y1x1", False),
        ("{{ user_prompt }}x", "xy", False),
    ],
)
def test_a_prompt_without_the_landmarks_is_ruled_out(text: str, prompt: str, may_have: bool) -> None:
    assert landmarks(text, MIXSEEK).stand_in(prompt) is may_have


@pytest.mark.slow
@pytest.mark.parametrize("dialect", [MIXSEEK, CONTRACT], ids=lambda dialect: dialect.name)
def test_a_template_is_never_ruled_out_for_its_own_prompt(dialect: Dialect) -> None:
    made = 0
    for seed in range(120):
        text = TemplateGrammar(seed, hostility=0).template()
        if errors_in(check("team", text)):
            continue
        with suppress(TemplateFailure):
            prompt = render("team", text, sample_values("team"), dialect)
            assert landmarks(text, dialect).stand_in(prompt), text
            made += 1
    assert made > 30
