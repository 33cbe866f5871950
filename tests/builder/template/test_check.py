import sys

import pytest

from builder.errors import UndefinedFailure
from builder.messages import MESSAGES
from builder.problems import Problem
from builder.template.check import check
from builder.template.defaults import DEFAULT_TEMPLATES
from builder.template.render import render
from builder.template.variables import KINDS, PromptKind, sample_values


def said(problems: list[Problem]) -> list[tuple[str, int, int | None, str]]:
    return [(found.severity, found.line, found.column, found.message) for found in problems]


@pytest.mark.parametrize("kind", KINDS)
def test_default_templates_have_no_problem(kind: PromptKind) -> None:
    assert check(kind, DEFAULT_TEMPLATES[kind]) == []


@pytest.mark.parametrize(
    ("template", "line", "column", "message"),
    [
        ("a\n{{ user_prompt", 2, 4, "unexpected end of template, expected 'end of print statement'."),
        (
            "a\n{% if 1 %}\nb\n",
            2,
            11,
            "Unexpected end of template. Jinja was looking for the following tags: 'elif' or 'else'"
            " or 'endif'. The innermost block that needs to be closed is 'if'.",
        ),
        ("a\nb {% frob %}\n", 2, 6, "Encountered unknown tag 'frob'."),
        ("a\n{{ 1 ? 2 }}\n", 2, 6, "unexpected char '?'"),
        ("a\n{% if %}\n{% endif %}", 2, 7, "Expected an expression, got 'end of statement block'"),
        ("a\n\n{{ user_prompt } }}\n", 3, 16, "unexpected '}'"),
        ("{# a\nb", 1, 3, "Missing end of comment tag"),
    ],
)
def test_syntax_error_reports_jinjas_words_and_place(
    template: str, line: int, column: int | None, message: str
) -> None:
    assert said(check("team", template)) == [("error", line, column, f"Jinja2 syntax error: {message}")]


def test_unclosed_block_says_how_to_close_it() -> None:
    template = "\n{% if 1 %}\n{% for i in 'ab' %}{% if 2 %}{% endif %}\n{% endfor %}\nend\n"
    (found,) = check("team", template)
    assert found.suggestion == "The {% if %} of line 2 is still open: close it with {% endif %}."
    assert found.advice("ja") == ("2行目の {% if %} が閉じられていません。{% endif %} で閉じてください。")
    (found,) = check("team", "\n{{ user_prompt")
    assert found.suggestion == (
        "Close every {% if %} with {% endif %}, every {% for %} with {% endfor %}, every {{ with }}."
    )


def test_lines_count_alike_with_any_line_ending() -> None:
    for end in ("\n", "\r\n", "\r"):
        (found,) = check("team", f"a{end}b{end}  {{{{ nope }}}}{end}")
        assert (found.line, found.column) == (3, 6)


def test_columns_survive_whitespace_control() -> None:
    (found,) = check("team", "a  \n  {%- if true -%}\n  {{- nope -}}  {%- endif %}\n")
    assert (found.line, found.column) == (3, 7)


def test_blank_template_is_an_error() -> None:
    assert said(check("judgment", " \n")) == [("error", 1, None, "judgment_user_prompt cannot be empty")]


def test_loops_filters_and_single_lines_are_hints() -> None:
    template = "{% for line in user_prompt.splitlines() %}{{ line|trim }}{% endfor %}"
    assert said(check("team", template)) == [
        (
            "hint",
            1,
            None,
            "The template is a single line; prompts are written as several lines between triple quotes.",
        ),
        ("hint", 1, 4, "Loops are not recommended in a prompt template."),
        ("hint", 1, 51, "Filters such as `trim` are not recommended in a prompt template."),
    ]
    assert check("team", "{{ user_prompt }}\n") == []


def test_filter_blocks_are_hints_too() -> None:
    assert said(check("team", "\n{% filter upper %}x{% endfilter %}")) == [
        ("hint", 2, 11, "Filters such as `upper` are not recommended in a prompt template.")
    ]


def test_if_without_else_is_a_warning() -> None:
    values = sample_values("team")
    assert render("team", "[{{ 'late' if round_number > 3 }}]", values) == "[]"
    with pytest.raises(UndefinedFailure):
        render("team", "{{ ('late' if round_number > 3) + '!' }}", values)
    assert said(check("team", "\n{{ 'late' if round_number > 3 }}")) == [
        (
            "warning",
            2,
            4,
            "This `… if …` has no `else`: if the condition is false it prints nothing,"
            " and using its value fails.",
        )
    ]


def test_problems_come_by_line_and_column() -> None:
    found = check("team", "{{ b }}{{ a|map }}\n{% include 'x' %}{{ c }}\n{{ d }}")
    assert [(problem.line, problem.column) for problem in found] == [
        (1, 4), (1, 11), (1, 13), (2, 4), (2, 21), (3, 4)
    ]  # fmt: skip


def test_nothing_is_compiled() -> None:
    """Folding this constant would take forever, and compiling raises an event."""
    events: list[str] = []
    watching = True

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        if watching and event in ("compile", "exec"):
            events.append(event)

    sys.addaudithook(watch)
    check("team", "{{ ('a' * 1000000 * 1000000)|length }}\n{{ [1, 2]|sum }}\n")
    watching = False
    assert events == []


def test_problem_survives_the_wire() -> None:
    for found in check("team", "{{ user_promt }}{{ 'a'|uper }}{% for i in 'a' %}{% endfor %}"):
        assert Problem.from_json(found.as_json()) == found


def test_every_sentence_is_there_in_both_languages() -> None:
    ours = [code for code in MESSAGES if code.split("-")[0] in ("gate", "scope", "syntax", "check", "render")]
    assert len(ours) > 50
    for code in ours:
        entry = MESSAGES[code]
        assert entry.text.en
        assert entry.text.ja
        assert entry.suggestion is None or entry.suggestion.ja
