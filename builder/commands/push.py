"""``push``: send a workspace's hand edit to the studio, as a draft or as a version."""

import argparse
import os

from builder.client.prompts import Studio
from builder.client.workspace_file import push
from builder.commands import terminal
from builder.commands.arguments import Subcommands, add_workspace


def add_to(commands: Subcommands) -> None:
    parser = commands.add_parser("push", help="send a hand edit to the studio as a draft or a version")
    parser.add_argument(
        "prompt_set", nargs="?", default="", metavar="SET", help="(default: the set that was pulled last)"
    )
    add_workspace(parser, "--workspace", "-w")
    parser.add_argument("--file", default="", metavar="FILE", help="another prompt file of the workspace")
    parser.add_argument("--message", "-m", default="", help="save a version with this message")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    studio = Studio()
    made = push(
        studio,
        arguments.workspace,
        prompt_set=arguments.prompt_set,
        file=arguments.file,
        text=arguments.message,
        as_version=bool(arguments.message),
        environ=os.environ,
    )
    url = f"{studio.credentials.url}/prompts/{made['set']}/"
    if arguments.message:
        terminal.note(f"Saved as {made['set']}@{made['number']}: {url}versions/{made['number']}/")
    else:
        terminal.note(f"Kept as your draft of {made['set']}: {url}edit/")
    return 0
