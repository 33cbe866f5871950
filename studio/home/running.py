"""Runs under way, by what their teams report in `logs/`; no database is opened. Used by the home page."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from builder.errors import LeaderboardError
from builder.files.answering import answers
from builder.leaderboard import RUNNING_WITHIN, Progress
from studio.models import RunResult, Workspace
from studio.workspaces.stores import store_of

MOST_WORKSPACES = 10
"""Whose logs one page reads, of those in which a run began lately."""
LONGEST_RUN = timedelta(days=2)


@dataclass(frozen=True)
class RunningRun:
    """A run that shows signs of life."""

    workspace: Workspace
    execution_id: str
    teams: int
    round: int | None
    """The furthest that a team has got."""
    rounds: int | None
    result: RunResult | None
    """What is known of it already: the version that made its prompts, its best score so far."""


def running_runs(workspaces: Sequence[Workspace], now: datetime) -> list[RunningRun]:
    """Those whose teams reported lately and are not through."""
    lately = (now - LONGEST_RUN).timestamp()
    lively = [workspace for workspace in workspaces if _last_began_at(workspace) >= lately]
    found = [
        (workspace, execution, reports)
        for workspace in lively[:MOST_WORKSPACES]
        for execution, reports in _reports(workspace, now).items()
    ]
    results = RunResult.objects.filter(
        execution_id__in=[execution for _, execution, _ in found],
        workspace__in=[workspace for workspace, _, _ in found],
    ).select_related("version__prompt_set")
    known = {(result.workspace_id, result.execution_id): result for result in results} if found else {}
    return [
        RunningRun(
            workspace,
            execution,
            len(reports),
            max((report.current_round or 0 for report in reports), default=0) or None,
            max((report.total_rounds or 0 for report in reports), default=0) or None,
            known.get((workspace.pk, execution)),
        )
        for workspace, execution, reports in found
    ]


def _reports(workspace: Workspace, now: datetime) -> dict[str, list[Progress]]:
    """What the teams of each run say of which one is still at work."""
    try:
        store = store_of(workspace)
        reports = store.progress(store.signs(None, now).alive)
    except LeaderboardError:
        return {}
    runs: dict[str, list[Progress]] = {}
    for report in reports:
        runs.setdefault(report.execution_id, []).append(report)
    since = now - RUNNING_WITHIN
    return {
        execution: teams
        for execution, teams in runs.items()
        if any(team.status == "running" and team.updated_at and team.updated_at >= since for team in teams)
    }


def _last_began_at(workspace: Workspace) -> float:
    """A run makes new files in the folder when it begins, and then writes to them."""
    if not answers(workspace.folder):
        return 0.0
    try:
        return os.stat(workspace.folder / "logs").st_mtime
    except OSError:
        return 0.0
