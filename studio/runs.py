"""What ran in a workspace, as its pages show it: executions, how current they are, or why there are none."""

from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path

from django.conf import settings

from builder.dialect import DIALECTS
from builder.errors import DatabaseMissing, LeaderboardError
from builder.leaderboard import AggregationStore, Execution, Freshness
from studio.language import reader_language
from studio.models import Workspace


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
    store = _store(workspace.path, workspace.dialect)
    try:
        executions = store.executions(limit=limit + 1, now=now)
        return Runs(tuple(executions[:limit]), store.freshness(), more=len(executions) > limit)
    except DatabaseMissing:
        return Runs()
    except LeaderboardError as error:
        language = reader_language()
        return Runs(problem=error.text(language), advice=error.advice(language))


@lru_cache(maxsize=64)
def _store(path: str, dialect: str) -> AggregationStore:
    # Kept, because opening a copy costs more than asking it.
    return AggregationStore(
        Path(path),
        dialect=next(each for name, each in DIALECTS.items() if name == dialect),
        cache_folder=settings.STUDIO_DATA / "copies",
    )
