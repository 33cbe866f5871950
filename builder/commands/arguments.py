"""Arguments that several subcommands share, and the types behind them."""

import argparse
import os
import sys
from datetime import datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING

from builder.errors import BuilderError, TimezoneError
from builder.files.reading import WORKSPACE_VARIABLE, workspace_of
from builder.messages import message
from builder.template.dialect import CONTRACT, DIALECTS, NEWEST, Dialect, dialect_named
from builder.template.formatters import timezone

if TYPE_CHECKING:
    Subcommands = argparse._SubParsersAction[argparse.ArgumentParser]
else:
    Subcommands = object


NOT_TEXT = message(
    "command-not-text",
    "{file} is not UTF-8 text",
    "{file} はUTF-8のテキストではありません",
)


def add_dialect(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--dialect",
        choices=[NEWEST, *DIALECTS],
        default="contract",
        help="the format: specification (default), specification in English, or a MixSeek release;"
        " `mixseek` is the newest. See `formats`.",
    )


def chosen_dialect(arguments: argparse.Namespace) -> Dialect:
    """What ``--dialect`` says; its choices are names that are known."""
    return dialect_named(arguments.dialect) or CONTRACT


def add_workspace(parser: argparse.ArgumentParser, *names: str, help: str = "the MixSeek workspace") -> None:
    """The workspace, by position or under a name; ``MIXSEEK_WORKSPACE`` where none is given."""
    parser.add_argument(
        *(names or ("workspace",)),
        **({} if names else {"nargs": "?"}),  # type: ignore[arg-type]
        type=Path,
        metavar="WORKSPACE",
        default=workspace_of(os.environ),
        help=f"{help} (default: ${WORKSPACE_VARIABLE})",
    )


def add_isolated(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--isolated",
        action="store_true",
        help="run in sandboxed worker processes, for untrusted templates",
    )


def moment(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not an ISO 8601 time; write for example 2025-11-19T12:34:56+00:00"
        ) from None


def zone(text: str) -> tzinfo:
    try:
        return timezone(text)
    except TimezoneError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a time zone; write for example Asia/Tokyo or UTC"
        ) from None


def read_input(name: str) -> bytes:
    """A file's bytes; ``-`` is stdin."""
    return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()


def read_text(name: str) -> str:
    """The same as text; line ends stay as they are."""
    try:
        return read_input(name).decode()
    except UnicodeDecodeError:
        raise BuilderError(NOT_TEXT, file=name) from None
