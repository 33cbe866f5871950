"""A lane of the jail: a few workers, and the jobs that wait for one of them, first come first served. Used by
the dispatcher, filled by the keeper."""

import threading
import time
from collections import deque
from collections.abc import Callable

from builder.jail.process import WorkerProcess


class LaneClosed(Exception):
    """The pool was closed while, or before, the job waited."""


class LaneBusy(Exception):
    """No worker came free in time."""


class _Ticket:
    """One waiting job; its lock is held until there is a worker for it, or none will come."""

    __slots__ = ("owner", "ready", "worker")

    def __init__(self, owner: str | None) -> None:
        self.owner = owner
        self.ready = threading.Lock()
        self.ready.acquire()
        self.worker: WorkerProcess | None = None


class Lane:
    """At most ``size`` jobs at a time; ``spares`` more workers stand by for those that are killed.

    Of all these only ``kept`` are there while nobody asks: a fork is quick.
    """

    def __init__(
        self,
        name: str,
        size: int,
        spares: int,
        kept: int,
        start: Callable[[], WorkerProcess],
        wake: Callable[[], None],
    ) -> None:
        self.name, self.size, self.spares = name, size, spares
        self.kept = min(kept, size + spares)
        self.start = start
        self._wake = wake
        self._lock = threading.Lock()
        self._idle: list[WorkerProcess] = []
        self._busy: set[WorkerProcess] = set()
        self._starting: set[WorkerProcess] = set()
        self._ended: list[WorkerProcess] = []
        self._waiting: deque[_Ticket] = deque()
        self._closed = False
        self._open = False
        self.last_used = 0.0

    def open(self) -> None:
        """Have workers from now on; a lane that nobody used costs no process."""
        with self._lock:
            opened, self._open = not self._open, True
        if opened:
            self._wake()

    def acquire(self, owner: str | None, deadline: float) -> WorkerProcess:
        """A worker for one job, the one that knows this owner's templates if it is free."""
        self.open()
        with self._lock:
            if self._closed:
                raise LaneClosed
            self.last_used = time.monotonic()
            if not self._waiting and (worker := self._take(owner)):
                return worker
            ticket = _Ticket(owner)
            self._waiting.append(ticket)
        self._wake()
        try:
            ticket.ready.acquire(timeout=max(0.0, deadline - time.monotonic()))
        except BaseException:
            # An interrupt: the worker, if one was found meanwhile, is for somebody else.
            if given := self._leave(ticket):
                self.give_back(given)
            raise
        if worker := self._leave(ticket):
            return worker
        raise LaneClosed if self._closed else LaneBusy

    def _leave(self, ticket: _Ticket) -> WorkerProcess | None:
        with self._lock:
            if ticket in self._waiting:
                self._waiting.remove(ticket)
            return ticket.worker

    def give_back(self, worker: WorkerProcess) -> None:
        """The job is over; a retired worker is replaced off the caller's path."""
        with self._lock:
            self._busy.discard(worker)
            if worker.retired or self._closed:
                self._ended.append(worker)
            else:
                self._idle.append(worker)
            self._hand_out()
            replace = worker.retired or self._closed
        if replace:
            self._wake()

    def _take(self, owner: str | None) -> WorkerProcess | None:
        while self._idle and len(self._busy) < self.size:
            # The most recent one otherwise: its compiled templates are the likeliest to serve again.
            mine = next((i for i, worker in enumerate(self._idle) if worker.owner == owner), -1)
            worker = self._idle.pop(mine)
            if worker.has_ended():
                self._ended.append(worker)
                self._wake()
                continue
            worker.owner = owner
            self._busy.add(worker)
            return worker
        return None

    def _hand_out(self) -> None:
        while self._waiting:
            if (worker := self._take(self._waiting[0].owner)) is None:
                return
            ticket = self._waiting.popleft()
            ticket.worker = worker
            ticket.ready.release()

    # --- for the keeper, which runs in a thread of its own ----------------------------------

    def collect(self) -> list[WorkerProcess]:
        """Workers that ended or must; the keeper closes them."""
        with self._lock:
            dead = [worker for worker in self._idle if worker.has_ended()]
            self._idle = [worker for worker in self._idle if worker not in dead]
            ended, self._ended = self._ended + dead, []
            return ended

    def missing(self) -> int:
        with self._lock:
            if self._closed or not self._open:
                return 0
            jobs = len(self._busy) + len(self._waiting)
            wanted = min(jobs + self.spares if jobs else 0, self.size + self.spares)
            return max(wanted, self.kept) - len(self._idle) - len(self._busy) - len(self._starting)

    def starting(self, worker: WorkerProcess) -> None:
        with self._lock:
            self._starting.add(worker)

    def started(self, worker: WorkerProcess, *, ready: bool) -> None:
        with self._lock:
            self._starting.discard(worker)
            if ready and not self._closed:
                # Below the used ones, which have something in their caches.
                self._idle.insert(0, worker)
                self._hand_out()
            else:
                worker.retired = True
                self._ended.append(worker)

    def turn_away(self) -> None:
        """No worker will come: those who wait for one need not."""
        with self._lock:
            if not self._idle and not self._busy:
                for ticket in self._waiting:
                    ticket.ready.release()
                self._waiting.clear()

    def rest(self, seconds: float) -> None:
        """Let go what nobody has used for so long, but those that are kept; another job has more started."""
        with self._lock:
            if not self._busy and not self._waiting and time.monotonic() - self.last_used > seconds:
                surplus = max(0, len(self._idle) - self.kept)
                # The first ones were used least.
                self._ended += self._idle[:surplus]
                self._idle = self._idle[surplus:]

    def close(self) -> None:
        """Refuse every job, waiting ones included, and kill what runs."""
        with self._lock:
            self._closed = True
            for ticket in self._waiting:
                ticket.ready.release()
            self._waiting.clear()
            self._ended += self._idle
            self._idle = []
            for worker in [*self._busy, *self._starting]:
                worker.kill()

    @property
    def closed(self) -> bool:
        return self._closed

    @property
    def alive(self) -> bool:
        """Whether any worker takes jobs now."""
        return bool(self._idle or self._busy)

    def all(self) -> list[WorkerProcess]:
        with self._lock:
            return [*self._idle, *self._busy, *self._starting, *self._ended]

    def forget(self) -> None:
        """In a forked child: the workers are the parent's. No lock: its holder did not come along."""
        for worker in [*self._idle, *self._busy, *self._starting, *self._ended]:
            worker.release()

    @property
    def idle(self) -> int:
        return len(self._idle)

    @property
    def busy(self) -> int:
        return len(self._busy)
