"""Runs as the studio stored them when it examined them: what stays of a workspace whose folder is not there.

Used by the pages of a workspace and of a run where the database cannot be asked.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from studio.models import RunResult, Workspace
from studio.results.origins import is_id

MOST_ROUNDS = 200
"""Columns of a run's table; MixSeek has no limit, a page has."""


@dataclass(frozen=True)
class StoredTeam:
    """A team's scores by round; None where a round has none."""

    name: str
    scores: Sequence[float | None]


@dataclass(frozen=True)
class StoredRun:
    """An examined run with the scores of each team."""

    result: RunResult
    rounds: Sequence[int]
    teams: Sequence[StoredTeam]


def stored_runs(workspace: Workspace) -> "QuerySet[RunResult]":
    """The examined runs of a workspace, the newest first."""
    results: QuerySet[RunResult] = RunResult.objects.filter(workspace=workspace)
    return results


def stored_run(workspace: Workspace, execution_id: str) -> StoredRun | None:
    """One of them; None where it was never examined."""
    if not is_id(execution_id):
        return None
    result = stored_runs(workspace).filter(execution_id=execution_id).first()
    if result is None:
        return None
    rows = list(result.round_results.filter(round_number__lte=MOST_ROUNDS))
    rounds = sorted({row.round_number for row in rows})
    names: dict[str, str] = {}
    scores: dict[str, dict[int, float | None]] = {}
    for row in rows:
        names[row.team_id] = row.team_name
        scores.setdefault(row.team_id, {})[row.round_number] = row.score
    teams = [StoredTeam(names[team], [of.get(number) for number in rounds]) for team, of in scores.items()]
    return StoredRun(result, rounds, teams)
