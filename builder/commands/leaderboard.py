"""``leaderboard``: the executions of a workspace, or the ranking of one."""

import argparse
import csv
import io
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from builder.commands import terminal
from builder.commands.arguments import Subcommands, add_dialect, add_workspace, chosen_dialect
from builder.commands.store import opened
from builder.files.reading import workspace_of
from builder.leaderboard import AggregationStore, Execution, Standing
from builder.leaderboard.sentences import MISSING_COLUMN, MISSING_TABLE
from builder.messages import say


def add_to(commands: Subcommands) -> None:
    parser = commands.add_parser("leaderboard", help="list a workspace's executions, or rank one")
    add_workspace(parser)
    parser.add_argument("execution", nargs="?", metavar="EXECUTION")
    parser.add_argument("--format", choices=["table", "json", "csv"], default="table")
    add_dialect(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    workspace, execution = _asked(arguments.workspace, arguments.execution)
    with opened(workspace, chosen_dialect(arguments)) as store:
        rows = _executions(store) if execution is None else _ranking(store, execution)
    headings = _EXECUTION_COLUMNS if execution is None else _RANKING_COLUMNS
    terminal.write_exactly(_FORMATS[arguments.format](headings, rows))
    return 0


def _asked(workspace: Path, execution: str | None) -> tuple[Path, str | None]:
    """A single argument that is nothing on disk is an execution of the usual workspace, if there is one."""
    usual = workspace_of(os.environ)
    if execution is None and usual is not None and not workspace.exists():
        return usual, str(workspace)
    return workspace, execution


def _executions(store: AggregationStore) -> list[dict[str, Any]]:
    for gap in store.gaps():
        code = MISSING_COLUMN if gap.column else MISSING_TABLE
        terminal.warn(say(code, {"table": gap.table, "column": gap.column or ""}))
    return [_execution_row(execution) for execution in store.executions()]


def _ranking(store: AggregationStore, execution_id: str) -> list[dict[str, Any]]:
    places = store.standings(execution_id)
    if not places:
        # Nobody has finished a round yet, or the id is mistyped: this says which.
        store.rounds(execution_id)
    return [_ranking_row(place) for place in places]


_RANKING_COLUMNS = ("rank", "team_id", "team_name", "max_score", "total_rounds")
_EXECUTION_COLUMNS = ("execution_id", "state", "teams", "best_score", "started_at", "task")


def _ranking_row(place: Standing) -> dict[str, Any]:
    return {
        "rank": place.rank,
        "team_id": place.team_id,
        "team_name": place.team_name,
        "max_score": place.best_score,
        "total_rounds": place.rounds,
    }


def _execution_row(execution: Execution) -> dict[str, Any]:
    return {
        "execution_id": execution.execution_id,
        "state": execution.state,
        "teams": execution.teams,
        "best_score": execution.best_score,
        "started_at": execution.started_at.isoformat() if execution.started_at else None,
        "task": execution.user_prompt,
    }


def _as_json(headings: Sequence[str], rows: list[dict[str, Any]]) -> str:
    return json.dumps(rows, ensure_ascii=False, indent=2) + "\n"


def _as_csv(headings: Sequence[str], rows: list[dict[str, Any]]) -> str:
    sink = io.StringIO()
    writer = csv.DictWriter(sink, headings, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return sink.getvalue()


def _as_table(headings: Sequence[str], rows: list[dict[str, Any]]) -> str:
    numbers = [at for at, heading in enumerate(headings) if heading in _NUMBERS]
    return terminal.table(headings, ([_cell(row[heading]) for heading in headings] for row in rows), numbers)


_NUMBERS = {"rank", "teams", "max_score", "best_score", "total_rounds"}
_TASK_COLUMNS = 60


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.2f}"
    text = str(value)
    return terminal.fit(text, _TASK_COLUMNS) if terminal.width(text) > _TASK_COLUMNS else text


_FORMATS = {"table": _as_table, "json": _as_json, "csv": _as_csv}
