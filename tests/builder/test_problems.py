"""What a check reports."""

import json

import pytest

from builder.errors import PromptFileInvalid
from builder.files.file_check import check_file
from builder.messages import say
from builder.problems import MORE, MOST_PROBLEMS, Problem, cut, errors_in
from builder.system.file import settings_of
from builder.system.table import read_system_table
from builder.template.check import check

PROBLEM = Problem("error", "template-syntax", 3, 5, {"line": 3, "reason": "bad"}, "submision", "submission")


def test_a_problem_speaks_both_languages() -> None:
    assert PROBLEM.message == "Jinja2 template syntax error at line 3: bad"
    assert PROBLEM.text("ja") == say("template-syntax", {"line": 3, "reason": "bad"}, "ja")
    assert PROBLEM.suggestion == PROBLEM.advice("ja") == ""


def test_a_problem_crosses_a_pipe_as_json() -> None:
    assert Problem.from_json(json.loads(json.dumps(PROBLEM.as_json()))) == PROBLEM


def test_only_errors_keep_a_template_from_being_saved() -> None:
    hint, warning = Problem("hint", "template-error", 1), Problem("warning", "template-error", 1)
    assert errors_in([hint, PROBLEM, warning]) == [PROBLEM]


PARAMETERS = ",".join(f"a{n}" for n in range(30))
MANY_ARGUMENTS = "{% macro m(" + PARAMETERS + ") %}{% endmacro %}" + "{{ m() }}" * 900


def test_thirty_parameters_and_nine_hundred_calls_are_a_hundred_problems() -> None:
    problems = check("team", MANY_ARGUMENTS)
    assert len(problems) == MOST_PROBLEMS + 1
    assert problems[-1].message == "And more: only the first 100 problems are listed."
    assert {problem.severity for problem in problems} == {"error"}


def test_an_error_is_never_cut_off_by_hints() -> None:
    text = "{{ user_prompt|upper }}\n" * 200 + "{{ nothing }}\n"
    problems = check("team", text)
    assert len(problems) == MOST_PROBLEMS + 1
    assert [problem.line for problem in errors_in(problems)] == [201]
    assert (problems[-1].code, problems[-1].severity) == (MORE, "hint")


def test_what_is_left_out_counts_as_much_as_what_is_listed() -> None:
    many = [Problem("error", "template-error", line) for line in range(150)]
    assert errors_in(cut(many))[-1].code == MORE
    assert cut(many[:MOST_PROBLEMS]) == many[:MOST_PROBLEMS]


def test_a_file_of_sixty_thousand_tables_names_a_hundred() -> None:
    data = "".join(f"[t{number}]\n" for number in range(60_000)).encode()
    problems = check_file(data, "f")
    assert len(problems) < 110
    assert "59900 more unknown keys" in problems[-1].message


def test_a_system_prompts_table_with_too_much_is_one_problem() -> None:
    with pytest.raises(PromptFileInvalid, match=r"f, line 1: .* more than 2000 keys and values"):
        read_system_table(b"[system_prompt]\n" + b"".join(b"k%d = 1\n" % n for n in range(60_000)), "f")
    others = read_system_table(b"".join(b"[t%d]\n" % n for n in range(60_000)), "f").others
    assert len(others) == MOST_PROBLEMS
    wrong = read_system_table(b"[system_prompt]\n" + b"".join(b"k%d = 1\n" % n for n in range(500)), "f")
    assert len(settings_of(wrong).problems) == MOST_PROBLEMS + 1
