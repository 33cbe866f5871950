"""The current copy of a database, renewed in a thread where the original changed. Used by ``source``.

A question is answered from a copy at least as new as the question, or with an error. Pages choose otherwise:
with ``background_bytes``, the last copy is shown while a new one is made, and its age is told."""

import atexit
import os
import threading
import time
import weakref
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from builder.errors import (
    CacheFolderError,
    CopyUnderWay,
    DatabaseDamaged,
    DatabaseMissing,
    LeaderboardError,
    TornCopy,
)
from builder.leaderboard.copy_job import CopyJob, step_back
from builder.leaderboard.copying import Identity, Stopped, Terms, identify
from builder.leaderboard.folder import CopyFolder
from builder.leaderboard.making import Maker, Retries
from builder.leaderboard.process import Failed, Gone, ReaderProcess, ReaderStopped, stop_readers
from builder.leaderboard.reader import Reader
from builder.leaderboard.sentences import BUSY, LATE, UNDER_WAY, UNREADABLE

_PAUSE_AFTER_FAILURE = 1.0


@dataclass(frozen=True)
class Freshness:
    """How current the answers are: ``as_of`` is when the original was last known to be as shown."""

    as_of: datetime
    stale: bool
    reason: LeaderboardError | None = None

    def age_seconds(self, now: datetime) -> float:
        return max(0.0, (now - self.as_of).total_seconds())


CopyState = Literal["idle", "copying", "failed"]


@dataclass(frozen=True)
class Copying:
    """What goes on with the copy; whatever it is, the last good one goes on being read.

    ``done`` of ``total`` bytes are copied; when all are, the copy is still being prepared until the state
    is ``idle``. ``freshness`` tells how current the copy in use is, ``None`` where there is none yet.
    """

    state: CopyState
    done: int = 0
    total: int = 0
    error: LeaderboardError | None = None
    freshness: Freshness | None = None


class Snapshots:
    """The current copy of one database. Safe for threads; a fork starts afresh.

    ``patience``: how long a question waits for a copy; ``None``, as long as it takes. With
    ``background_bytes``, an earlier copy is shown when a new one takes longer, and at once where the file is
    of that size or more.
    """

    def __init__(
        self,
        path: Path,
        folder: CopyFolder,
        *,
        retries: Retries,
        terms: Terms,
        background_bytes: int | None,
        patience: float | None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.path = os.path.abspath(path)
        self._maker = Maker(self.path, folder, retries=retries, terms=terms)
        self._background_bytes = background_bytes
        self._patience = patience
        self._clock = clock
        self._process = os.getpid()
        self._guard = threading.Lock()
        """Held for moments only: no copy is made and no question asked under it."""
        self._current: Reader | None = None
        self._as_of = 0.0
        self._reason: LeaderboardError | None = None
        self._stale = False
        self._failed: tuple[Identity, LeaderboardError] | None = None
        self._seen: Identity | None = None  # the original, when last looked at
        self._not_before = 0.0
        self._job: CopyJob | None = None
        self._renewing: ReaderProcess | None = None
        _ALL.add(self)

    def reader(self) -> Reader:
        """The copy to read from. Costs four stats while the original stays as it is."""
        identity = self._look()
        current = self._current
        if current is not None and current.identity == identity:
            self._as_of, self._stale = self._clock(), False
            return current
        if self._background_bytes is None:
            return self._current_at(identity)
        return self._first(identity) if current is None else self._while_renewing(current, identity)

    def shown(self) -> Reader | None:
        """The copy at hand, if any; looks at nothing, waits for nothing, starts nothing."""
        return self._current if self._process == os.getpid() else None

    def refresh(self, wait: float | None = 0.0) -> Copying:
        """See that the copy is, or is being brought, up to date; never waits longer than ``wait``."""
        identity = self._look()
        current = self._current
        if current is None or current.identity != identity:
            self._stale = current is not None
            rest = self._not_before - time.monotonic()
            if wait is None or rest <= wait:
                time.sleep(max(0.0, rest))
                self._started().wait(None if wait is None else wait - max(0.0, rest))
        return self.copying()

    def copying(self) -> Copying:
        fresh = None if self._current is None else self.freshness()
        job = self._job
        if job is not None and not job.over:
            return Copying("copying", job.watch.done, job.watch.total, freshness=fresh)
        error = self._reason if self._current is not None and self._stale else None
        if self._current is None and self._failed is not None:
            error = self._failed[1]
        if self._failed is not None and self._failed[0] != self._seen and _is_lasting(error):
            error = None  # it was about a state that is no more; the next one is tried after a pause
        return Copying("idle" if error is None else "failed", error=error, freshness=fresh)

    def freshness(self) -> Freshness:
        return Freshness(
            datetime.fromtimestamp(self._as_of, UTC), self._stale, self._reason if self._stale else None
        )

    def forget(self, reader: Reader) -> None:
        """Have the copy opened anew for the next question: its process has ended."""
        with self._guard:
            if self._current is reader:
                self._current = None

    def discard(self, bad: Reader) -> None:
        """Forget a copy that turned out to be unreadable, for every process."""
        self.forget(bad)
        self._maker.discard(bad)

    def quarantine(self, reader: Reader, stop: ReaderStopped) -> LeaderboardError:
        """Note that a question to this copy ended its reader, or would have; gives what to raise."""
        self.forget(reader)
        return self._maker.quarantine(reader, stop)

    def explained(self, failure: Failed) -> LeaderboardError:
        return self._maker.explained(failure)

    def try_again(self) -> None:
        """Read a file that was set aside once more."""
        self._maker.release()
        with self._guard:
            self._failed, self._reason, self._not_before = None, None, 0.0

    def close(self) -> None:
        """End a copy under way and the process that reads; a question that is being answered is asked
        again."""
        if self._process != os.getpid():
            self._start_afresh()
        with self._guard:
            job, self._job, self._current = self._job, None, None
        if job is not None:
            job.watch.stop()
        for process in (self._maker.process, self._renewing):
            if process is not None:
                process.end()
        if job is not None:
            job.end()

    # --- renewing ------------------------------------------------------------------------

    def _look(self) -> Identity:
        if self._process != os.getpid():
            self._start_afresh()
        try:
            self._seen = seen = identify(self.path)
            return seen
        except DatabaseMissing:
            self._current = self._seen = None
            self._maker.drop()
            raise

    def _current_at(self, asked: Identity) -> Reader:
        """A copy of the file as it was when it was asked for, or as it became since."""
        began = time.monotonic()
        failed = self._failed
        again = failed is not None and failed[0] == asked and began < self._not_before
        if failed is not None and again and _is_lasting(failed[1]):
            # The same bytes once more. What another moment may mend is tried again at once.
            raise copy(failed[1])
        for _ in range(2):
            job = self._started()
            # One that was under way already may have begun before the last change.
            later = job.began >= began
            job.wait(None if self._patience is None else max(0.0, began + self._patience - time.monotonic()))
            if not job.over:
                raise self._late(job)
            if job.reader is not None and (later or job.reader.identity == asked):
                return job.reader
            if later or job.reader is None:
                break
        raise copy(job.error) if job.error is not None else TornCopy(BUSY, path=self.path)

    def _late(self, job: CopyJob) -> CopyUnderWay:
        return CopyUnderWay(LATE, path=self.path, seconds=f"{self._patience:g}", **job.amounts)

    def _first(self, identity: Identity) -> Reader:
        """Nothing to show yet: wait, if not for ever."""
        failed = self._failed
        if failed is not None and failed[0] == identity and time.monotonic() < self._not_before:
            # A fresh one: each raise adds to an exception, and many threads may raise this.
            raise copy(failed[1])
        job = self._started()
        job.wait(job.left(self._patience))
        if self._current is not None:
            return self._current
        if job.over:
            raise copy(job.error) if job.error is not None else TornCopy(BUSY, path=self.path)
        # An earlier state, perhaps from before this process began, is better than none.
        earlier = self._maker.newest()
        if earlier is None:
            raise self._under_way(job)
        with self._guard:
            if self._current is None:
                self._current, self._as_of = earlier
                self._stale = True
            return self._current

    def _under_way(self, job: CopyJob) -> CopyUnderWay:
        return CopyUnderWay(UNDER_WAY, path=self.path, **job.amounts)

    def _while_renewing(self, showing: Reader, identity: Identity) -> Reader:
        """There is something to show: no large copy, and none that another process makes, keeps a reader."""
        self._stale = True
        if time.monotonic() < self._not_before:
            return showing
        job = self._started()
        if not self._is_large(identity):
            job.wait_while_ours(job.left(self._patience))
            if job.watch.elsewhere:
                self._reason = TornCopy(BUSY, path=self.path)
        return self._current or showing

    def _started(self) -> CopyJob:
        """The renewal that is under way, or a new one."""
        with self._guard:
            if self._job is None or self._job.over:
                self._job = CopyJob(self._work)
            return self._job

    def _is_large(self, identity: Identity) -> bool:
        """Whether nobody waits for a copy while there is an earlier one."""
        return self._background_bytes is not None and identity.database.size >= self._background_bytes

    def _work(self, job: CopyJob) -> None:
        error: LeaderboardError | None = None
        identity: Identity | None = None
        reader: Reader | None = None
        process = self._maker.process
        try:
            identity = identify(self.path)
            large = self._is_large(identity)
            if large:
                step_back()
                # The last copy goes on answering while this one is worked through.
                process = self._renewing = self._maker.another_process()
            reader = self._maker.obtain(job.watch, process)
            if self._background_bytes is not None:
                # Here nobody waits for it; a question would.
                self._digested(reader)
            with self._guard:
                # Else the store was closed meanwhile.
                if self._job is job:
                    self._maker.adopt(process)
                    self._current, self._as_of, self._stale = reader, self._clock(), False
                    self._reason = self._failed = None
                    self._not_before = time.monotonic() + (job.rest if large else 0.0)
        except LeaderboardError as failure:
            reader, error = None, self._noted(job, identity, failure)
        except OSError as failure:
            reason = failure.strerror or type(failure).__name__
            error = self._noted(job, identity, LeaderboardError(UNREADABLE, path=self.path, reason=reason))
        except (Stopped, Gone):
            reader, error = None, TornCopy(BUSY, path=self.path)
        finally:
            self._renewing = None
            if process is not self._maker.process:
                process.end()
            job.finish(reader, error)

    def _digested(self, reader: Reader) -> None:
        try:
            reader.digest()
        except ReaderStopped as stop:
            raise self._maker.quarantine(reader, stop) from stop
        except Failed as failure:
            raise self._maker.explained(failure) from failure

    def _noted(self, job: CopyJob, identity: Identity | None, error: LeaderboardError) -> LeaderboardError:
        """Go on with the last good copy, and do not try again at once."""
        earlier = None
        if self._current is None and isinstance(error, TornCopy | DatabaseDamaged):
            # Another process, or an earlier run of this one, had more luck.
            earlier = self._maker.newest()
        with self._guard:
            if self._current is None and earlier is not None and self._job is job:
                self._current, self._as_of = earlier
            self._stale, self._reason = True, error
            self._failed = None if identity is None else (identity, error)
            self._not_before = time.monotonic() + max(_PAUSE_AFTER_FAILURE, job.rest)
        return error

    def _start_afresh(self) -> None:
        """In a forked child: what was inherited belongs to the parent's threads."""
        self._process = os.getpid()
        self._guard = threading.Lock()
        self._current = self._job = self._renewing = None


def _is_lasting(error: LeaderboardError | None) -> bool:
    return not isinstance(error, TornCopy | CacheFolderError)


_ALL: weakref.WeakSet[Snapshots] = weakref.WeakSet()


@atexit.register
def _end_all() -> None:
    stop_readers()
    for snapshots in [*_ALL]:
        snapshots.close()
