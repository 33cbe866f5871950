"""Asks the current copy, and asks a new one where the copy turns out to be bad."""

from collections.abc import Callable
from typing import TypeVar

import duckdb

from builder.errors import DatabaseDamaged
from builder.leaderboard.reader import Reader, first_line, looks_damaged, unanswered
from builder.leaderboard.sentences import DAMAGED
from builder.leaderboard.snapshot import Snapshots

T = TypeVar("T")


def ask(snapshots: Snapshots, question: Callable[[Reader], T]) -> T:
    """The answer to a question, or one of the builder's own errors."""
    reader = snapshots.reader()
    try:
        return question(reader)
    except duckdb.Error as error:
        if not looks_damaged(error):
            raise unanswered(error, snapshots.path) from error
        # Blocks are checked as they are read: a copy that was good at its head can be bad inside.
        snapshots.discard(reader)
    try:
        return question(snapshots.reader())
    except duckdb.Error as error:
        raise DatabaseDamaged(DAMAGED, path=snapshots.path, reason=first_line(error)) from error
