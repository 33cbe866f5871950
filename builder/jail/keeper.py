"""The keeper: a thread that keeps the lanes full. It starts workers, waits for them and buries them."""

import select
import threading
import time
from collections.abc import Callable, Sequence

from builder.jail.fork_server import ForkServer, ForkServerEnded
from builder.jail.lane import Lane
from builder.jail.limits import Limits
from builder.jail.process import Stopped, WorkerProcess
from builder.jail.stats import Ledger

FORKING = threading.Lock()
"""Held while a process is forked, and while a worker is started."""

_LOOK_ROUND = 1.0
_WATCH = 0.02
_REST_AFTER = 60.0
_MOST_FAILURES = 3
# What a start costs of CPU, people's previews need more.
_MOST_STARTING = 2


class Keeper:
    """Works off the path of every request, so that nobody waits for a process to start or end."""

    def __init__(
        self,
        lanes: Sequence[Lane],
        forks: ForkServer,
        limits: Limits,
        ledger: Ledger,
        tidy: Callable[[], None],
    ) -> None:
        self._lanes, self._limits, self._ledger = lanes, limits, ledger
        self._forks, self._tidy = forks, tidy
        self._starting: list[tuple[Lane, WorkerProcess]] = []
        self._wake = threading.Event()
        self._stop = False
        self._pause_until = 0.0
        self.failures = 0
        """Workers in a row that could not be started."""
        self.reason = ""
        self._thread = threading.Thread(target=self._run, name="jail-keeper", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        self._wake.set()

    @property
    def hopeless(self) -> bool:
        return self.failures >= _MOST_FAILURES

    def close(self) -> None:
        """End once every worker is buried."""
        self._stop = True
        self._wake.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop:
            try:
                self._look_round()
            except Exception as error:
                # A mistake of ours must not leave the pool without its keeper.
                self._failed(f"{type(error).__name__}: {error}")
        self._bury_all()

    def _look_round(self) -> None:
        self._wake.clear()
        self._bury()
        if self._fill() or self._stop:
            return
        if self._starting:
            self._welcome()
            return
        pause = self._pause_until - time.monotonic()
        self._wake.wait(pause if 0 < pause < _LOOK_ROUND else _LOOK_ROUND)
        self._tidy()
        for lane in self._lanes:
            lane.rest(_REST_AFTER)

    def _bury(self) -> None:
        for lane in self._lanes:
            for worker in lane.collect():
                worker.close()
                self._ledger.worker_ended(worker.cpu)

    def _bury_all(self) -> None:
        for lane, worker in self._starting:
            lane.started(worker, ready=False)
        # A caller whose worker was killed gives it back within moments.
        while True:
            self._bury()
            if not any(lane.busy for lane in self._lanes):
                self._bury()
                return
            time.sleep(0.001)

    def _fill(self) -> bool:
        """Start what the lanes lack; whether there is nothing yet to fork it from."""
        if time.monotonic() < self._pause_until or not any(lane.missing() > 0 for lane in self._lanes):
            return False
        try:
            # No fork of this process in between: a child could not let go of what it knows nothing of.
            with FORKING:
                self._forks.start()
            if not self._forks.become_ready(self._limits.start, wait=_WATCH):
                return True
            for lane in self._lanes:
                for _ in range(min(lane.missing(), _MOST_STARTING - len(self._starting))):
                    with FORKING:
                        worker = lane.start()
                        lane.starting(worker)
                    self._starting.append((lane, worker))
                    self._ledger.count("workers_started")
        except (OSError, ForkServerEnded) as error:
            self._failed(str(error))
        return False

    def _welcome(self) -> None:
        """Take in those that are ready; a lane may lack another worker in the meantime, so not for long."""
        poll = select.poll()
        for _, worker in self._starting:
            poll.register(worker.stdout, select.POLLIN)
        poll.poll(int(_WATCH * 1000))
        for lane, worker in list(self._starting):
            try:
                ready = worker.become_ready()
            except Stopped as stop:
                self._starting.remove((lane, worker))
                lane.started(worker, ready=False)
                if not lane.closed:
                    self._failed(stop.reason)
                continue
            if ready:
                self._starting.remove((lane, worker))
                self.failures = 0
                lane.started(worker, ready=True)
            elif time.monotonic() - worker.started > self._limits.start:
                self._starting.remove((lane, worker))
                lane.started(worker, ready=False)
                self._failed(f"not ready after {self._limits.start:g} s")

    def _failed(self, reason: str) -> None:
        self._ledger.count("failed_starts")
        self.failures += 1
        self.reason = reason
        # Whatever keeps workers from starting lasts longer than an instant.
        self._pause_until = time.monotonic() + min(_LOOK_ROUND, 0.05 * 2**self.failures)
        if self.hopeless:
            for lane in self._lanes:
                lane.turn_away()
