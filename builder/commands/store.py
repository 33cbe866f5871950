"""The leaderboard as the commands open it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from builder.leaderboard import AggregationStore
from builder.template.dialect import Dialect


@contextmanager
def opened(workspace: Path, dialect: Dialect) -> Iterator[AggregationStore]:
    """The workspace's store; its answers are as new as the command."""
    with AggregationStore(workspace, dialect=dialect) as store:
        # Whoever types a command asks again for a file that was set aside.
        store.try_again()
        yield store
