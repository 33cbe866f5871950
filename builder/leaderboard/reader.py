"""The reader of one copy: its questions, answered by the reader process. Used by ``snapshot``, which holds
the current one, and by every query."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from builder.leaderboard.copying import Identity
from builder.leaderboard.digest import SCHEMA
from builder.leaderboard.process import LONG_SECONDS, SECONDS, ReaderProcess
from builder.leaderboard.schema import DATABASE_NAME, Schema

_MOST_KEPT = 100
_MOST_ROWS, _LONGEST = 200, 20_000
"""Of an answer that is kept: its rows, and its characters with the question's."""


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
        self._guard = threading.Lock()
        self._kept: OrderedDict[tuple[str, str], list[tuple[Any, ...]]] = OrderedDict()

    def rows(self, sql: str, parameters: Sequence[Any] = (), *, keep: bool = False) -> list[tuple[Any, ...]]:
        """All rows of a query; safe from several threads at once. What pages ask of the digest, and what is
        to be kept, is asked once where the answer is short: a copy does not change."""
        bound = [*map(_bindable, parameters)]
        digests = SCHEMA in sql
        if not digests and not keep:
            return self._asked(sql, bound, SECONDS)
        key = (sql, repr(bound))
        with self._guard:
            if (kept := self._kept.get(key)) is not None:
                self._kept.move_to_end(key)
                return [*kept]
        rows = self._asked(sql, bound, LONG_SECONDS if digests and not self._digested else SECONDS)
        self._digested = self._digested or digests
        if len(rows) <= _MOST_ROWS and len(repr(rows)) + len(key[1]) <= _LONGEST:
            with self._guard:
                self._kept[key] = [*rows]
                while len(self._kept) > _MOST_KEPT:
                    self._kept.popitem(last=False)
        return rows

    def _asked(self, sql: str, bound: list[Any], seconds: float) -> list[tuple[Any, ...]]:
        request = {"do": "rows", "number": self._number, "sql": sql, "parameters": bound}
        return [tuple(row) for row in self._process.ask(request, seconds)]

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
