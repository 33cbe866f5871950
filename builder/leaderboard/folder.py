"""The folder in which copies of databases live: owner only, bounded, shared by processes. Used by
``making``."""

import fcntl
import os
import re
import secrets
import stat
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from builder.errors import CacheFolderError
from builder.leaderboard.sentences import FOLDER_UNSAFE, FOLDER_UNUSABLE

_COPY = re.compile(r"(?P<key>[0-9a-f]{16})-[0-9a-f]{24}\.duckdb")
_PART = re.compile(r"(?P<key>[0-9a-f]{16})-[0-9a-f]{16}\.part.*")
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
    """Copies by key (which database) and identity (which state of it).

    A copy is made under a private name while the key's lock is held, and renamed when it is good,
    so whatever bears a final name may be opened by anybody who can enter the folder.
    """

    def __init__(self, path: Path, bounds: Bounds = Bounds()) -> None:  # noqa: B008 (frozen)
        self.path = path
        self._bounds = bounds

    def ensure(self) -> None:
        """Make the folder, or see that the one there is ours alone."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError):
                self.path.mkdir(mode=0o700)
            # Not stat(): a symlink planted under a predictable name must not lead us elsewhere.
            status = self.path.lstat()
        except OSError as error:
            raise CacheFolderError(
                FOLDER_UNUSABLE, path=str(self.path), reason=error.strerror or str(error)
            ) from error
        reason = ""
        if not stat.S_ISDIR(status.st_mode):
            reason = "it is not a folder"
        elif status.st_uid != os.geteuid():
            reason = "it belongs to another user"
        elif status.st_mode & 0o077:
            reason = f"its mode is {stat.S_IMODE(status.st_mode):04o}"
        if reason:
            raise CacheFolderError(FOLDER_UNSAFE, path=str(self.path), reason=reason)

    def copy(self, key: str, identity: str) -> Path:
        return self.path / f"{key}-{identity}.duckdb"

    def part(self, key: str) -> Path:
        return self.path / f"{key}-{secrets.token_hex(8)}.part"

    def newest(self, key: str, mark: str = "") -> Path | None:
        """The last good copy that anybody made of this database; ``mark`` is how its identity begins."""
        fitting = (entry for entry in self._copies(key) if entry.name.startswith(f"{key}-{mark}"))
        return max(fitting, key=_made, default=None)

    def part_bytes(self, key: str) -> int:
        """How much of a copy is there that somebody is making."""
        return sum(_size(entry) for other, entry in self._parts() if other == key)

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

    def tidy(self, keep: Path) -> None:
        """After a new copy, with its lock held: drop what it replaces, leftovers, and what is too much."""
        match = _COPY.fullmatch(keep.name)
        if match is None:
            return
        key = match["key"]
        for old in self._copies(key):
            if old != keep:
                old.unlink(missing_ok=True)
        self._drop_parts(key)
        self._drop_abandoned_parts(key)
        self._shrink(keep)

    def _locked(self, key: str, until: float, clock: Callable[[], float]) -> int | None:
        path = self.path / f"{key}.lock"
        while True:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # Whoever evicts a key also removes its lock file: a lock on a removed file is worth nothing.
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

    def _copies(self, key: str | None = None) -> list[Path]:
        return [
            entry
            for entry in self.path.iterdir()
            if (match := _COPY.fullmatch(entry.name)) and key in (None, match["key"])
        ]

    def _parts(self) -> list[tuple[str, Path]]:
        """Unfinished copies by key."""
        return [
            (match["key"], entry) for entry in self.path.iterdir() if (match := _PART.fullmatch(entry.name))
        ]

    def _drop_parts(self, key: str) -> None:
        """With the key's lock held, every unfinished copy is a leftover of a killed process."""
        for other, entry in self._parts():
            if other == key:
                _remove(entry)

    def _drop_abandoned_parts(self, own: str) -> None:
        for key in {key for key, _ in self._parts()} - {own}:
            with self.lock(key, wait=0) as held:
                if held:
                    self._drop_parts(key)

    def _shrink(self, keep: Path) -> None:
        copies = sorted((entry for entry in self._copies() if entry != keep), key=_used)
        count, size = len(copies) + 1, sum(map(_size, copies)) + _size(keep)
        for entry in copies:
            if count <= self._bounds.copies and size <= self._bounds.bytes:
                return
            count, size = count - 1, size - _size(entry)
            # Processes that have it open keep reading it; it is gone when the last one lets go.
            entry.unlink(missing_ok=True)
            self._drop_lock(entry.name.split("-")[0])

    def _drop_lock(self, key: str) -> None:
        with self.lock(key, wait=0) as held:
            if held and not self._copies(key):
                (self.path / f"{key}.lock").unlink(missing_ok=True)


def _remove(entry: Path) -> None:
    # DuckDB spills into a folder beside its file when memory runs out.
    if entry.is_dir() and not entry.is_symlink():
        for inner in entry.iterdir():
            inner.unlink(missing_ok=True)
        entry.rmdir()
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
    with suppress(FileNotFoundError):
        return entry.stat().st_size
    return 0
