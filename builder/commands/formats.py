"""``formats``: the formats of prompts, and what differs between them, as a Markdown table."""

import argparse

from builder.commands import terminal
from builder.commands.arguments import Subcommands
from builder.template.dialect import DIALECTS
from builder.template.dialect_table import differences


def add_to(commands: Subcommands) -> None:
    parser = commands.add_parser("formats", help="list the formats and their differences")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    rows = [["", *DIALECTS], ["---"] * (len(DIALECTS) + 1)]
    rows += [[row.title.en, *(cell.en for cell in row.cells)] for row in differences()]
    for cells in rows:
        terminal.write_exactly(f"| {' | '.join(map(_in_a_cell, cells))} |\n")
    return 0


def _in_a_cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", "⏎")
