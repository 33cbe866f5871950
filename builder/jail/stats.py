"""The statistics of a pool: jobs, stops, waits, processes and their CPU time. Shown by the studio."""

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from builder.jail.limits import LIMIT_NAMES, LimitName


@dataclass(frozen=True)
class LaneStats:
    """The workers of one lane at this moment."""

    size: int
    idle: int
    busy: int


@dataclass(frozen=True)
class Stats:
    """Since the pool started, in this process."""

    jobs: int
    """Texts and files that were worked on; each text of a batch counts, of a match each group."""
    stopped: Mapping[LimitName, int]
    """Jobs that met a limit, by its name."""
    faults: int
    """Mistakes of the builder's own code inside a worker."""
    kills: int
    """Workers that were killed, or died, over a job."""
    cooling_down: int
    """Jobs refused because their owner's jobs were stopped before."""
    superseded: int
    unavailable: int
    """Jobs that found no worker in time."""
    waits: int
    wait_seconds: float
    longest_wait: float
    workers_started: int
    failed_starts: int
    worker_cpu_seconds: float
    """CPU time of all workers, ended ones included; of a running job once it is over."""
    seccomp: bool
    """Whether the workers' system calls are filtered."""
    lanes: Mapping[str, LaneStats]

    @property
    def stops(self) -> int:
        return sum(self.stopped.values())


class Ledger:
    """Counts by name; safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._seconds: dict[str, float] = {"wait": 0.0, "longest_wait": 0.0, "cpu": 0.0}

    def count(self, name: str) -> None:
        with self._lock:
            self._counts[name] += 1

    def waited(self, seconds: float) -> None:
        with self._lock:
            self._counts["waits"] += 1
            self._seconds["wait"] += seconds
            self._seconds["longest_wait"] = max(self._seconds["longest_wait"], seconds)

    def worker_ended(self, cpu: float) -> None:
        with self._lock:
            self._seconds["cpu"] += cpu

    def stats(self, lanes: Mapping[str, LaneStats], running_cpu: float, seccomp: bool) -> Stats:
        with self._lock:
            counts, seconds = self._counts, self._seconds
            return Stats(
                jobs=counts["jobs"],
                stopped={name: counts[name] for name in LIMIT_NAMES},
                faults=counts["faults"],
                kills=counts["kills"],
                cooling_down=counts["cooling_down"],
                superseded=counts["superseded"],
                unavailable=counts["unavailable"],
                waits=counts["waits"],
                wait_seconds=seconds["wait"],
                longest_wait=seconds["longest_wait"],
                workers_started=counts["workers_started"],
                failed_starts=counts["failed_starts"],
                worker_cpu_seconds=seconds["cpu"] + running_cpu,
                seccomp=seccomp,
                lanes=lanes,
            )
