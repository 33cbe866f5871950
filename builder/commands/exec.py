"""``exec``: run a command with exactly one version, without touching the workspace's prompt file."""

import argparse
import os
from pathlib import Path

from builder.client.pinned import NO_PROGRAM, Surroundings, run_pinned
from builder.client.prompts import Studio
from builder.commands import terminal
from builder.commands.arguments import Subcommands, add_workspace
from builder.commands.pull import add_reference, warn_of_age
from builder.errors import ClientError


def add_to(commands: Subcommands) -> None:
    parser = commands.add_parser(
        "exec", help="run MixSeek with one version, without changing the prompt file"
    )
    add_reference(parser)
    add_workspace(parser, "--workspace", "-w")
    parser.add_argument(
        "command",
        nargs="+",
        metavar="-- COMMAND",
        help='after --, for example: -- mixseek exec "task" --config configs/orchestrator.toml',
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    studio = Studio()
    prompts = studio.prompts(arguments.reference)
    warn_of_age(prompts)
    at = Surroundings(arguments.workspace.resolve(), os.environ, Path.cwd())
    try:
        code, manifest = run_pinned(prompts, _person(studio), arguments.command, at)
    except ClientError as error:
        if error.code != NO_PROGRAM:
            raise
        terminal.complain(error.text())
        return 127  # as a shell says it
    said = {
        "one": f"execution {', '.join(manifest.executions)}",
        "several": f"{len(manifest.executions)} executions fit, so which one it was cannot be told",
        "none": "no execution with its prompts was found",
        "unknown": "its execution could not be looked up",
    }
    terminal.note(f"{prompts.reference}: {said[manifest.link]}; {at.workspace / manifest.name}")
    return code


def _person(studio: Studio) -> str:
    """Whom the token belongs to; the account of this machine where the studio is away."""
    try:
        return str(studio.connection.get("account")["name"])
    except ClientError:
        return os.environ.get("USER", "")
