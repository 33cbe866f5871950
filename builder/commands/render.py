"""``render``: the prompt as it would be delivered, without one byte more."""

import argparse
from datetime import datetime, tzinfo
from pathlib import Path

from builder.commands import terminal
from builder.commands.arguments import (
    Subcommands,
    add_dialect,
    add_isolated,
    add_workspace,
    chosen_dialect,
    moment,
    read_input,
    zone,
)
from builder.commands.store import opened
from builder.contract.settings import load_settings
from builder.jail import JailPool
from builder.leaderboard import database_path
from builder.template import formatters
from builder.template.dialect import Dialect
from builder.template.formatters import Values, current_time
from builder.template.models import PromptContext, RoundPromptContext, read_context
from builder.template.render import render
from builder.template.shapes import Ranking
from builder.template.variables import KINDS, PromptKind, field_name


def add_to(commands: Subcommands) -> None:
    parser = commands.add_parser("render", help="print a prompt as it would be delivered")
    parser.add_argument("kind", choices=KINDS, help="which of the three prompts")
    add_workspace(parser, "--workspace", "-w")
    parser.add_argument(
        "--context", "-c", required=True, metavar="FILE", help="the context as JSON; - reads stdin"
    )
    parser.add_argument(
        "--now", type=moment, metavar="ISO", help="the time to render with, for reproducible output"
    )
    parser.add_argument("--tz", type=zone, metavar="ZONE", help="the time zone, e.g. Asia/Tokyo")
    add_dialect(parser)
    add_isolated(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    kind: PromptKind = arguments.kind
    dialect = chosen_dialect(arguments)
    settings = load_settings(arguments.workspace, dialect)
    context = read_context(kind, read_input(arguments.context))
    ranking = _ranking(arguments.workspace, context, dialect)
    template, now = getattr(settings, field_name(kind)), _clock(arguments.now, arguments.tz)
    values = formatters.variables(kind, context, ranking, now, dialect, template)
    text = _render(kind, template, values, dialect, isolated=arguments.isolated)
    terminal.write_exactly(text)
    return 0


def _ranking(workspace: Path, context: PromptContext, dialect: Dialect) -> Ranking | None:
    if (
        not isinstance(context, RoundPromptContext)
        or context.ranking is not None
        or context.round_number == 1
    ):
        return None
    if not database_path(workspace).exists():
        return None
    with opened(workspace, dialect) as store:
        return store.ranking(context.execution_id)


def _clock(now: datetime | None, tz: tzinfo | None) -> datetime:
    if now is None:
        return current_time().astimezone(tz) if tz else current_time()
    if now.tzinfo is None:
        return now.replace(tzinfo=tz or current_time().tzinfo)
    return now.astimezone(tz) if tz else now


def _render(kind: PromptKind, text: str, values: Values, dialect: Dialect, *, isolated: bool) -> str:
    if not isolated:
        return render(kind, text, values, dialect)
    with JailPool(size=1, spares=0) as pool:
        return pool.render(kind, text, values, dialect)
