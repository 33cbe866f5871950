"""The dispatcher, which brings a job to a worker: whose turn it is, in which lane, for how long, and what
became of it. Used by the pool, which makes a new one after a fork."""

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from builder.errors import BuilderError, CoolingDown, JailUnavailable, LimitExceeded, Superseded
from builder.jail import process
from builder.jail.answers import value_of
from builder.jail.fork_server import ForkServer
from builder.jail.keeper import Keeper
from builder.jail.lane import Lane, LaneBusy, LaneClosed
from builder.jail.limits import (
    BUSY,
    CLOSED,
    COOLING_DOWN,
    NO_START,
    SUPERSEDED,
    TOO_MANY,
    Limits,
    Seconds,
    cores,
    exceeded,
)
from builder.jail.owners import CoolDown, LineFull, Turns, TurnSuperseded, TurnTimeout
from builder.jail.process import Stopped, WorkerProcess
from builder.jail.stats import LaneStats, Ledger, Stats
from builder.jail.wire import pack

# Python code that overruns ends itself and tells its line; what does not hear that is killed.
_GRACE = 0.15
_OF_FILES = frozenset({"merge", "read", "check_file", "named_prompt_file", "system_table", "front_matters"})
# A batch gives its worker back after so much, so that batches take turns.
_BATCH_ITEMS = 256
_BATCH_CHARACTERS = 500_000

LaneName = Literal["preview", "slow", "batch"]


class Dispatcher:
    """The lanes of one process. A forked child makes another one."""

    def __init__(self, limits: Limits, size: int, spares: int, batch_size: int) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._closed = False
        self._keeper: Keeper | None = None
        self._ledger = Ledger()
        self._forks = ForkServer(process.WORKER)
        self._turns = {False: Turns(limits.waiting), True: Turns(limits.waiting)}
        self._cool_down = CoolDown(limits.cool_down)
        self._lanes: dict[LaneName, Lane] = {
            "preview": self._lane("preview", size, spares, kept=max(2, cores()), nice=0),
            "slow": self._lane("slow", 1, 0, kept=0, nice=19),
            "batch": self._lane("batch", batch_size, 0, kept=0, nice=10),
        }

    def _lane(self, name: LaneName, size: int, spares: int, kept: int, nice: int) -> Lane:
        def start() -> WorkerProcess:
            return WorkerProcess(self._limits, nice, forks=self._forks)

        return Lane(name, size, spares, kept, start, self._wake)

    # --- jobs ----------------------------------------------------------------------------

    def ask(
        self, request: dict[str, Any], owner: str | None, topic: str | None = None, *, file: bool = False
    ) -> Any:
        """One text: the owner's turn first, then a worker. A ``file`` goes with the batches, for it may take
        seconds."""
        limits = self._limits
        seconds = limits.seconds(file=file)
        frame = self._frame(request | {"time": seconds.time, "cpu": seconds.cpu})
        deadline = time.monotonic() + (limits.batch_wait if file else limits.wait)
        self._refuse_cooling(owner)
        with self._turn(self._turns[file], owner, topic, deadline):
            # Again: the job that held the turn may have been the second that was stopped.
            self._refuse_cooling(owner)
            slow = self._cool_down.is_slow(owner)
            lane: LaneName = "batch" if file else "slow" if slow else "preview"
            try:
                answer = self._exchange(lane, owner, deadline, frame, seconds)
            except Stopped as stop:
                raise self._stopped(stop, seconds, owner, file=request["do"] in _OF_FILES) from None
        return self._value(answer)

    def ask_each(
        self,
        request: dict[str, Any],
        vary: Literal["text", "texts", "variables", "branch"],
        items: Sequence[Any],
    ) -> Iterator[Any]:
        """Many texts with one context, or one with many: for each its value or its error, in order."""
        done = 0
        while done < len(items):
            chunk = _chunk(items, done)
            for value in self._ask_chunk(request | {"vary": vary}, chunk):
                done += 1
                yield value

    def _ask_chunk(self, request: dict[str, Any], items: Sequence[Any]) -> list[Any]:
        """As far as the chunk goes: a text that meets a limit takes the worker with it."""
        seconds = self._limits.seconds()
        try:
            frame = self._frame(request | {"each": items, "time": seconds.time, "cpu": seconds.cpu})
        except LimitExceeded as error:
            return [error] if len(items) == 1 else self._ask_chunk(request, items[: len(items) // 2])
        values: list[Any] = []
        with self._worker("batch", None, time.monotonic() + self._limits.batch_wait) as worker:
            try:
                worker.send(frame, seconds.wall)
                while len(values) < len(items) and not worker.retired:
                    answer = worker.receive(seconds.time + _GRACE, seconds.wall)
                    try:
                        values.append(self._value(answer))
                    except BuilderError as error:
                        values.append(error)
            except Stopped as stop:
                if values and stop.reason == "SIGKILL":
                    return values  # somebody else's doing: the rest is asked again
                stopped = self._stopped(stop, seconds, None)
                if isinstance(stopped, JailUnavailable):
                    raise stopped from None
                values.append(stopped)
        return values

    def _exchange(
        self, lane: LaneName, owner: str | None, deadline: float, frame: bytes, seconds: Seconds
    ) -> dict[str, Any]:
        """One job on one worker; on another one where the first was killed by somebody else."""
        for last in (False, True):
            with self._worker(lane, owner, deadline) as worker:
                try:
                    worker.send(frame, seconds.wall)
                    return worker.receive(seconds.time + _GRACE, seconds.wall)
                except Stopped as stop:
                    if last or self._closed or stop.reason != "SIGKILL":
                        raise
        raise AssertionError("unreachable")

    def _value(self, answer: dict[str, Any]) -> Any:
        self._ledger.count("jobs")
        if "fault" in answer:
            self._ledger.count("faults")
        return value_of(answer)

    def _stopped(
        self, stop: Stopped, seconds: Seconds, owner: str | None, *, file: bool = False
    ) -> BuilderError:
        """Count a stop and say it. In a pool that is closing, the killed job is no fault of its text."""
        if self._closed:
            return JailUnavailable(CLOSED)
        if stop.starved:
            return self._unavailable(BUSY, seconds=f"{seconds.wall:g}")
        self._ledger.count("jobs")
        self._ledger.count(stop.limit)
        if stop.fatal:
            self._ledger.count("kills")
            self._cool_down.stopped(owner)
        return exceeded(
            stop.limit,
            self._limits,
            seconds=seconds.cpu if stop.limit == "cpu" else seconds.time,
            line=stop.line,
            reason=stop.reason,
            file=file,
        )

    def _frame(self, request: dict[str, Any]) -> bytes:
        try:
            frame = pack(request)
        except ValueError as error:  # an integer of 5,000 digits
            raise exceeded("input", self._limits) from error
        if len(frame) > self._limits.input:
            raise exceeded("input", self._limits)
        return frame

    # --- turns and workers ---------------------------------------------------------------

    def _refuse_cooling(self, owner: str | None) -> None:
        if seconds := self._cool_down.refused_for(owner):
            self._ledger.count("cooling_down")
            raise CoolingDown(COOLING_DOWN, seconds=int(seconds) + 1)

    @contextmanager
    def _turn(self, turns: Turns, owner: str | None, topic: str | None, deadline: float) -> Iterator[None]:
        began = time.monotonic()
        try:
            turns.take(owner, topic, deadline)
        except TurnSuperseded:
            self._ledger.count("superseded")
            raise Superseded(SUPERSEDED) from None
        except TurnTimeout:
            raise self._unavailable(BUSY, seconds=f"{time.monotonic() - began:.1f}") from None
        except LineFull:
            raise self._unavailable(TOO_MANY, count=str(self._limits.waiting)) from None
        try:
            yield
        finally:
            turns.pass_on(owner)

    @contextmanager
    def _worker(self, name: LaneName, owner: str | None, deadline: float) -> Iterator[WorkerProcess]:
        lane = self._lanes[name]
        worker = self._acquire(lane, owner, deadline)
        try:
            yield worker
        except Stopped:
            raise
        except BaseException:
            # An interrupt between question and answer: the answer must not reach the next job.
            worker.kill()
            raise
        finally:
            worker.retired = worker.retired or worker.jobs >= self._limits.jobs
            lane.give_back(worker)

    def _acquire(self, lane: Lane, owner: str | None, deadline: float) -> WorkerProcess:
        keeper = self._running()
        began = time.monotonic()
        try:
            if keeper.hopeless and not lane.alive:
                raise LaneBusy
            worker = lane.acquire(owner, deadline)
            self._ledger.waited(time.monotonic() - began)
            return worker
        except LaneClosed:
            raise JailUnavailable(CLOSED) from None
        except LaneBusy:
            if keeper.hopeless:
                raise self._unavailable(NO_START, reason=keeper.reason) from None
            raise self._unavailable(BUSY, seconds=f"{time.monotonic() - began:.1f}") from None

    def _unavailable(self, code: str, **params: str) -> JailUnavailable:
        self._ledger.count("unavailable")
        return JailUnavailable(code, line=None, **params)

    # --- life ----------------------------------------------------------------------------

    def start(self) -> None:
        self._running()
        self._lanes["preview"].open()

    def _running(self) -> Keeper:
        if (keeper := self._keeper) and not self._closed:
            return keeper
        with self._lock:
            if self._closed:
                raise JailUnavailable(CLOSED)
            if self._keeper is None:
                lanes = self._lanes
                self._keeper = Keeper(
                    list(lanes.values()),
                    self._forks,
                    self._limits,
                    self._ledger,
                    self._cool_down.tidy,
                )
                self._keeper.start()
            return self._keeper

    def _wake(self) -> None:
        if keeper := self._keeper:
            keeper.wake()

    def stats(self) -> Stats:
        workers = [worker for lane in self._lanes.values() for worker in lane.all()]
        return self._ledger.stats(
            {name: LaneStats(lane.size, lane.idle, lane.busy) for name, lane in self._lanes.items()},
            sum(worker.cpu for worker in workers),
            any(worker.seccomp for worker in workers),
        )

    def close(self) -> None:
        """Refuse further jobs, kill those under way, and return once no process is left."""
        with self._lock:
            self._closed = True
            keeper = self._keeper
        for lane in self._lanes.values():
            lane.close()
        if keeper:
            keeper.close()
        self._forks.close()

    def forget(self) -> None:
        """In a forked child: let go of the parent's workers without touching them."""
        for lane in self._lanes.values():
            lane.forget()
        self._forks.forget()

    @property
    def closed(self) -> bool:
        return self._closed


def _chunk(items: Sequence[Any], start: int) -> Sequence[Any]:
    """What one frame carries, one item at least."""
    characters = 0
    for end in range(start, min(len(items), start + _BATCH_ITEMS)):
        characters += _length(items[end])
        if characters > _BATCH_CHARACTERS and end > start:
            return items[start:end]
    return items[start : start + _BATCH_ITEMS]


def _length(item: str | int | list[str] | Mapping[str, str | int]) -> int:
    if isinstance(item, int):
        return 1
    if isinstance(item, str):
        return len(item)
    return sum(len(str(value)) for value in (item if isinstance(item, list) else item.values()))
