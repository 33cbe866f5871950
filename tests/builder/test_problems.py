"""What a check reports."""

import json

from builder.messages import say
from builder.problems import Problem, errors_in

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
