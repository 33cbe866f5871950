"""``context``: a stored round's context as JSON, ready for ``render``."""

import argparse
import json
from pathlib import Path

from builder.commands import terminal
from builder.commands.arguments import Subcommands, add_workspace
from builder.commands.store import opened
from builder.contract.settings import load_settings
from builder.leaderboard import RebuiltRound, Renderer
from builder.leaderboard.rebuild import team_values
from builder.template.dialect import MIXSEEK, Dialect
from builder.template.render import render


def add_to(commands: Subcommands) -> None:
    parser = commands.add_parser("context", help="print a stored round's context as JSON, for render")
    add_workspace(parser)
    parser.add_argument("execution", metavar="EXECUTION")
    parser.add_argument("team", metavar="TEAM")
    parser.add_argument("round", type=int, metavar="ROUND")
    parser.add_argument(
        "--for",
        dest="kind",
        choices=["team", "judgment"],
        default="team",
        help="for the team: earlier rounds only (default); for the judgment: this round too",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    # A stored round was ranked by the released MixSeek, whatever dialect it is rendered in now.
    with opened(arguments.workspace, MIXSEEK) as store:
        rebuilt = store.rebuild(
            arguments.execution,
            arguments.team,
            arguments.round,
            arguments.kind,
            renderer=_team_template(arguments.workspace),
        )
    # `render` ignores the clock of the delivery, but a person needs it for --now.
    document = rebuilt.context.model_dump(mode="json") | {"delivered_at": rebuilt.delivered_at.isoformat()}
    terminal.write_exactly(json.dumps(document, ensure_ascii=False, indent=2) + "\n")
    return 0


def _team_template(workspace: Path) -> Renderer:
    """The workspace's own: while a run goes on, its task can only be read out of what this made of it."""

    def as_delivered(rebuilt: RebuiltRound, dialect: Dialect) -> str:
        template = load_settings(workspace, dialect).team_user_prompt
        return render("team", template, team_values(rebuilt, dialect, template), dialect)

    return as_delivered
