"""The handle of a reader process: started when a copy is opened, asked, killed at a deadline. Used by
``reader``; the studio stops all of them when it ends."""

import atexit
import math
import os
import select
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from builder.errors import LeaderboardError, ReaderBusy
from builder.jail.fork_server import ForkServer, ForkServerEnded
from builder.jail.limits import MEBIBYTE, LimitName, Limits
from builder.jail.process import Stopped, WorkerProcess
from builder.jail.wire import pack
from builder.leaderboard.sentences import NO_READER, READER_BUSY, READERS_STOPPED
from builder.leaderboard.values import encoded, revived

WORKER = Path(__file__).with_name("worker.py")
_SESSIONS_ARE_GROUPS = Path("/proc/sys/kernel/sched_autogroup_enabled")
MOST = 8
"""Reader processes of one program; of more databases than these, the one asked longest ago is opened anew."""

SECONDS, LONG_SECONDS = 15.0, 60.0
"""CPU time that a question may take, and the opening of a copy or the working out of its digest."""
_PATIENCE = 3
"""So many times as long by the clock, on a machine that is busy otherwise."""

_LIMITS = Limits(
    # Address space: DuckDB takes 0.8 GB of it to start, uses 60 MB of that, and plans with 0.5 GB.
    memory=1536 * MEBIBYTE,
    input=8 * MEBIBYTE,
    output=10 * MEBIBYTE,
)
_MOST_ANSWER = 60 * MEBIBYTE
_CORES = 2
_DEMOTED_AFTER = 1.0
"""Seconds of CPU; what takes longer goes on at the lowest priority."""
_START_SECONDS = 30.0
REST_SECONDS, REST_TIMES = 30.0, 100.0
"""A process that is not asked for so long, and for so many times the CPU that it has used, is ended: small
databases are opened anew at once, and the digest of a large one is kept for minutes."""
_LOOK_SECONDS = 5.0


class ReaderStopped(Exception):
    """The process did not survive the question; ``limit`` says why. Never leaves the package."""

    def __init__(self, limit: LimitName) -> None:
        super().__init__(limit)
        self.limit = limit


class Gone(Exception):
    """The process no longer has the copy open, through no fault of the question: open it again."""


class Failed(Exception):
    """The process answered that it cannot; ``kind`` is one of the ``worker``'s."""

    def __init__(self, kind: str, reason: str = "") -> None:
        super().__init__(kind, reason)
        self.kind, self.reason = kind, reason


class ReaderProcess:
    """The process that reads the copies in one folder. Safe for threads, which take turns."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._inode = 0
        self._reset()

    def _reset(self) -> None:
        self._owner = os.getpid()
        self._turn = threading.Lock()
        self._worker: WorkerProcess | None = None
        self._ready = self._ended = False
        self._opened = 0
        self._used = 0.0

    def start(self) -> None:
        """Have a process; while it gets ready, its user can do something else."""
        with self._taking_turns(SECONDS):
            self._started()

    def open(self, path: Path) -> tuple[int, list[tuple[str, str]]]:
        """Open a copy: the number it goes by, and its tables and columns."""
        with self._taking_turns(LONG_SECONDS):
            worker = self._started()
            self._await_ready(worker)
            self._opened += 1
            request = {"do": "open", "path": str(path), "number": self._opened}
            columns = self._exchange(worker, request, LONG_SECONDS)
            return self._opened, [(str(table), str(column)) for table, column in columns]

    def ask(self, request: dict[str, Any], seconds: float = SECONDS) -> Any:
        """Put a question to an opened copy, which the request names by its number."""
        with self._taking_turns(seconds):
            if self._worker is None or not self._ready:
                raise Gone
            return self._exchange(self._worker, request, seconds)

    def end(self) -> None:
        """Kill the process, whatever it does; whoever waits for its answer is told ``Gone``."""
        if self._owner != os.getpid():
            self._forget()
        self._ended = True
        worker = self._worker
        if worker is not None:
            worker.kill()
        if self._turn.acquire(timeout=1.0):
            try:
                self._drop()
            finally:
                self._ended = False
                self._turn.release()

    # --- inside a turn ---------------------------------------------------------------------

    @contextmanager
    def _taking_turns(self, seconds: float) -> Iterator[None]:
        if self._owner != os.getpid():
            self._forget()
        # Whoever is before us has at most as long again.
        if not self._turn.acquire(timeout=seconds + LONG_SECONDS):
            raise ReaderBusy(READER_BUSY)
        try:
            self._used = time.monotonic()
            yield
        finally:
            self._turn.release()

    def _started(self) -> WorkerProcess:
        if _STOPPED.is_set():
            raise LeaderboardError(READERS_STOPPED)
        inode = os.stat(self._folder).st_ino
        if self._worker is not None and (self._worker.retired or inode != self._inode):
            # It was slowed down for good, or what it may read is no longer the folder of this name.
            self._drop()
        if self._worker is None:
            try:
                self._worker = WorkerProcess(
                    _LIMITS,
                    forks=_FORKS,
                    priority=_priority,
                    long=_DEMOTED_AFTER,
                    object_hook=revived,
                    folder=os.path.realpath(self._folder),
                )
            except (OSError, ForkServerEnded) as error:
                raise LeaderboardError(NO_READER, reason=str(error)) from error
            self._inode, self._ready = inode, False
            _make_room_for(self)
        return self._worker

    def _await_ready(self, worker: WorkerProcess) -> None:
        until = time.monotonic() + _START_SECONDS
        answers = select.poll()
        answers.register(worker.stdout, select.POLLIN)
        try:
            while not self._ready:
                self._ready = worker.become_ready()
                if time.monotonic() > until:
                    raise Stopped("time")
                if not self._ready:
                    answers.poll(100)
        except Stopped as stop:
            ended = self._ended
            self._drop()
            if ended:
                raise Gone from None
            raise LeaderboardError(NO_READER, reason=stop.reason or stop.limit) from None

    def _exchange(self, worker: WorkerProcess, request: dict[str, Any], seconds: float) -> Any:
        limits = {"cpu": math.ceil(seconds * _CORES), "most": _MOST_ANSWER}
        frame = pack({**request, **limits}, encoded)
        if len(frame) > _LIMITS.input:
            raise Failed("large")
        try:
            wall = max(seconds, SECONDS) * _PATIENCE
            worker.send(frame, wall)
            answer = worker.receive(seconds, wall)
        except Stopped as stop:
            ended = self._ended
            self._drop()
            if ended or _STOPPED.is_set():
                raise Gone from None
            if stop.starved:
                raise ReaderBusy(READER_BUSY) from None
            raise ReaderStopped(stop.limit) from None
        except BaseException:
            # An interrupt between question and answer: the answer must not reach the next question.
            self._drop()
            raise
        kind = answer.get("failed")
        if kind == "gone":
            raise Gone
        if kind == "memory":
            worker.retired = True
            raise ReaderStopped("memory")
        if kind is not None:
            raise Failed(str(kind), str(answer.get("reason", "")))
        return answer["value"]

    def _drop(self) -> None:
        worker, self._worker, self._ready = self._worker, None, False
        if worker is not None:
            worker.close()
        with _GUARD:
            if self in _STARTED:
                _STARTED.remove(self)

    def _forget(self) -> None:
        """In a forked child: the process is the parent's."""
        if self._worker is not None:
            self._worker.release()
        self._reset()

    @property
    def is_resting(self) -> bool:
        """Whether its memory is worth more than what it would take to work everything out again."""
        worker = self._worker
        return worker is not None and time.monotonic() - self._used > REST_SECONDS + REST_TIMES * worker.cpu

    def make_room(self) -> bool:
        """End the process unless it is at work."""
        if not self._turn.acquire(blocking=False):
            return False
        try:
            self._drop()
        finally:
            self._turn.release()
        return True


_STARTED: list[ReaderProcess] = []
_GUARD = threading.Lock()
_STOPPED = threading.Event()
_FORKS = ForkServer(WORKER)
_letting_go: threading.Thread | None = None
_priority = ""

atexit.register(_FORKS.close)
os.register_at_fork(after_in_child=_FORKS.forget)


def yield_to_others() -> None:
    """From now on, let the reader processes of this program run when it has nothing to do itself.

    At a low priority alone they would still keep each of its steps waiting for a moment. That only where the
    kernel shares the machine out between sessions first: else every other program would go before them, too.
    """
    global _priority
    try:
        grouped = _SESSIONS_ARE_GROUPS.read_text(encoding="ascii").strip() == "1"
    except OSError:
        grouped = False
    _priority = "idle" if grouped else "low"


def _make_room_for(new: ReaderProcess) -> None:
    with _GUARD:
        others = sorted((other for other in _STARTED if other is not new), key=lambda other: other._used)
        if new not in _STARTED:
            _STARTED.append(new)
        global _letting_go
        if _letting_go is None or not _letting_go.is_alive():
            _letting_go = threading.Thread(target=_let_go, name="resting-readers", daemon=True)
            _letting_go.start()
    for other in others[: max(0, len(others) + 1 - MOST)]:
        other.make_room()


def _let_go() -> None:
    """End the processes that nobody has asked for long, until none is left."""
    while _STARTED:
        time.sleep(_LOOK_SECONDS)
        for reader in [*_STARTED]:
            if reader.is_resting:
                reader.make_room()


def stop_readers() -> None:
    """End every reader process of this program, for good: what is asked from now on is refused."""
    _STOPPED.set()
    for reader in [*_STARTED]:
        worker = reader._worker
        if worker is not None and reader._owner == os.getpid():
            worker.kill()
