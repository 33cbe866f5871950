"""The leaderboard that MixSeek leaves in DuckDB. The only user of duckdb; all SQL is here.

A question goes from ``store`` to ``source``, which asks the current copy (``snapshot``). ``making`` makes a
copy: ``copying`` copies the files into ``folder``. ``reader`` asks the reader process (``process``), in which
``worker`` opens the copy: a file may define what runs where it is opened. ``digest`` has the pages' tables.
``executions``, ``across`` and ``queries`` hold the queries, ``rows`` and ``records`` shape their rows,
``story`` and ``rebuild`` put a round together again.
"""

from builder.leaderboard.copying import LARGEST
from builder.leaderboard.folder import Bounds, CopyFolder, default_folder
from builder.leaderboard.making import Retries
from builder.leaderboard.process import stop_readers, yield_to_others
from builder.leaderboard.progress import Progress
from builder.leaderboard.rebuild import DeliveredRun, Renderer, StoredRound
from builder.leaderboard.records import (
    Activity,
    Bin,
    DeliveredPrompt,
    Distribution,
    Execution,
    ExecutionComparison,
    ExecutionOrder,
    ExecutionState,
    Metric,
    RebuiltRound,
    RoundRecord,
    ScoredRound,
    ScorePoint,
    ScoresBy,
    ScoresOf,
    Standing,
    SubmissionLength,
    TeamDelta,
    TeamFailure,
    TeamOrder,
    TeamRun,
    TeamSummary,
)
from builder.leaderboard.schema import DATABASE_NAME, Gap
from builder.leaderboard.snapshot import Copying, Freshness
from builder.leaderboard.source import RUNNING_WITHIN, database_path
from builder.leaderboard.store import AggregationStore

__all__ = [
    "DATABASE_NAME",
    "LARGEST",
    "RUNNING_WITHIN",
    "Activity",
    "AggregationStore",
    "Bin",
    "Bounds",
    "CopyFolder",
    "Copying",
    "DeliveredPrompt",
    "DeliveredRun",
    "Distribution",
    "Execution",
    "ExecutionComparison",
    "ExecutionOrder",
    "ExecutionState",
    "Freshness",
    "Gap",
    "Metric",
    "Progress",
    "RebuiltRound",
    "Renderer",
    "Retries",
    "RoundRecord",
    "ScorePoint",
    "ScoredRound",
    "ScoresBy",
    "ScoresOf",
    "Standing",
    "StoredRound",
    "SubmissionLength",
    "TeamDelta",
    "TeamFailure",
    "TeamOrder",
    "TeamRun",
    "TeamSummary",
    "database_path",
    "default_folder",
    "stop_readers",
    "yield_to_others",
]
