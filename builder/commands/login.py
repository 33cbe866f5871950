"""``login``: keep a studio's address and a token for the commands that talk to it."""

import argparse
import getpass
import os
import sys

from builder.client.connection import Connection
from builder.client.credentials import Credentials, address, store_credentials
from builder.commands import terminal
from builder.commands.arguments import Subcommands


def add_to(commands: Subcommands) -> None:
    parser = commands.add_parser("login", help="store a studio's address and token")
    parser.add_argument("url", metavar="URL", help="for example https://studio.example.org")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    url = address(arguments.url)
    credentials = Credentials(url, _token(url))
    account = Connection(credentials).get("account")
    path = store_credentials(credentials, os.environ)
    terminal.note(f"Signed in to {url} as {account['name']}; the token is kept in {path}")
    return 0


def _token(url: str) -> str:
    """From a person, or from a pipe; never as an argument, which other processes can see."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().strip()
    terminal.note(f"Make a token on {url}/account/ and paste it here. It is not shown.")
    return getpass.getpass("Token: ").strip()
