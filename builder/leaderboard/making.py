"""The making of a copy of a database's present state, or finding it: one maker at a time, across processes.
Used by ``snapshot``."""

import errno
import hashlib
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from builder.errors import (
    CacheFolderError,
    DatabaseDamaged,
    DatabaseQuarantined,
    DatabaseRefused,
    DatabaseTooNew,
    LeaderboardError,
    NotADatabase,
    TornCopy,
)
from builder.leaderboard import copying
from builder.leaderboard.copying import Changed, Identity, Stamp, Terms, Watch, identify
from builder.leaderboard.folder import CopyFolder
from builder.leaderboard.process import Failed, Gone, ReaderProcess, ReaderStopped
from builder.leaderboard.reader import Reader
from builder.leaderboard.schema import DATABASE_NAME
from builder.leaderboard.sentences import (
    ANSWER_TOO_LARGE,
    BUSY,
    DAMAGED,
    FOLDER_UNUSABLE,
    FOREIGN,
    NOT_A_DATABASE,
    QUARANTINED,
    REFUSED,
    TOO_NEW,
    TORN,
    UNREADABLE,
)

_MAGIC_AT, _MAGIC = 8, b"DUCK"
_POLL_SECONDS = 0.02
NO_STATE = Identity(Stamp(-1, -1, -1), ())
"""Of a copy of an earlier state: the next question looks at the original again."""


@dataclass(frozen=True)
class Retries:
    """How hard to try before the last good copy has to do. Waits double from the first."""

    attempts: int = 6
    first_wait: float = 0.01
    lock_wait: float = 30.0
    """How long to wait for another process that makes the same copy."""


class Maker:
    """Makes the copies of one database, and has the process that reads them."""

    def __init__(self, path: str, folder: CopyFolder, *, retries: Retries, terms: Terms) -> None:
        self._path = path
        self._folder = folder
        self._retries = retries
        self._terms = terms
        self._key = _hash(os.path.realpath(path))[:16]
        self.process = ReaderProcess(folder.of(self._key))

    def another_process(self) -> ReaderProcess:
        """One that can work for long on a new copy while questions to the last one are answered."""
        return ReaderProcess(self._folder.of(self._key))

    def adopt(self, process: ReaderProcess) -> None:
        """Have this process answer from now on; a question that the other one is at is asked again."""
        earlier, self.process = self.process, process
        if earlier is not process:
            earlier.end()

    def obtain(self, watch: Watch, process: ReaderProcess) -> Reader:
        """The copy of the present state, whoever makes it, opened in this process."""
        self._folder.ensure(self._key, self._path)
        # Also before a copy that is already there is opened: it may stem from when more was allowed.
        copying.require_inside(os.path.realpath(self._path), self._path, self._terms.roots)
        identity = identify(self._path)
        self._refuse_quarantined(identity)
        process.start()
        reader = self._opened(identity, process)
        if reader is not None:
            return reader
        until = time.monotonic() + self._retries.lock_wait
        while True:
            with self._folder.lock(self._key, wait=0) as held:
                if held:
                    return self._opened(identify(self._path), process) or self._made(watch, process)
            # Somebody else is at it: what they make will do, and how far they are can be seen.
            watch.follow(self._folder.part_bytes(self._key), identify(self._path).database.size)
            if time.monotonic() >= until:
                raise TornCopy(BUSY, path=self._path)
            watch.pause(_POLL_SECONDS)

    def newest(self) -> tuple[Reader, float] | None:
        """The last good copy of an earlier state, and when it was made."""
        with suppress(OSError, LeaderboardError, ReaderStopped, Failed, Gone):
            self._folder.ensure(self._key, self._path)
            copying.require_inside(os.path.realpath(self._path), self._path, self._terms.roots)
            path = self._folder.newest(self._key)
            noted = self._folder.quarantined(self._key)
            # That of the present state is being opened by whoever made it.
            left_out = {self._final(identify(self._path)).name, noted[0] if noted else None}
            if path is not None and path.name not in left_out:
                return self._reader(path, NO_STATE, self.process), path.stat().st_mtime
        return None

    def quarantine(self, reader: Reader, stop: ReaderStopped) -> LeaderboardError:
        """Note that no reader survives this state of the file, for every process and the next start."""
        self._folder.quarantine(self._key, reader.path.name, stop.limit)
        return self._quarantined(stop.limit)

    def release(self) -> None:
        """A person asks again."""
        self._folder.release(self._key)

    def drop(self) -> None:
        """The original is gone."""
        self._folder.drop(self._key)

    def discard(self, bad: Reader) -> None:
        """Remove a copy that turned out to be unreadable, for every process."""
        self._remove(bad.path)

    def explained(self, failure: Failed) -> LeaderboardError:
        """What a reader process could not do, as one of the builder's errors."""
        kind, reason = failure.kind, failure.reason
        if kind in REFUSED:
            return DatabaseRefused(REFUSED[kind], path=self._path, name=reason)
        if kind == "newer":
            return DatabaseTooNew(TOO_NEW, path=self._path, version=metadata.version("duckdb"))
        if kind == "damaged":
            return DatabaseDamaged(DAMAGED, path=self._path, reason=reason)
        if kind == "large":
            return LeaderboardError(ANSWER_TOO_LARGE)
        return LeaderboardError(FOREIGN if kind == "foreign" else UNREADABLE, path=self._path, reason=reason)

    # --- making ----------------------------------------------------------------------------

    def _made(self, watch: Watch, process: ReaderProcess) -> Reader:
        problem: LeaderboardError = TornCopy(TORN, path=self._path, attempts=self._retries.attempts)
        damaged: Identity | None = None
        for attempt in range(self._retries.attempts):
            if attempt:
                watch.pause(self._retries.first_wait * 2 ** (attempt - 1))
            try:
                with self._folder.part(self._key) as part:
                    identity = copying.copy(self._path, part / DATABASE_NAME, self._terms, watch)
                    _look_at_header(part / DATABASE_NAME, self._path)
                    final = self._final(identity)
                    os.rename(part, final)
                reader = self._first_opened(final, identity, process)
                self._folder.tidy(final)
                return reader
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
        raise problem

    def _first_opened(self, final: Path, identity: Identity, process: ReaderProcess) -> Reader:
        """A copy that does not open is not kept."""
        try:
            return self._reader(final, identity, process)
        except Failed as failure:
            self._remove(final)
            raise self.explained(failure) from failure
        except ReaderStopped as stop:
            self._remove(final)
            self._folder.quarantine(self._key, final.name, stop.limit)
            raise self._quarantined(stop.limit) from stop

    def _opened(self, identity: Identity, process: ReaderProcess) -> Reader | None:
        """A copy that some process has already made of this state."""
        final = self._final(identity)
        if not final.exists():
            return None
        try:
            reader = self._reader(final, identity, process)
        except (Failed, OSError):
            # It was evicted between the look and the opening, or somebody damaged it.
            self._remove(final)
            return None
        except ReaderStopped as stop:
            self._folder.quarantine(self._key, final.name, stop.limit)
            raise self._quarantined(stop.limit) from stop
        _touch(final)
        return reader

    def _reader(self, final: Path, identity: Identity, process: ReaderProcess) -> Reader:
        path = Path(os.path.realpath(final))
        try:
            return Reader(process, path, identity)
        except Gone:
            return Reader(process, path, identity)

    def _remove(self, final: Path) -> None:
        """Moved first: whatever bears a final name is whole."""
        with suppress(OSError), self._folder.part(self._key) as part:
            os.rename(final, part / final.name)

    def _failed(self, error: OSError) -> LeaderboardError:
        reason = error.strerror or str(error)
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            return CacheFolderError(FOLDER_UNUSABLE, path=str(self._folder.path), reason=reason)
        return LeaderboardError(UNREADABLE, path=self._path, reason=reason)

    def _refuse_quarantined(self, identity: Identity) -> None:
        noted = self._folder.quarantined(self._key)
        if noted is not None and noted[0] == self._final(identity).name:
            raise self._quarantined(noted[1])

    def _quarantined(self, limit: str) -> DatabaseQuarantined:
        return DatabaseQuarantined(QUARANTINED.get(limit, QUARANTINED["crash"]), path=self._path)

    def _final(self, identity: Identity) -> Path:
        return self._folder.copy(self._key, _hash(repr((self._path, identity)))[:24])


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _look_at_header(part: Path, source: str) -> None:
    """DuckDB has one and the same error for much that goes wrong: look first."""
    with part.open("rb") as file:
        head = file.read(_MAGIC_AT + len(_MAGIC))
    if head[_MAGIC_AT:] != _MAGIC:
        raise NotADatabase(NOT_A_DATABASE, path=source)


def _touch(path: Path) -> None:
    """Mark a copy as used, so that it outlives those that are not."""
    with suppress(OSError):
        # The time of writing stays: it says how old a copy is.
        os.utime(path, ns=(time.time_ns(), path.stat().st_mtime_ns))
