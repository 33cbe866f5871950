"""Looks on while a copy is made: how far it is, and the word to stop."""

import threading
from contextlib import suppress

import duckdb


class Stopped(Exception):
    """The copy is no longer wanted. Never leaves the package."""


class Watch:
    """Shared by the thread that copies and those that look on or end it."""

    def __init__(self) -> None:
        self.done = 0
        self.total = 0
        self.elsewhere = False
        """Another process is at it, and is being waited for."""
        self._stop = threading.Event()
        self._querying: duckdb.DuckDBPyConnection | None = None

    def begin(self, total: int) -> None:
        self.done, self.total, self.elsewhere = 0, total, False

    def follow(self, done: int, total: int) -> None:
        """Another process has come this far."""
        self.done, self.total, self.elsewhere = min(done, total), total, True

    def advance(self, count: int) -> None:
        """So many more bytes are there; raises ``Stopped`` where they are no longer wanted."""
        self.done += count
        self.check()

    def check(self) -> None:
        if self._stop.is_set():
            raise Stopped

    def pause(self, seconds: float) -> None:
        """Sleep, unless and until there is the word to stop."""
        self._stop.wait(seconds)
        self.check()

    def queries(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Which connection is at work, so that a long statement can be interrupted."""
        self._querying = connection
        self.check()

    def rest(self) -> None:
        self._querying = None

    def stop(self) -> None:
        self._stop.set()
        connection = self._querying
        if connection is not None:
            # It may just have been closed.
            with suppress(duckdb.Error):
                connection.interrupt()
