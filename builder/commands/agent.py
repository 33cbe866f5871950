"""``agent``: report a workspace to a studio on another machine, and carry out its exports."""

import argparse
import os
import signal
import socket
import threading

from builder.client.agent import Agent, pause_after
from builder.client.connection import Connection
from builder.client.credentials import read_credentials
from builder.commands import terminal
from builder.commands.arguments import Subcommands, add_workspace
from builder.errors import BuilderError


def add_to(commands: Subcommands) -> None:
    parser = commands.add_parser("agent", help="report a workspace to a studio and write exports to it")
    add_workspace(parser, "--workspace", "-w")
    parser.add_argument("--once", action="store_true", help="report once and exit, for cron")
    parser.add_argument("--every", type=_seconds, default=10.0, metavar="SECONDS", help="(default: 10)")
    parser.add_argument("--machine", default=socket.gethostname(), help="(default: this machine's name)")
    parser.add_argument("--name", default="", help="what the studio calls the workspace")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    if not arguments.workspace.is_dir():
        terminal.complain(f"{arguments.workspace} is not a folder")
        return 1
    connection = Connection(read_credentials(os.environ))
    agent = Agent(connection, arguments.workspace, arguments.machine, arguments.name)
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    try:
        return _once(agent) if arguments.once else _until(ended, agent, arguments.every)
    finally:
        agent.stop()


def _once(agent: Agent) -> int:
    _tell(agent)
    return 0


def _until(ended: threading.Event, agent: Agent, every: float) -> int:
    """Go on until somebody says stop; a studio that is away is asked again."""
    pause, complaint = 0.0, ""
    while not ended.wait(pause):
        try:
            _tell(agent)
            pause, complaint = every, ""
        except BuilderError as error:
            pause = pause_after(error, every)
            # The same complaint every ten seconds would fill a log.
            if error.text() != complaint:
                terminal.complain(error.text(), error.advice())
            complaint = error.text()
    return 0


def _tell(agent: Agent) -> None:
    sent = agent.once()
    if sent.files or sent.executions or sent.exports:
        terminal.note(
            f"sent {sent.files} files and {sent.executions} executions ({sent.bytes:,} bytes);"
            f" carried out {sent.exports} exports"
        )


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 1 <= seconds <= 3600:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds from 1 to 3600")
    return seconds
