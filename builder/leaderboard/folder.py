"""The folder in which copies of databases live: owner only, bounded, shared by processes. Used by
``making``."""

import fcntl
import json
import os
import re
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from builder.errors import CacheFolderError
from builder.files.answering import answers
from builder.leaderboard.sentences import FOLDER_UNSAFE, FOLDER_UNUSABLE

_KEY = re.compile(r"[0-9a-f]{16}")
_COPY = re.compile(r"[0-9a-f]{24}")
_PART = re.compile(r"[0-9a-f]{16}\.part")
_ORIGIN, _QUARANTINE, _LOCK = "origin", "quarantine.json", "lock"
_POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Bounds:
    """How much the folder may hold; the copies used longest ago go first."""

    copies: int = 32
    bytes: int = 8 * 1024**3


def default_folder(environ: Mapping[str, str]) -> Path:
    """The user's cache folder or, for a user without a home, one of their own below the temporary folder."""
    cache = environ.get("XDG_CACHE_HOME") or ""
    home = environ.get("HOME") or ""
    if os.path.isabs(cache):
        return Path(cache) / "prompt-studio" / "leaderboards"
    if os.path.isabs(home) and os.access(home, os.W_OK | os.X_OK):
        return Path(home) / ".cache" / "prompt-studio" / "leaderboards"
    return Path(tempfile.gettempdir()) / f"prompt-studio-leaderboards-{os.geteuid()}"


class CopyFolder:
    """A folder for each database, by key, and in it one for each copy, by the state that it is a copy of.

    A copy is made under a private name while the key's lock is held, and renamed when it is good,
    so whatever bears a final name may be opened by anybody who can enter the folder.
    """

    def __init__(self, path: Path, bounds: Bounds = Bounds()) -> None:  # noqa: B008 (frozen)
        self.path = path
        self._bounds = bounds

    def ensure(self, key: str, origin: str) -> None:
        """Make the folder of a database's copies, or see that what is there is ours alone."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError):
                self.path.mkdir(mode=0o700)
            # Not stat(): a symlink planted under a predictable name must not lead us elsewhere.
            status = self.path.lstat()
        except OSError as error:
            raise self._unusable(error) from error
        reason = ""
        if not stat.S_ISDIR(status.st_mode):
            reason = "it is not a folder"
        elif status.st_uid != os.geteuid():
            reason = "it belongs to another user"
        elif status.st_mode & 0o077:
            reason = f"its mode is {stat.S_IMODE(status.st_mode):04o}"
        if reason:
            raise CacheFolderError(FOLDER_UNSAFE, path=str(self.path), reason=reason)
        try:
            if not (self.of(key) / _ORIGIN).exists():
                self.of(key).mkdir(mode=0o700, exist_ok=True)
                (self.of(key) / _ORIGIN).write_bytes(os.fsencode(origin))
        except OSError as error:
            raise self._unusable(error) from error

    def _unusable(self, error: OSError) -> CacheFolderError:
        return CacheFolderError(FOLDER_UNUSABLE, path=str(self.path), reason=error.strerror or str(error))

    def of(self, key: str) -> Path:
        """Where the copies of one database lie."""
        return self.path / key

    def copy(self, key: str, state: str) -> Path:
        return self.of(key) / state

    @contextmanager
    def part(self, key: str) -> Iterator[Path]:
        """A new folder for an unfinished copy; what is still in it in the end is removed."""
        path = self.of(key) / f"{secrets.token_hex(8)}.part"
        path.mkdir(mode=0o700)
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    def newest(self, key: str) -> Path | None:
        """The last good copy that anybody made of this database."""
        return max(self._copies(key), key=_made, default=None)

    def part_bytes(self, key: str) -> int:
        """How much of a copy is there that somebody is making."""
        return sum(_size(part) for part in self._parts(key))

    # --- quarantine ------------------------------------------------------------------------

    def quarantined(self, key: str) -> tuple[str, str] | None:
        """The state of a database that no reader survived, and the limit that it met there."""
        try:
            noted = json.loads((self.of(key) / _QUARANTINE).read_bytes())
            return str(noted["state"]), str(noted["limit"])
        except (OSError, ValueError, LookupError, TypeError):
            return None

    def quarantine(self, key: str, state: str, limit: str) -> None:
        path = self.of(key) / f"{secrets.token_hex(8)}.part"
        with suppress(OSError):
            path.write_text(json.dumps({"state": state, "limit": limit}), encoding="utf-8")
            path.replace(self.of(key) / _QUARANTINE)

    def release(self, key: str) -> None:
        (self.of(key) / _QUARANTINE).unlink(missing_ok=True)

    # --- one maker at a time ---------------------------------------------------------------

    @contextmanager
    def lock(self, key: str, wait: float, clock: Callable[[], float] = time.monotonic) -> Iterator[bool]:
        """One maker per database, across processes; says whether the lock was had in time.

        The kernel lets go of it when a process dies, so a killed maker blocks nobody.
        """
        descriptor = self._locked(key, clock() + wait, clock)
        try:
            yield descriptor is not None
        finally:
            if descriptor is not None:
                os.close(descriptor)

    def _locked(self, key: str, until: float, clock: Callable[[], float]) -> int | None:
        path = self.of(key) / _LOCK
        while True:
            path.parent.mkdir(mode=0o700, exist_ok=True)
            try:
                descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            except FileNotFoundError:
                continue
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # Whoever drops a key also removes its lock file: a lock on a removed file is worth nothing.
                with suppress(FileNotFoundError):
                    if os.fstat(descriptor).st_ino == path.stat().st_ino:
                        return descriptor
                os.close(descriptor)
                continue
            except BlockingIOError:
                os.close(descriptor)
            if clock() >= until:
                return None
            time.sleep(_POLL_SECONDS)

    # --- tidying ---------------------------------------------------------------------------

    def tidy(self, keep: Path) -> None:
        """After a new copy, with its lock held: drop what it replaces, leftovers, copies of files that are
        gone, and what is too much."""
        key = keep.parent.name
        for old in [*self._copies(key), *self._parts(key)]:
            if old != keep:
                _remove(old)
        for entry in self._entries(self.path):
            if not _KEY.fullmatch(entry.name):
                _remove(entry)  # an earlier release kept its copies under other names
            elif entry.name != key:
                self._tidy_other(entry.name)
        self._shrink(keep)

    def drop(self, key: str) -> None:
        """Forget a database that is gone, unless a copy is being made of it."""
        if not self.of(key).exists():
            return
        with self.lock(key, wait=0) as held:
            if held:
                shutil.rmtree(self.of(key), ignore_errors=True)

    def drop_gone(self) -> None:
        """Drop the copies of databases that are no longer there."""
        for entry in self._entries(self.path):
            if _KEY.fullmatch(entry.name):
                self._tidy_other(entry.name)

    def _tidy_other(self, key: str) -> None:
        try:
            origin = os.fsdecode((self.of(key) / _ORIGIN).read_bytes())
            gone = answers(os.path.dirname(origin)) and not os.path.lexists(origin)
        except OSError:
            gone = True
        if gone:
            self.drop(key)
        elif self._parts(key):
            with self.lock(key, wait=0) as held:
                # With the lock held, every unfinished copy is a leftover of a killed process.
                for part in self._parts(key) if held else ():
                    _remove(part)

    def _shrink(self, keep: Path) -> None:
        keys = [entry.name for entry in self._entries(self.path) if _KEY.fullmatch(entry.name)]
        copies = sorted((copy for key in keys for copy in self._copies(key) if copy != keep), key=_used)
        count, size = len(copies) + 1, sum(map(_size, copies)) + _size(keep)
        for copy in copies:
            if count <= self._bounds.copies and size <= self._bounds.bytes:
                return
            count, size = count - 1, size - _size(copy)
            # Processes that have it open keep reading it; it is gone when the last one lets go.
            _remove(copy)

    def _copies(self, key: str) -> list[Path]:
        return [entry for entry in self._entries(self.of(key)) if _COPY.fullmatch(entry.name)]

    def _parts(self, key: str) -> list[Path]:
        """Unfinished copies."""
        return [entry for entry in self._entries(self.of(key)) if _PART.fullmatch(entry.name)]

    def _entries(self, folder: Path) -> list[Path]:
        try:
            return [*folder.iterdir()]
        except FileNotFoundError:
            return []


def _remove(entry: Path) -> None:
    if entry.is_dir() and not entry.is_symlink():
        shutil.rmtree(entry, ignore_errors=True)
    else:
        entry.unlink(missing_ok=True)


def _made(entry: Path) -> int:
    with suppress(FileNotFoundError):
        return entry.stat().st_mtime_ns
    return 0


def _used(entry: Path) -> int:
    with suppress(FileNotFoundError):
        return entry.stat().st_atime_ns
    return 0


def _size(entry: Path) -> int:
    """What a copy takes up on the disk; that of a file with holes is less than its length."""
    size = 0
    with suppress(FileNotFoundError):
        for file in os.scandir(entry):
            size += file.stat(follow_symlinks=False).st_blocks * 512
    return size
