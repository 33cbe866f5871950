"""The leaderboard that MixSeek leaves in DuckDB. The only user of duckdb; all SQL is here."""

from builder.leaderboard.folder import Bounds, default_folder
from builder.leaderboard.progress import Progress, read_progress
from builder.leaderboard.rebuild import Renderer
from builder.leaderboard.records import (
    DeliveredPrompt,
    Execution,
    ExecutionState,
    Metric,
    RebuiltRound,
    RoundRecord,
)
from builder.leaderboard.schema import DATABASE_NAME, Gap
from builder.leaderboard.snapshot import Freshness, Retries
from builder.leaderboard.store import AggregationStore, database_path

__all__ = [
    "DATABASE_NAME",
    "AggregationStore",
    "Bounds",
    "DeliveredPrompt",
    "Execution",
    "ExecutionState",
    "Freshness",
    "Gap",
    "Metric",
    "Progress",
    "RebuiltRound",
    "Renderer",
    "Retries",
    "RoundRecord",
    "database_path",
    "default_folder",
    "read_progress",
]
