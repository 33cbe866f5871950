"""What ran in a workspace, as its pages show it: executions, how current they are, or why there are none."""

from dataclasses import dataclass
from datetime import datetime

from builder.errors import DatabaseMissing, LeaderboardError
from builder.leaderboard import Execution, Freshness
from studio.language import reader_language
from studio.models import Workspace
from studio.stores import store_of


@dataclass(frozen=True)
class Runs:
    """The newest executions of a workspace; ``problem`` and ``advice`` where they cannot be read."""

    executions: tuple[Execution, ...] = ()
    freshness: Freshness | None = None
    more: bool = False
    problem: str = ""
    advice: str = ""


def read_runs(workspace: Workspace, limit: int, now: datetime) -> Runs:
    """The newest executions, out of a verified copy of the database; MixSeek's own file is never opened."""
    store = store_of(workspace)
    try:
        executions = store.executions(limit=limit + 1, now=now)
        return Runs(tuple(executions[:limit]), store.freshness(), more=len(executions) > limit)
    except DatabaseMissing:
        return Runs()
    except LeaderboardError as error:
        language = reader_language()
        return Runs(problem=error.text(language), advice=error.advice(language))
