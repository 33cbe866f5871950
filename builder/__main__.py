"""``python -m builder``: exit 0 fine (hints and warnings included), 1 at least one error, 2 usage."""

import argparse
import os
import sys
from collections.abc import Sequence

from builder import __version__
from builder.commands import (
    agent,
    check,
    context,
    diff,
    exec,
    formats,
    init,
    leaderboard,
    login,
    mcp,
    pull,
    push,
    render,
    status,
    system,
)
from builder.commands.terminal import complain
from builder.errors import BuilderError
from builder.files.reading import WORKSPACE_VARIABLE

COMMANDS = (
    init,
    check,
    render,
    formats,
    context,
    diff,
    leaderboard,
    system,
    login,
    pull,
    push,
    status,
    exec,
    agent,
    mcp,
)


def main(argv: Sequence[str] | None = None, prog: str = "python -m builder") -> int:
    parser = _parser(prog)
    arguments = parser.parse_args(argv)
    if not getattr(arguments, "workspace", True) or not getattr(arguments, "files", True):
        parser.error(f"name a WORKSPACE, or set {WORKSPACE_VARIABLE}")
    try:
        return int(arguments.run(arguments))
    except BuilderError as error:
        complain(error.text(), error.advice())
    except BrokenPipeError:
        # The reader (`head`, a pager) has seen enough; what is still buffered has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        complain(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except KeyboardInterrupt:
        return 130
    return 1


def _parser(prog: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=prog,
        description="Check, render and compare MixSeek's prompt templates, and fetch them from a studio.",
    )
    parser.add_argument("--version", action="version", version=f"prompt-studio {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add_to(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
