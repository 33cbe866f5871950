"""The making of a copy of a database's present state, or finding it: one maker at a time, across processes;
a new copy gets the digest's tables. Used by ``snapshot``."""

import errno
import hashlib
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import duckdb

from builder.errors import (
    CacheFolderError,
    DatabaseDamaged,
    DatabaseTooNew,
    LeaderboardError,
    NotADatabase,
    TornCopy,
)
from builder.leaderboard import copying, digest
from builder.leaderboard.copying import Changed, Identity, Roots, Watch, identify
from builder.leaderboard.folder import CopyFolder
from builder.leaderboard.reader import Reader, connect, first_line, schema_of, unanswered
from builder.leaderboard.schema import COLUMNS, Schema
from builder.leaderboard.sentences import (
    BUSY,
    DAMAGED,
    FOLDER_UNUSABLE,
    NOT_A_DATABASE,
    TOO_NEW,
    TORN,
    UNREADABLE,
)

_RECIPE = "5"
"""Part of a copy's name: raise it when copies are prepared differently."""

_MAGIC_AT, _MAGIC = 8, b"DUCK"

INDEX_FROM_ROWS = 50_000
"""Below this many rows a scan is as fast as an index."""

_INDEX_FROM_BYTES = 8 * 1024**2
_SETTLED_SECONDS = 60.0
_POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Retries:
    """How hard to try before the last good copy has to do. Waits double from the first."""

    attempts: int = 6
    first_wait: float = 0.01
    lock_wait: float = 30.0
    """How long to wait for another process that makes the same copy."""


class Maker:
    """Makes the copies of one database."""

    def __init__(
        self,
        path: str,
        folder: CopyFolder,
        *,
        retries: Retries,
        follow_symlinks: bool,
        roots: Roots,
        clock: Callable[[], float],
    ) -> None:
        self._path = path
        self._folder = folder
        self._retries = retries
        self._follow_symlinks = follow_symlinks
        self._roots = roots
        self._clock = clock
        self._key = _hash(os.path.realpath(path))[:16]
        # Copies prepared by another DuckDB are not shared.
        self._mark = _hash(repr((_RECIPE, duckdb.__version__)))[:8]

    def obtain(self, watch: Watch) -> Reader:
        """The copy of the present state, whoever makes it."""
        self._folder.ensure()
        # Also before a copy that is already there is opened: it may stem from when more was allowed.
        copying.require_inside(os.path.realpath(self._path), self._path, self._roots)
        reader = self._opened(identify(self._path))
        if reader is not None:
            return reader
        until = time.monotonic() + self._retries.lock_wait
        while True:
            with self._folder.lock(self._key, wait=0) as held:
                if held:
                    return self._opened(identify(self._path)) or self._made(watch)
            # Somebody else is at it: what they make will do, and how far they are can be seen.
            watch.follow(self._folder.part_bytes(self._key), identify(self._path).database.size)
            if time.monotonic() >= until:
                raise TornCopy(BUSY, path=self._path)
            watch.pause(_POLL_SECONDS)

    def newest(self) -> tuple[Reader, float] | None:
        """The last good copy of any state, and when it was made."""
        with suppress(OSError, duckdb.Error, LeaderboardError):
            self._folder.ensure()
            copying.require_inside(os.path.realpath(self._path), self._path, self._roots)
            path = self._folder.newest(self._key, self._mark)
            if path is not None:
                # No identity fits it: the next call looks at the original again.
                return Reader(path, Identity(copying.Stamp(-1, -1, -1), None)), path.stat().st_mtime
        return None

    def _made(self, watch: Watch) -> Reader:
        problem: LeaderboardError = TornCopy(TORN, path=self._path, attempts=self._retries.attempts)
        damaged: Identity | None = None
        for attempt in range(self._retries.attempts):
            if attempt:
                watch.pause(self._retries.first_wait * 2 ** (attempt - 1))
            part = self._folder.part(self._key)
            try:
                copied = copying.copy(
                    self._path,
                    part,
                    follow_symlinks=self._follow_symlinks,
                    roots=self._roots,
                    watch=watch,
                )
                prepare(part, self._path, may_index=self._settled(copied.identity), watch=watch)
                final = self._final(copied.identity)
                os.rename(part, final)
                self._folder.tidy(final)
                return Reader(final, copied.identity)
            except Changed:
                continue
            except DatabaseDamaged as error:
                problem = error
                identity = identify(self._path)
                if identity == damaged:
                    # The same bytes again: no further copy of them will open.
                    break
                damaged = identity
            except LeaderboardError:
                raise
            except OSError as error:
                raise self._failed(error) from error
            finally:
                copying.discard(part)
        raise problem

    def _failed(self, error: OSError) -> LeaderboardError:
        reason = error.strerror or str(error)
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            return CacheFolderError(FOLDER_UNUSABLE, path=str(self._folder.path), reason=reason)
        return LeaderboardError(UNREADABLE, path=self._path, reason=reason)

    def _opened(self, identity: Identity) -> Reader | None:
        """A copy that some process has already made of this state."""
        final = self._final(identity)
        if not final.exists():
            return None
        try:
            reader = Reader(final, identity)
        except (duckdb.Error, OSError):
            # It was evicted between the look and the opening, or somebody damaged it.
            final.unlink(missing_ok=True)
            return None
        _touch(final)
        return reader

    def _final(self, identity: Identity) -> Path:
        return self._folder.copy(self._key, self._mark + _hash(repr((self._path, identity)))[:16])

    def _settled(self, identity: Identity) -> bool:
        youngest = max(stamp.mtime_ns for stamp in identity if stamp is not None)
        quiet = self._clock() - youngest / 1e9 >= _SETTLED_SECONDS
        return quiet and identity.database.size >= _INDEX_FROM_BYTES


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


# --- what is done to a fresh copy ----------------------------------------------------------


def prepare(part: Path, source: str, *, may_index: bool, watch: Watch) -> None:
    """See that a fresh copy opens and reads, fold its log in, work out what pages ask for and, where it
    pays, index it; then close it.

    ``may_index``: nobody is writing any more, so the copy will serve long enough to earn an index.
    """
    _look_at_header(part, source)
    try:
        with connect(part, read_only=False) as connection:
            watch.queries(connection)
            schema = schema_of(connection)
            counts = {table: _count(connection, table) for table in COLUMNS if schema.has(table)}
            try:
                for statement in digest.statements(schema):
                    connection.execute(statement)
            except (duckdb.ProgrammingError, duckdb.DataError, duckdb.OutOfMemoryException) as error:
                raise unanswered(error, source) from error
            if may_index and counts.get("leader_board", 0) >= INDEX_FROM_ROWS:
                _index(connection, schema)
            connection.execute("CHECKPOINT")
    except duckdb.Error as error:
        watch.check()
        raise _explained(error, source) from error
    finally:
        watch.rest()


def _count(connection: duckdb.DuckDBPyConnection, table: str) -> int:
    row = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    return int(row[0]) if row else 0


def _index(connection: duckdb.DuckDBPyConnection, schema: Schema) -> None:
    """MixSeek indexes this column itself; files that came another way may lack it."""
    if not schema.has("leader_board", "execution_id"):
        return
    indexed = connection.execute(
        "SELECT count(*) FROM duckdb_indexes() WHERE table_name = 'leader_board'"
        " AND expressions = '[execution_id]'"
    ).fetchone()
    if indexed == (0,):
        connection.execute("CREATE INDEX prompt_studio_execution ON leader_board (execution_id)")


def _look_at_header(part: Path, source: str) -> None:
    """DuckDB has one and the same error for much that goes wrong: look first."""
    with part.open("rb") as file:
        head = file.read(_MAGIC_AT + len(_MAGIC))
    if head[_MAGIC_AT:] != _MAGIC:
        raise NotADatabase(NOT_A_DATABASE, path=source)


def _explained(error: duckdb.Error, source: str) -> LeaderboardError:
    reason = first_line(error)
    if "created with a newer version" in str(error) or "storage version" in reason:
        return DatabaseTooNew(TOO_NEW, path=source, version=duckdb.__version__)
    return DatabaseDamaged(DAMAGED, path=source, reason=reason)


def _touch(path: Path) -> None:
    """Mark a copy as used, so that it outlives those that are not."""
    with suppress(OSError):
        # The time of writing stays: it says how old a copy is.
        os.utime(path, ns=(time.time_ns(), path.stat().st_mtime_ns))
