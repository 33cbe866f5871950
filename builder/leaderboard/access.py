"""Asks the current copy, and asks a new one where the copy turns out to be bad."""

from collections.abc import Callable
from typing import TypeVar

import duckdb

from builder.errors import DatabaseDamaged, LeaderboardError
from builder.leaderboard.reader import Reader, looks_damaged
from builder.leaderboard.sentences import DAMAGED, FOREIGN, UNREADABLE
from builder.leaderboard.snapshot import Snapshots

T = TypeVar("T")


def ask(snapshots: Snapshots, question: Callable[[Reader], T]) -> T:
    """The answer to a question, or one of the builder's own errors."""
    reader = snapshots.reader()
    try:
        return question(reader)
    except duckdb.Error as error:
        if not looks_damaged(error):
            raise _unanswered(error, snapshots.path) from error
        # Blocks are checked as they are read: a copy that was good at its head can be bad inside.
        snapshots.discard(reader)
    try:
        return question(snapshots.reader())
    except duckdb.Error as error:
        raise DatabaseDamaged(DAMAGED, path=snapshots.path, reason=_first_line(error)) from error


def _unanswered(error: duckdb.Error, path: str) -> LeaderboardError:
    # A query that fits MixSeek's tables and not these: the columns have other types.
    foreign = isinstance(error, duckdb.ProgrammingError | duckdb.DataError)
    return LeaderboardError(FOREIGN if foreign else UNREADABLE, path=path, reason=_first_line(error))


def _first_line(error: duckdb.Error) -> str:
    return str(error).split("\n")[0]
