"""``python -m builder``: exit 0 fine (hints and warnings included), 1 at least one error, 2 usage."""

import argparse
import os
import sys
from collections.abc import Sequence

from builder.commands import check, context, diff, formats, init, leaderboard, render, system
from builder.commands.terminal import complain
from builder.errors import BuilderError

COMMANDS = (init, check, render, formats, context, diff, leaderboard, system)


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
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


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m builder", description="Check, render and compare MixSeek's prompt templates."
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add_to(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
