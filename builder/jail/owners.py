"""The rules for the owners of jobs: one job at a time, of which the rest wait in line, and a pause for those
whose jobs had to be stopped. Used by the dispatcher."""

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass


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


@dataclass(frozen=True)
class _Record:
    slow_until: float
    refused_until: float


_CLEAN = _Record(0.0, 0.0)


class CoolDown:
    """Remembers stops for a short while, by owner.

    The first stop may be a slip of the pen, so its owner goes on at once, on a worker that yields to
    everybody else's. Who is stopped there again has to wait.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._records: dict[str, _Record] = {}

    def stopped(self, owner: str | None) -> None:
        """Note that a job of this owner had to be stopped."""
        if owner is None:
            return
        now = self._clock()
        with self._lock:
            if self._records.get(owner, _CLEAN).slow_until > now:
                self._records[owner] = _Record(now + 2 * self._seconds, now + self._seconds)
            else:
                self._records[owner] = _Record(now + self._seconds, 0.0)

    def refused_for(self, owner: str | None) -> float:
        """Seconds until a job of this owner is taken again; 0 when it is taken now."""
        if owner is None or not self._records:
            return 0.0
        return max(0.0, self._records.get(owner, _CLEAN).refused_until - self._clock())

    def is_slow(self, owner: str | None) -> bool:
        if owner is None or not self._records:
            return False
        return self._records.get(owner, _CLEAN).slow_until > self._clock()

    def tidy(self) -> None:
        """Forget what is over."""
        now = self._clock()
        with self._lock:
            for owner in [owner for owner, record in self._records.items() if record.slow_until <= now]:
                del self._records[owner]

    def __len__(self) -> int:
        return len(self._records)
