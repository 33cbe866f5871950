"""The findings of ``check`` as SARIF 2.1.0, which code hosts and editors show beside the lines."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from builder import __version__
from builder.messages import MESSAGES
from builder.problems import Problem, Severity

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "hint": "note"}


def as_sarif(problems: Sequence[Problem], sentence: Callable[[Problem], str]) -> str:
    """One run of one tool; each code is a rule, and ``sentence`` says what is wrong."""
    rules = list(dict.fromkeys(problem.code for problem in problems))
    driver = {
        "name": "prompt-studio",
        "version": __version__,
        "rules": [{"id": code, "shortDescription": {"text": _title(code)}} for code in rules],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(problem, rules.index(problem.code), sentence(problem)) for problem in problems],
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _title(code: str) -> str:
    """What all findings of a code have in common."""
    return re.sub(r"\{\w+\}", "…", MESSAGES[code].text.en)


def _result(problem: Problem, rule: int, sentence: str) -> dict[str, Any]:
    region = {"startLine": problem.line or 1}
    if problem.column:
        region["startColumn"] = problem.column
    location = {"artifactLocation": {"uri": _uri(problem.file or "")}, "region": region}
    return {
        "ruleId": problem.code,
        "ruleIndex": rule,
        "level": LEVELS[problem.severity],
        "message": {"text": sentence},
        "locations": [{"physicalLocation": location}],
    }


def _uri(file: str) -> str:
    """A path from the working directory, or a file address; what was read from stdin has neither."""
    path = PurePath(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())
