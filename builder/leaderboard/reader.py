"""The reader of a finished copy: the connection is kept, every call has a cursor of its own. Used by
``snapshot``, which holds the current one, and by every query."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

from builder.errors import LeaderboardError
from builder.leaderboard.copying import Identity
from builder.leaderboard.schema import Schema
from builder.leaderboard.sentences import FOREIGN, UNREADABLE

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
        self._connection = connect(path, read_only=True)
        try:
            self.schema = schema_of(self._connection)
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
        rows: list[tuple[Any, ...]] = cursor.execute(statement, [*map(_bindable, parameters)]).fetchall()
        # Not after an error: a cursor that failed is dropped.
        self._idle.append(cursor)
        return rows

    def lasting(self, sql: str) -> frozenset[Any]:
        """The values of a query's only column; asked once, since a copy does not change."""
        if sql not in self._lasting:
            self._lasting[sql] = frozenset(value for (value,) in self.rows(sql))
        return self._lasting[sql]

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


def connect(path: Path, *, read_only: bool) -> duckdb.DuckDBPyConnection:
    config = _CONFIG if read_only else {**_CONFIG, **_PREPARING}
    return duckdb.connect(str(path), read_only=read_only, config=config)


def schema_of(connection: duckdb.DuckDBPyConnection) -> Schema:
    rows = connection.execute(
        "SELECT table_name, column_name FROM duckdb_columns() WHERE schema_name = 'main' AND NOT internal"
    ).fetchall()
    return Schema.of([(str(table), str(column)) for table, column in rows])
