"""The reader of one copy: its questions, answered by the reader process. Used by ``snapshot``, which holds
the current one, and by every query."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from builder.leaderboard.copying import Identity
from builder.leaderboard.digest import SCHEMA
from builder.leaderboard.process import LONG_SECONDS, SECONDS, ReaderProcess
from builder.leaderboard.schema import DATABASE_NAME, Schema


class Reader:
    """The rows of one state of a database; ``path`` is the folder of its copy."""

    def __init__(self, process: ReaderProcess, path: Path, identity: Identity) -> None:
        self.path = path
        self.identity = identity
        self._process = process
        self._number, columns = process.open(path / DATABASE_NAME)
        self.schema = Schema.of(columns)
        self._digested = False
        self._lasting: dict[str, frozenset[Any]] = {}

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query; safe from several threads at once."""
        digests = not self._digested and SCHEMA in sql
        bound = [*map(_bindable, parameters)]
        request = {"do": "rows", "number": self._number, "sql": sql, "parameters": bound}
        rows = self._process.ask(request, LONG_SECONDS if digests else SECONDS)
        self._digested = self._digested or digests
        return [tuple(row) for row in rows]

    def digest(self) -> None:
        """Have the tables that pages ask for worked out now rather than by the first question."""
        if not self._digested:
            self._process.ask({"do": "digest", "number": self._number}, LONG_SECONDS)
            self._digested = True

    def lasting(self, sql: str) -> frozenset[Any]:
        """The values of a query's only column; asked once, since a copy does not change."""
        if sql not in self._lasting:
            self._lasting[sql] = frozenset(value for (value,) in self.rows(sql))
        return self._lasting[sql]


_FARTHEST = 2**62


def _bindable(value: Any) -> Any:
    """What DuckDB can take: an address or a command line may hold numbers and characters that it cannot."""
    if isinstance(value, str) and not value.isascii():
        # Half of a surrogate pair is in no database.
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, int) and not -_FARTHEST < value < _FARTHEST:
        return _FARTHEST if value > 0 else -_FARTHEST
    return value
