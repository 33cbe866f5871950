"""A finished copy, open for reading: the connection is kept, every call has a cursor of its own."""

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb

from builder.errors import DatabaseDamaged, DatabaseTooNew, LeaderboardError, NotADatabase
from builder.leaderboard import digest
from builder.leaderboard.copying import Identity
from builder.leaderboard.schema import COLUMNS, Schema
from builder.leaderboard.sentences import DAMAGED, FOREIGN, NOT_A_DATABASE, TOO_NEW, UNREADABLE
from builder.leaderboard.watch import Watch

_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    # Whatever a query is made to say, it reaches no other file and no network.
    "enable_external_access": "false",
    "threads": "2",
    "memory_limit": "256MB",
    "lock_configuration": "true",
}
_PREPARING: dict[str, str] = {
    # In the copying thread alone, whose priority is low.
    "threads": "1",
    "memory_limit": "1GB",
}

_MAGIC_AT, _MAGIC = 8, b"DUCK"

INDEX_FROM_ROWS = 50_000
"""Below this many rows a scan is as fast as an index."""


_FILE_ERRORS = (
    duckdb.IOException,
    duckdb.FatalException,
    duckdb.InternalException,
    duckdb.SerializationException,
)

_ABANDONED: list["Reader"] = []


class Reader:
    """The rows of one state of a database."""

    def __init__(self, path: Path, identity: Identity) -> None:
        self.path = path
        self.identity = identity
        self._connection = _connect(path, read_only=True)
        try:
            self.schema = _schema(self._connection)
        except duckdb.Error:
            self._connection.close()
            raise
        self._idle: list[duckdb.DuckDBPyConnection] = []
        self._parsed: dict[str, duckdb.Statement] = {}
        self._lasting: dict[str, frozenset[Any]] = {}

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query; safe from several threads at once."""
        try:
            cursor = self._idle.pop()
        except IndexError:
            cursor = self._connection.cursor()
        statement = self._parsed.get(sql)
        if statement is None:
            # The store has a handful of queries; a fifth of their time would go into parsing them anew.
            (statement,) = cursor.extract_statements(sql)
            self._parsed[sql] = statement
        found: list[tuple[Any, ...]] = cursor.execute(statement, [*map(_bindable, parameters)]).fetchall()
        # Not after an error: a cursor that failed is dropped.
        self._idle.append(cursor)
        return found

    def lasting(self, sql: str) -> frozenset[Any]:
        """The values of a query's only column; asked once, since a copy does not change."""
        found = self._lasting.get(sql)
        if found is None:
            found = self._lasting[sql] = frozenset(value for (value,) in self.rows(sql))
        return found

    def close(self) -> None:
        self._idle.clear()
        self._connection.close()

    def abandon(self) -> None:
        """In a forked child: never close it. Closing waits for DuckDB's threads, which the child has not."""
        _ABANDONED.append(self)


_FARTHEST = 2**62


def _bindable(value: Any) -> Any:
    """What DuckDB can take: an address or a command line may hold numbers and characters that it cannot."""
    if isinstance(value, str) and not value.isascii():
        # Half of a surrogate pair is in no database.
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, int) and not -_FARTHEST < value < _FARTHEST:
        return _FARTHEST if value > 0 else -_FARTHEST
    return value


def looks_damaged(error: duckdb.Error) -> bool:
    """Whether a query failed over the file rather than over what it asked."""
    # A bare Error is how DuckDB reports a block whose checksum is wrong.
    return type(error) is duckdb.Error or isinstance(error, _FILE_ERRORS)


def unanswered(error: duckdb.Error, path: str) -> LeaderboardError:
    """Why a query failed over what it asked."""
    # One that fits MixSeek's tables and not these: the columns have other types.
    foreign = isinstance(error, duckdb.ProgrammingError | duckdb.DataError)
    return LeaderboardError(FOREIGN if foreign else UNREADABLE, path=path, reason=first_line(error))


def first_line(error: duckdb.Error) -> str:
    return str(error).split("\n")[0]


def prepare(part: Path, source: str, *, may_index: bool, watch: Watch) -> None:
    """See that a fresh copy opens and reads, fold its log in, work out what pages ask for and, where it
    pays, index it; then close it.

    ``may_index``: nobody is writing any more, so the copy will serve long enough to earn an index.
    """
    _look_at_header(part, source)
    try:
        with _connect(part, read_only=False) as connection:
            watch.queries(connection)
            schema = _schema(connection)
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


def _connect(path: Path, *, read_only: bool) -> duckdb.DuckDBPyConnection:
    config = _CONFIG if read_only else {**_CONFIG, **_PREPARING}
    return duckdb.connect(str(path), read_only=read_only, config=config)


def _schema(connection: duckdb.DuckDBPyConnection) -> Schema:
    rows = connection.execute(
        "SELECT table_name, column_name FROM duckdb_columns() WHERE schema_name = 'main' AND NOT internal"
    ).fetchall()
    return Schema.of([(str(table), str(column)) for table, column in rows])


def _count(connection: duckdb.DuckDBPyConnection, table: str) -> int:
    found = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    return int(found[0]) if found else 0


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


def version_mark() -> str:
    """Copies prepared by another DuckDB are not shared."""
    return duckdb.__version__


def touch(path: Path) -> None:
    """Mark a copy as used, so that it outlives those that are not."""
    with suppress(OSError):
        # The time of writing stays: it says how old a copy is.
        os.utime(path, ns=(time.time_ns(), path.stat().st_mtime_ns))
