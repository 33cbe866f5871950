"""``init``: a workspace's first prompt file, with the default templates and their help."""

import argparse
from datetime import date

from builder.commands import terminal
from builder.commands.arguments import Subcommands, add_workspace
from builder.contract.settings import init_file
from builder.template.dialect import CONTRACT, MIXSEEK, NEWEST, RELEASES


def add_to(commands: Subcommands) -> None:
    parser = commands.add_parser("init", help="write configs/prompt_builder.toml with the default templates")
    add_workspace(parser)
    parser.add_argument(
        "--release",
        choices=[NEWEST, *(dialect.release for dialect in RELEASES)],
        help="default templates of this MixSeek release (`mixseek`: the newest), not of the specification",
    )
    parser.add_argument("--force", action="store_true", help="replace the templates of an existing file")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    releases = {None: CONTRACT, NEWEST: MIXSEEK} | {dialect.release: dialect for dialect in RELEASES}
    dialect = releases[arguments.release]
    written = init_file(arguments.workspace, force=arguments.force, today=date.today(), dialect=dialect)
    terminal.note(f"Wrote {written}")
    return 0
