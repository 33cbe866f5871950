"""Finds the copy of a database's present state, or makes it: one maker at a time, across processes."""

import errno
import hashlib
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import duckdb

from builder.errors import CacheFolderError, DatabaseDamaged, LeaderboardError, TornCopy
from builder.leaderboard import copying
from builder.leaderboard.copying import Changed, Identity, Roots, identify
from builder.leaderboard.folder import CopyFolder
from builder.leaderboard.reader import Reader, prepare, touch, version_mark
from builder.leaderboard.sentences import BUSY, FOLDER_UNUSABLE, TORN, UNREADABLE
from builder.leaderboard.watch import Watch

_RECIPE = "5"
"""Part of a copy's name: raise it when copies are prepared differently."""

_INDEX_FROM_BYTES = 8 * 1024**2
_SETTLED_SECONDS = 60.0
_POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Retries:
    """How hard to try before the last good copy has to do. Waits double from the first."""

    attempts: int = 6
    first_wait: float = 0.01
    lock_wait: float = 30.0
    """How long to wait for another process that makes the same copy."""


class Maker:
    """Makes the copies of one database."""

    def __init__(
        self,
        path: str,
        folder: CopyFolder,
        *,
        retries: Retries,
        follow_symlinks: bool,
        roots: Roots,
        clock: Callable[[], float],
    ) -> None:
        self._path = path
        self._folder = folder
        self._retries = retries
        self._follow_symlinks = follow_symlinks
        self._roots = roots
        self._clock = clock
        self._key = _hash(os.path.realpath(path))[:16]
        self._mark = _hash(repr((_RECIPE, version_mark())))[:8]

    def obtain(self, watch: Watch) -> Reader:
        """The copy of the present state, whoever makes it."""
        self._folder.ensure()
        # Also before a copy that is already there is opened: it may stem from when more was allowed.
        copying.require_inside(os.path.realpath(self._path), self._path, self._roots)
        found = self._opened(identify(self._path))
        if found is not None:
            return found
        until = time.monotonic() + self._retries.lock_wait
        while True:
            with self._folder.lock(self._key, wait=0) as held:
                if held:
                    return self._opened(identify(self._path)) or self._made(watch)
            # Somebody else is at it: what they make will do, and how far they are can be seen.
            watch.follow(self._folder.part_bytes(self._key), identify(self._path).database.size)
            if time.monotonic() >= until:
                raise TornCopy(BUSY, path=self._path)
            watch.pause(_POLL_SECONDS)

    def newest(self) -> tuple[Reader, float] | None:
        """The last good copy of any state, and when it was made."""
        with suppress(OSError, duckdb.Error, LeaderboardError):
            self._folder.ensure()
            copying.require_inside(os.path.realpath(self._path), self._path, self._roots)
            found = self._folder.newest(self._key, self._mark)
            if found is not None:
                # No identity fits it: the next call looks at the original again.
                return Reader(found, Identity(copying.Stamp(-1, -1, -1), None)), found.stat().st_mtime
        return None

    def _made(self, watch: Watch) -> Reader:
        problem: LeaderboardError = TornCopy(TORN, path=self._path, attempts=self._retries.attempts)
        damaged: Identity | None = None
        for attempt in range(self._retries.attempts):
            if attempt:
                watch.pause(self._retries.first_wait * 2 ** (attempt - 1))
            part = self._folder.part(self._key)
            try:
                copied = copying.copy(
                    self._path,
                    part,
                    follow_symlinks=self._follow_symlinks,
                    roots=self._roots,
                    watch=watch,
                )
                prepare(part, self._path, may_index=self._settled(copied.identity), watch=watch)
                final = self._final(copied.identity)
                os.rename(part, final)
                self._folder.tidy(final)
                return Reader(final, copied.identity)
            except Changed:
                continue
            except DatabaseDamaged as error:
                problem = error
                identity = identify(self._path)
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
        return LeaderboardError(UNREADABLE, path=self._path, reason=reason)

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
        return self._folder.copy(self._key, self._mark + _hash(repr((self._path, identity)))[:16])

    def _settled(self, identity: Identity) -> bool:
        youngest = max(stamp.mtime_ns for stamp in identity if stamp is not None)
        quiet = self._clock() - youngest / 1e9 >= _SETTLED_SECONDS
        return quiet and identity.database.size >= _INDEX_FROM_BYTES


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
