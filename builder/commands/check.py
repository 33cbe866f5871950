"""``check``: the problems of prompt files, as text, JSON, SARIF or annotations of a code host."""

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from builder.commands import terminal
from builder.commands.arguments import Subcommands, add_isolated, read_input
from builder.commands.sarif import as_sarif
from builder.contract.settings import locate
from builder.errors import BuilderError, JailError
from builder.files.file_check import check_file, check_read, unreadable
from builder.files.reading import WORKSPACE_VARIABLE, workspace_of
from builder.jail import JailPool
from builder.messages import message
from builder.problems import Problem, Severity

NO_INPUT = message("command-no-input", "Cannot be read: {reason}", "読み込めません：{reason}")

Checker = Callable[[bytes, str], list[Problem]]

COLOURS: dict[Severity, str] = {"error": terminal.RED, "warning": terminal.YELLOW, "hint": terminal.BLUE}
# What a code host calls them in its annotations.
LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "hint": "notice"}


def add_to(commands: Subcommands) -> None:
    parser = commands.add_parser("check", help="check prompt files and report problems")
    usual = workspace_of(os.environ)
    parser.add_argument(
        "files",
        nargs="*",
        metavar="WORKSPACE|FILE",
        default=[str(usual)] if usual else [],
        help=f"a workspace or a prompt file; - reads stdin (default: ${WORKSPACE_VARIABLE})",
    )
    parser.add_argument(
        "--format",
        choices=list(_FORMATS),
        default="text",
        help="text, JSON, annotations for a code host, or SARIF",
    )
    add_isolated(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    with JailPool(size=1, spares=0) if arguments.isolated else nullcontext() as pool:
        checker = _jailed(pool) if pool else check_file
        problems = [problem for name in arguments.files for problem in _problems_of(name, checker)]
    terminal.write_exactly(_FORMATS[arguments.format](problems))
    return 1 if any(problem.severity == "error" for problem in problems) else 0


def _problems_of(name: str, checker: Checker) -> list[Problem]:
    """Those of one file; a file that is not there takes none of the others' findings away."""
    shown = "<stdin>" if name == "-" else name
    try:
        if Path(name).is_dir():
            name = shown = str(locate(Path(name)).path)
        data = read_input(name)
    except BuilderError as error:  # of the orchestrator file, which names the prompt file
        return [unreadable(error, str(error.params.get("file", name)))]
    except OSError as error:
        reason = error.strerror or str(error)
        return [Problem("error", NO_INPUT, 1, params={"reason": reason}, file=shown)]
    return checker(data, shown)


def _jailed(pool: JailPool) -> Checker:
    def checker(data: bytes, name: str) -> list[Problem]:
        try:
            return check_read(pool.read(data, name), pool.check)
        except JailError:
            raise
        except BuilderError as error:
            return [unreadable(error, name)]

    return checker


def _as_text(problems: Sequence[Problem]) -> str:
    return "".join(
        f"{_place(problem)}: {_severity(problem.severity)}: {_sentence(problem)}\n" for problem in problems
    )


def _place(problem: Problem) -> str:
    place = f"{problem.file}:{problem.line}"
    return f"{place}:{problem.column}" if problem.column else place


def _severity(severity: Severity) -> str:
    return terminal.paint(severity, COLOURS[severity], sys.stdout)


def _sentence(problem: Problem) -> str:
    # A sentence that ends in «did you mean …?» has given its advice already.
    advice = "" if problem.replacement else problem.advice()
    text = problem.text()
    if advice and text[-1] not in ".?!":
        text += "."
    return terminal.visible(f"{text} {advice}".rstrip())


def _as_json(problems: Sequence[Problem]) -> str:
    return json.dumps([_document(problem) for problem in problems], ensure_ascii=False, indent=2) + "\n"


def _document(problem: Problem) -> dict[str, Any]:
    return {
        "file": problem.file,
        "line": problem.line,
        "column": problem.column,
        "severity": problem.severity,
        "code": problem.code,
        "message": problem.text(),
        "suggestion": problem.advice(),
        "field": problem.field,
        "template_line": problem.template_line,
        "replaces": problem.replaces,
        "replacement": problem.replacement,
    }


def _as_annotations(problems: Sequence[Problem]) -> str:
    return "".join(_annotation(problem) for problem in problems)


def _annotation(problem: Problem) -> str:
    place = f"file={_escaped(problem.file or '', ',:')},line={problem.line}"
    if problem.column:
        place += f",col={problem.column}"
    return f"::{LEVELS[problem.severity]} {place}::{_escaped(_sentence(problem))}\n"


def _escaped(text: str, more: str = "") -> str:
    """A workflow command ends at a newline and its properties at a comma: both travel as %XX."""
    for character in "%\r\n" + more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text


_FORMATS: dict[str, Callable[[Sequence[Problem]], str]] = {
    "text": _as_text,
    "json": _as_json,
    "github": _as_annotations,
    "sarif": lambda problems: as_sarif(problems, _sentence),
}
