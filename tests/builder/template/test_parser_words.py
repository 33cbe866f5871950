"""A syntax error speaks Japanese on a Japanese page."""

import re

import pytest

from builder.template.check import check
from builder.template.parser_words import in_japanese

BROKEN = [
    "{{ user_prompt",
    "{% if user_prompt %}",
    "{% do user_prompt %}",
    "{% if user_prompt %}{% endfor %}",
    "{% for x in y %}{% endif %}{% endfor %}",
    "{{ }}",
    "{{ user_prompt }",
    "{{ 'abc }}",
    "{# abc",
    "{{ user_prompt round_number }}",
    "{% for x of y %}{% endfor %}",
    "{{ user_prompt | }}",
    "{{ (user_prompt }}",
    "{% set 1 = 2 %}",
    "{{ user_prompt. }}",
    "{%",
    "{{ {'a' 1} }}",
    "{{ user_prompt ? 1 }}",
]


@pytest.mark.parametrize("template", BROKEN)
def test_no_english_is_left_beside_what_the_author_wrote(template: str) -> None:
    (problem,) = [each for each in check("team", template + "\n") if each.severity == "error"]
    said = problem.text("ja")
    assert said.startswith("Jinja2の構文エラー：")
    unquoted = re.sub(r"""'[^']*'|"[^"]*"|`[^`]*`|\{%.*?%\}""", "", said.removeprefix("Jinja2"))
    assert re.findall(r"[A-Za-z]{2,}", unquoted) == []


def test_a_missing_end_tag_is_named_whole() -> None:
    (problem,) = check("team", "\n{% if round_number %}\n")
    assert problem.text("ja") == (
        "Jinja2の構文エラー：テンプレートが途中で終わっています。必要なタグ：'elif' / 'else' / 'endif'。"
        "閉じられていない一番内側のブロックは'if'です。"
    )
    assert problem.text("en").startswith("Jinja2 syntax error: Unexpected end of template.")


def test_an_unknown_sentence_stays_as_it_is() -> None:
    assert in_japanese("something of a later release") == "something of a later release"
