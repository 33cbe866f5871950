"""``diff``: two texts side by side, or as a unified patch."""

import argparse
import shutil
import sys

from builder.commands import terminal
from builder.commands.arguments import Subcommands, read_text
from builder.diff.lines import Diff, Line, Row, Section, compare
from builder.diff.unified import unified

# A screen narrower than this shows too little of two texts to compare them.
NARROWEST = 60
SIGNS = {"equal": " ", "changed": "|", "added": ">", "removed": "<"}


def add_to(commands: Subcommands) -> None:
    parser = commands.add_parser("diff", help="compare two files side by side")
    parser.add_argument("left", metavar="A")
    parser.add_argument("right", metavar="B")
    parser.add_argument("--unified", "-u", action="store_true", help="print a patch instead")
    parser.add_argument("--ignore-whitespace", "-w", action="store_true")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    left, right = read_text(arguments.left), read_text(arguments.right)
    diff = compare(left, right, ignore_whitespace=arguments.ignore_whitespace)
    if arguments.unified:
        terminal.write_exactly(unified(diff, arguments.left, arguments.right))
    elif diff.is_same:
        terminal.note("The texts are the same.")
    else:
        terminal.write_exactly(side_by_side(diff, shutil.get_terminal_size((120, 24)).columns))
    return 0


def side_by_side(diff: Diff, columns: int) -> str:
    """Changed stretches with their surroundings; a line says how many equal rows are left out."""
    digits = len(str(len(diff)))
    half = (max(columns, NARROWEST) - 3) // 2 - digits - 1
    return "".join(_section(section, digits, half) for section in diff.sections())


def _section(section: Section, digits: int, half: int) -> str:
    if section.folded:
        return terminal.paint(f"{' ' * digits} … {len(section)} equal …", terminal.DIM, sys.stdout) + "\n"
    return "".join(_row(row, digits, half) for row in section.rows)


def _row(row: Row, digits: int, half: int) -> str:
    left = _side(row.left, row.kind != "equal", terminal.RED, digits, half)
    right = _side(row.right, row.kind != "equal", terminal.GREEN, digits, half)
    return f"{left} {SIGNS[row.kind]} {right}".rstrip() + "\n"


def _side(line: Line | None, differs: bool, colour: str, digits: int, half: int) -> str:
    if line is None:
        return " " * (digits + 1 + half)
    text = terminal.fit(terminal.visible(line.text.replace("\t", "    ")), half)
    return f"{line.number:>{digits}} {terminal.paint(text, colour, sys.stdout) if differs else text}"
