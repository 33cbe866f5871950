"""``pull``: write a version from the studio into a workspace's prompt file."""

import argparse
import os
import sys
from datetime import date

from builder.client.prompts import Prompts, Studio
from builder.client.workspace_file import pull
from builder.commands import terminal
from builder.commands.arguments import Subcommands, add_workspace


def add_to(commands: Subcommands) -> None:
    parser = commands.add_parser("pull", help="write a version from the studio to the prompt file")
    add_reference(parser)
    add_workspace(parser, "--workspace", "-w")
    parser.add_argument("--file", default="", metavar="FILE", help="another prompt file of the workspace")
    parser.add_argument("--dry-run", action="store_true", help="print what would change; write nothing")
    parser.add_argument(
        "--overwrite", action="store_true", help="replace a hand edit that is not saved as a version"
    )
    parser.set_defaults(run=run)


def add_reference(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "reference",
        metavar="SET[@LABEL|@NUMBER]",
        help="for example research-team@production; without a name, the newest version",
    )


def run(arguments: argparse.Namespace) -> int:
    studio = Studio()
    prompts = studio.prompts(arguments.reference)
    warn_of_age(prompts)
    pulled = pull(
        studio,
        prompts,
        arguments.workspace,
        today=date.today(),
        file=arguments.file,
        overwrite=arguments.overwrite,
        dry_run=arguments.dry_run,
        environ=os.environ,
    )
    if arguments.dry_run:
        sys.stdout.write(pulled.diff)
        if pulled.standing in ("edited", "invalid"):
            terminal.warn(f"{pulled.path} holds an edit that no version has: --overwrite would replace it")
        return 0
    done = "written to" if pulled.receipt else "stands already in"
    terminal.note(f"{prompts.reference} ({prompts.message}) {done} {pulled.path}")
    return 0


def warn_of_age(prompts: Prompts) -> None:
    if prompts.from_cache:
        minutes = round(prompts.age().total_seconds() / 60)
        terminal.warn(
            f"the studio cannot be reached: this is {prompts.reference} as it was {minutes} minutes ago"
        )
