"""``mcp``: serve a studio's sets, versions and trials to an assistant, over stdin and stdout."""

import argparse
import sys

from builder.client.prompts import Studio
from builder.commands.arguments import Subcommands


def add_to(commands: Subcommands) -> None:
    parser = commands.add_parser("mcp", help="let an assistant read the studio and try texts, over MCP")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    try:
        from builder.client.assistant import server_of
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "mcp":
            raise
        sys.exit("This command needs the package mcp: pip install 'prompt-studio[mcp]'")
    server_of(Studio()).run("stdio")
    return 0
