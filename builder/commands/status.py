"""``status``: what a workspace's prompt file holds, beside what was pulled and what the studio has now."""

import argparse
import os

from builder.client.prompts import Studio
from builder.client.workspace_file import status
from builder.commands import terminal
from builder.commands.arguments import Subcommands, add_workspace
from builder.errors import ClientError

_SENTENCES = {
    "missing": "there is no prompt file yet",
    "same": "as it was pulled",
    "edited": "edited by hand since it was pulled",
    "invalid": "not readable as a prompt file, or without one of the three templates",
}


def add_to(commands: Subcommands) -> None:
    parser = commands.add_parser("status", help="show the state of the prompt file and of the studio")
    add_workspace(parser, "--workspace", "-w")
    parser.add_argument("--file", default="", metavar="FILE", help="another prompt file of the workspace")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    found = status(arguments.workspace, file=arguments.file, environ=os.environ)
    print(f"file      {found.path}")
    if found.prompt_set:
        print(f"pulled    {found.prompt_set}@{found.number}, {found.pulled_at:%Y-%m-%d %H:%M %Z}")
    known = found.prompt_set or found.standing == "missing"
    print(f"state     {_SENTENCES[found.standing] if known else 'never pulled here'}")
    try:
        studio = Studio()
        account = studio.connection.get("account")
        print(f"studio    {studio.credentials.url}, as {account['name']} ({', '.join(account['scopes'])})")
        if found.prompt_set:
            newest = studio.prompts(found.prompt_set)
            print(f"newest    {newest.reference}: {terminal.visible(newest.message)}")
    except ClientError as error:
        terminal.complain(error.text(), error.advice())
        return 1
    return 0 if found.standing in ("same", "missing") or not found.prompt_set else 1
