"""Gives the store a readable copy of its database, made anew when, and only when, the original changed."""

import errno
import hashlib
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import duckdb

from builder.errors import CacheFolderError, DatabaseDamaged, LeaderboardError, TornCopy
from builder.leaderboard import copying
from builder.leaderboard.copying import Changed, Identity, identify
from builder.leaderboard.folder import CopyFolder
from builder.leaderboard.reader import Reader, prepare, touch, version_mark
from builder.leaderboard.sentences import BUSY, FOLDER_UNUSABLE, TORN, UNREADABLE

_RECIPE = "2"
"""Part of a copy's name: raise it when copies are prepared differently."""

_INDEX_FROM_BYTES = 8 * 1024**2
_SETTLED_SECONDS = 60.0
_PAUSE_AFTER_FAILURE = 1.0


@dataclass(frozen=True)
class Retries:
    """How hard to try before the last good copy has to do. Waits double from the first."""

    attempts: int = 6
    first_wait: float = 0.01
    lock_wait: float = 30.0
    """How long to wait for another process that makes the same copy, with nothing to show yet."""


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
    """The current copy of one database. Safe for threads; a fork starts afresh."""

    def __init__(
        self,
        path: Path,
        folder: CopyFolder,
        *,
        retries: Retries,
        follow_symlinks: bool,
        background_bytes: int,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.path = os.path.abspath(path)
        self._folder = folder
        self._retries = retries
        self._follow_symlinks = follow_symlinks
        self._background_bytes = background_bytes
        self._clock = clock
        self._key = hashlib.sha256(
            os.path.realpath(self.path).encode("utf-8", "surrogateescape")
        ).hexdigest()[:16]
        self._process = os.getpid()
        self._guard = threading.Lock()
        self._current: Reader | None = None
        self._as_of = 0.0
        self._reason: LeaderboardError | None = None
        self._stale = False
        self._not_before = 0.0
        self._worker: threading.Thread | None = None

    def reader(self) -> Reader:
        """The copy to read from. Costs two stats while the original stays as it is."""
        if self._process != os.getpid():
            self._start_afresh()
        identity = identify(self.path)
        current = self._current
        if current is not None and current.identity == identity:
            self._as_of, self._stale = self._clock(), False
            return current
        return self._renewed(identity)

    def refresh(self, wait: float = 0.0) -> Copying:
        """See that the copy is, or is being brought, up to date; never waits longer than ``wait``."""
        if self._process != os.getpid():
            self._start_afresh()
        identity = identify(self.path)
        if self._current is None or self._current.identity != identity:
            self._start_worker()
            assert self._worker is not None
            self._worker.join(wait)
        return self.copying()

    def copying(self) -> Copying:
        fresh = None if self._current is None else self.freshness()
        if self._worker is not None and self._worker.is_alive():
            return Copying("copying", freshness=fresh)
        if self._stale and self._reason is not None:
            return Copying("failed", error=self._reason, freshness=fresh)
        return Copying("idle", freshness=fresh)

    def freshness(self) -> Freshness:
        return Freshness(
            datetime.fromtimestamp(self._as_of, UTC), self._stale, self._reason if self._stale else None
        )

    def discard(self, bad: Reader) -> None:
        """Forget a copy that turned out to be unreadable, for every process."""
        with self._guard:
            if self._current is bad:
                self._current = None
            with suppress(OSError):
                bad.path.unlink()

    def close(self) -> None:
        if self._process != os.getpid():
            self._start_afresh()
        if self._worker is not None:
            self._worker.join()
        with self._guard:
            if self._current is not None:
                self._current.close()
                self._current = None

    # --- renewing ------------------------------------------------------------------------

    def _renewed(self, identity: Identity) -> Reader:
        showing = self._current
        if showing is None:
            with self._guard:
                return self._replace(identity)
        # There is something to show: neither a large copy nor one that another thread makes keeps a reader.
        self._stale = True
        if time.monotonic() < self._not_before:
            return showing
        if identity.database.size >= self._background_bytes:
            self._start_worker()
            return showing
        if not self._guard.acquire(blocking=False):
            return showing
        try:
            return self._replace(identity)
        finally:
            self._guard.release()

    def _replace(self, identity: Identity) -> Reader:
        """With the guard held: the copy of this or a later state, or the last good one."""
        current = self._current
        if current is not None and current.identity == identity:
            return current
        try:
            reader = self._obtain(identity, patient=current is None)
        except (TornCopy, DatabaseDamaged, CacheFolderError) as error:
            return self._last_good(current, error)
        self._current, self._as_of, self._stale, self._reason = reader, self._clock(), False, None
        return reader

    def _last_good(self, current: Reader | None, error: LeaderboardError) -> Reader:
        self._stale, self._reason = True, error
        self._not_before = time.monotonic() + _PAUSE_AFTER_FAILURE
        if current is not None:
            return current
        if isinstance(error, CacheFolderError):
            raise error
        newest = self._folder.newest(self._key)
        if newest is None:
            raise error
        # Another process, or an earlier run of this one, had more luck.
        self._as_of = newest.stat().st_mtime
        with suppress(duckdb.Error, OSError):
            # No identity fits it: the next call looks at the original again.
            self._current = Reader(newest, Identity(copying.Stamp(-1, -1, -1), None))
            return self._current
        raise error

    def _obtain(self, identity: Identity, *, patient: bool) -> Reader:
        self._folder.ensure()
        found = self._opened(identity)
        if found is not None:
            return found
        with self._folder.lock(self._key, self._retries.lock_wait if patient else 0.0) as held:
            if not held:
                raise TornCopy(BUSY, path=self.path)
            return self._opened(identify(self.path)) or self._made()

    def _made(self) -> Reader:
        problem: LeaderboardError = TornCopy(TORN, path=self.path, attempts=self._retries.attempts)
        damaged: Identity | None = None
        for attempt in range(self._retries.attempts):
            if attempt:
                time.sleep(self._retries.first_wait * 2 ** (attempt - 1))
            part = self._folder.part(self._key)
            try:
                copied = copying.copy(self.path, part, follow_symlinks=self._follow_symlinks)
                prepare(part, self.path, has_log=copied.has_log, may_index=self._settled(copied.identity))
                final = self._final(copied.identity)
                os.rename(part, final)
                self._folder.tidy(final)
                return Reader(final, copied.identity)
            except Changed:
                continue
            except DatabaseDamaged as error:
                problem = error
                identity = identify(self.path)
                if identity == damaged:
                    # The same bytes again: no further copy of them will open.
                    break
                damaged = identity
            except LeaderboardError:
                raise
            except OSError as error:
                raise self._failed(error) from error
            finally:
                copying.discard(part)
        raise problem

    def _failed(self, error: OSError) -> LeaderboardError:
        reason = error.strerror or str(error)
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            return CacheFolderError(FOLDER_UNUSABLE, path=str(self._folder.path), reason=reason)
        return LeaderboardError(UNREADABLE, path=self.path, reason=reason)

    def _opened(self, identity: Identity) -> Reader | None:
        """A copy that some process has already made of this state."""
        final = self._final(identity)
        if not final.exists():
            return None
        try:
            reader = Reader(final, identity)
        except (duckdb.Error, OSError):
            # It was evicted between the look and the opening, or somebody damaged it.
            final.unlink(missing_ok=True)
            return None
        touch(final)
        return reader

    def _final(self, identity: Identity) -> Path:
        mark = repr((self.path, identity, _RECIPE, version_mark()))
        return self._folder.copy(
            self._key, hashlib.sha256(mark.encode("utf-8", "surrogateescape")).hexdigest()[:24]
        )

    def _settled(self, identity: Identity) -> bool:
        youngest = max(stamp.mtime_ns for stamp in identity if stamp is not None)
        quiet = self._clock() - youngest / 1e9 >= _SETTLED_SECONDS
        return quiet and identity.database.size >= _INDEX_FROM_BYTES

    def _start_worker(self) -> None:
        worker = self._worker
        if worker is not None and worker.is_alive():
            return
        self._worker = threading.Thread(target=self._work, name="leaderboard-copy")
        self._worker.start()

    def _work(self) -> None:
        try:
            with self._guard:
                self._replace(identify(self.path))
        except LeaderboardError as error:
            self._reason = error
            self._not_before = time.monotonic() + _PAUSE_AFTER_FAILURE

    def _start_afresh(self) -> None:
        """In a forked child: what was inherited belongs to the parent's threads."""
        if self._current is not None:
            self._current.abandon()
        self._process = os.getpid()
        self._guard = threading.Lock()
        self._current = self._worker = None
