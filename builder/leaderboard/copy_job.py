"""A renewal of a copy, in a thread of its own. Used by ``snapshot``."""

import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from builder.errors import LeaderboardError
from builder.leaderboard.copying import Watch
from builder.leaderboard.reader import Reader

REST_PER_WORK, LONGEST_REST = 4.0, 60.0
"""A large file that a run writes to all the time is copied for at most a fifth of the time."""
_NICENESS = 10
_LOOK_SECONDS = 0.02
_END_SECONDS = 2.0


class CopyJob:
    """One renewal of a copy: its thread, how far it is, and what came of it."""

    def __init__(self, work: Callable[["CopyJob"], None]) -> None:
        self.watch = Watch()
        self.began = time.monotonic()
        self.error: LeaderboardError | None = None
        self.reader: Reader | None = None
        # A copy must not keep the program from ending: what closes the stores at exit stops it.
        self._thread = threading.Thread(target=work, args=(self,), name="leaderboard-copy", daemon=True)
        self._over = threading.Event()
        self._thread.start()

    def finish(self, reader: Reader | None, error: LeaderboardError | None) -> None:
        self.reader, self.error = reader, error
        self._over.set()

    @property
    def rest(self) -> float:
        """How long to let the original be after this."""
        return min(LONGEST_REST, REST_PER_WORK * (time.monotonic() - self.began))

    @property
    def amounts(self) -> dict[str, Any]:
        """How far it is, for a sentence."""
        done, total = self.watch.done, self.watch.total
        return {
            "done": done,
            "total": total,
            "done_mb": f"{done / 1e6:,.0f}",
            "total_mb": f"{total / 1e6:,.0f}",
        }

    @property
    def over(self) -> bool:
        return self._over.is_set()

    def wait(self, seconds: float | None) -> None:
        self._over.wait(seconds)

    def left(self, seconds: float | None) -> float | None:
        """What is left of so much patience: one page asks several questions, and waits for one copy once."""
        return None if seconds is None else max(0.0, self.began + seconds - time.monotonic())

    def wait_while_ours(self, seconds: float | None) -> None:
        """Until it is over, or turns out to wait for another process."""
        until = None if seconds is None else time.monotonic() + seconds
        while not self._over.wait(_LOOK_SECONDS) and not self.watch.elsewhere:
            if until is not None and time.monotonic() >= until:
                return

    def end(self) -> None:
        self.watch.stop()
        # Not for ever: a disk that no longer answers holds the thread, which then ends with the program.
        self._thread.join(_END_SECONDS)


def step_back() -> None:
    """Whoever waits for a page goes before this thread."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
