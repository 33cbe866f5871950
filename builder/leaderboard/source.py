"""The source of all answers: a verified copy of a workspace's database, and its logs. The store's base."""

import os
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from builder.errors import LeaderboardError
from builder.leaderboard.copying import LARGEST, Terms
from builder.leaderboard.executions import FINISHED, UNFINISHED, Signs, deciding
from builder.leaderboard.folder import Bounds, CopyFolder, default_folder
from builder.leaderboard.making import Retries
from builder.leaderboard.process import Failed, Gone, ReaderStopped
from builder.leaderboard.progress import Progress, ProgressFolder
from builder.leaderboard.reader import Reader
from builder.leaderboard.schema import DATABASE_NAME, Gap
from builder.leaderboard.sentences import READERS_STOPPED
from builder.leaderboard.snapshot import Copying, Freshness, Snapshots
from builder.template.dialect import CONTRACT, Dialect

T = TypeVar("T")

PATIENCE = 30.0
"""Seconds that a question waits for the copy of a changed file before it is an error."""
RUNNING_WITHIN = timedelta(minutes=15)
"""A run without a summary that has shown no sign of life for longer was killed: MixSeek gives a team ten
minutes for a step and notes each one."""


def database_path(workspace: Path | str) -> Path:
    """Where a workspace keeps its database."""
    return Path(workspace) / DATABASE_NAME


class Source:
    """A workspace's database, never opened itself, and what its logs say. Safe for threads."""

    def __init__(
        self,
        workspace: Path | str | None = None,
        db_path: Path | str | None = None,
        *,
        dialect: Dialect = CONTRACT,
        cache_folder: Path | None = None,
        retries: Retries = Retries(),  # noqa: B008 (frozen)
        bounds: Bounds = Bounds(),  # noqa: B008 (frozen)
        background_bytes: int | None = None,
        patience: float | None = PATIENCE,
        largest: int = LARGEST,
        follow_symlinks: bool = True,
        roots: Iterable[Path] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Takes a workspace or a database file.

        Answers are never older than the question: it waits for the copy of a changed file, and raises
        ``CopyUnderWay`` after ``patience`` seconds (``None``: as long as it takes). With
        ``background_bytes`` the last copy answers instead when a new one takes longer, at once for a file of
        that size or more, and ``freshness`` tells its age. Files above ``largest`` bytes are not copied.
        With ``roots``, a database that really lies elsewhere is not read.
        """
        given = db_path if db_path is not None else workspace
        if given is None:
            raise TypeError("A store needs a workspace or a db_path")
        given = Path(given)
        is_file = db_path is not None or given.is_file() or given.suffix in (".db", ".duckdb")
        self.path = given if is_file else database_path(given)
        self.dialect = dialect
        self._clock = clock
        inside = None if roots is None else tuple(os.path.realpath(root) for root in roots)
        self._logs = ProgressFolder(self.path.parent / "logs", inside)
        self._snapshots = Snapshots(
            self.path,
            CopyFolder(cache_folder or default_folder(os.environ), bounds),
            retries=retries,
            terms=Terms(follow_symlinks, inside, largest),
            background_bytes=background_bytes,
            patience=patience,
            clock=clock,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the copy; it stays for the next process."""
        self._snapshots.close()

    def signs(self, reader: Reader | None, now: datetime | None) -> Signs:
        """What tells at this moment which of the executions without a summary are running."""
        moment = now or datetime.fromtimestamp(self._clock(), UTC)
        since = moment - RUNNING_WITHIN
        if reader is None:
            return Signs(since, self._logs.alive(since, frozenset()))
        alive = self._logs.alive(since, reader.lasting(FINISHED))
        return Signs(deciding(since, reader.lasting(UNFINISHED)), alive)

    def progress(self, executions: Sequence[str] | None = None) -> list[Progress]:
        """What the teams say that they are doing, out of the workspace's ``logs/``."""
        return self._logs.read(executions)

    def gaps(self) -> tuple[Gap, ...]:
        """The tables and columns of MixSeek's that this file lacks."""
        return self.answer(lambda reader: reader.schema.gaps())

    def freshness(self) -> Freshness:
        """How current the answers are, after a look at the original."""
        self._snapshots.reader()
        return self._snapshots.freshness()

    def refresh(self, wait: float | None = 0.0) -> Copying:
        """Have a changed original copied, in a thread of its own; waits for it at most ``wait`` seconds,
        with ``None`` as long as it takes."""
        return self._snapshots.refresh(wait)

    def copying(self) -> Copying:
        """What goes on with the copy at this moment; looks at nothing and starts nothing."""
        return self._snapshots.copying()

    def answer(self, question: Callable[[Reader], T]) -> T:
        """Ask the current copy, and a new one where that turns out to be bad; all answers are made of this.
        What fails is raised as one of the builder's own errors."""
        for last in (False, True):
            reader = self._snapshots.reader()
            try:
                return question(reader)
            except ReaderStopped as stop:
                raise self._snapshots.quarantine(reader, stop) from stop
            except Gone:
                self._snapshots.forget(reader)
            except Failed as failure:
                if last or failure.kind != "damaged":
                    raise self._snapshots.explained(failure) from failure
                # Blocks are checked as they are read: a copy that was good at its head can be bad inside.
                self._snapshots.discard(reader)
        raise LeaderboardError(READERS_STOPPED)

    def try_again(self) -> None:
        """Read a database that was set aside (``DatabaseQuarantined``) once more."""
        self._snapshots.try_again()

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows of one query."""
        return self.answer(lambda reader: reader.rows(sql, parameters))
