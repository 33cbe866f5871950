"""What happens to an owner whose jobs were stopped: slow at first, then none for a while.

The first stop may be a slip of the pen, so its owner goes on at once, on a worker that
yields to everybody else's. Who is stopped there again has to wait.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class _Record:
    slow_until: float
    refused_until: float


_CLEAN = _Record(0.0, 0.0)


class CoolDown:
    """Remembers stops for a short while, by owner."""

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
