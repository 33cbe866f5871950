"""One job at a time for each owner: the rest wait in line, and only the newest of a topic."""

import threading
import time
from collections import deque


class TurnSuperseded(Exception):
    """A newer job of the same topic came while this one waited."""


class TurnTimeout(Exception):
    """The owner's other jobs took too long."""


class LineFull(Exception):
    """Too many jobs of the owner wait already."""


class _Ticket:
    __slots__ = ("mine", "ready", "topic")

    def __init__(self, topic: str | None) -> None:
        self.topic = topic
        self.ready = threading.Lock()
        self.ready.acquire()
        self.mine = False


class Turns:
    """Who may go next: an owner with a job under way has a line, empty or not.

    Work without an owner never waits here.
    """

    def __init__(self, waiting: int) -> None:
        self._most = waiting
        self._lock = threading.Lock()
        self._lines: dict[str, deque[_Ticket]] = {}

    def take(self, owner: str | None, topic: str | None, deadline: float) -> None:
        """Wait for the owner's turn; ``pass_on`` must follow."""
        if owner is None:
            return
        with self._lock:
            line = self._lines.get(owner)
            if line is None:
                self._lines[owner] = deque()
                return
            ticket = _Ticket(topic)
            if topic is not None:
                for older in [other for other in line if other.topic == topic]:
                    line.remove(older)
                    older.ready.release()
            if len(line) >= self._most:
                raise LineFull
            line.append(ticket)
        try:
            ticket.ready.acquire(timeout=max(0.0, deadline - time.monotonic()))
        except BaseException:
            # An interrupt: whoever is next must not wait for a job that will never come.
            if not self._leave(line, ticket) and ticket.mine:
                self.pass_on(owner)
            raise
        if self._leave(line, ticket):
            raise TurnTimeout
        if not ticket.mine:
            raise TurnSuperseded

    def _leave(self, line: deque[_Ticket], ticket: _Ticket) -> bool:
        """Step out of the line; False for one that has been called or sent away."""
        with self._lock:
            if ticket not in line:
                return False
            line.remove(ticket)
            return True

    def pass_on(self, owner: str | None) -> None:
        """The job is over: the next in line has the turn."""
        if owner is None:
            return
        with self._lock:
            line = self._lines[owner]
            if not line:
                del self._lines[owner]
                return
            ticket = line.popleft()
            ticket.mine = True
            ticket.ready.release()
