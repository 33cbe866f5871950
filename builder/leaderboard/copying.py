"""The copying of a database that may be in use: plain reads, never DuckDB, and torn copies are recognised.
Used by ``making``."""

import errno
import fcntl
import os
import stat
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import duckdb

from builder.errors import DatabaseMissing, LeaderboardError
from builder.leaderboard.sentences import ELSEWHERE, MISSING, NOT_A_FILE, UNREADABLE

SIDECARS = (".wal", ".wal.checkpoint", ".wal.recovery")
"""Committed rows can stand in these alone. DuckDB 2 diverts commits to the second one while a checkpoint
runs, and leaves it behind when it is killed then."""

_RACY_NS = 12_000_000
"""File times move in ticks of up to 10 ms: a write in the same tick as the one before leaves no trace in
them. A file younger than this is waited for, or a torn copy could pass for a good one."""

_FICLONE = 0x40049409
_CHUNK = 8 * 1024 * 1024


class Stamp(NamedTuple):
    """What tells two states of a file apart."""

    inode: int
    size: int
    mtime_ns: int


class Identity(NamedTuple):
    """The state of a database: the file's and that of its write-ahead log, where there is one."""

    database: Stamp
    wal: Stamp | None


def identify(path: str) -> Identity:
    """Two stats; cheap enough for every call."""
    try:
        database = _stamp(os.stat(path))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise DatabaseMissing(MISSING, path=path) from error
    except OSError as error:
        raise LeaderboardError(UNREADABLE, path=path, reason=error.strerror or str(error)) from error
    try:
        return Identity(database, _stamp(os.stat(path + ".wal")))
    except OSError:
        return Identity(database, None)


def _stamp(status: os.stat_result) -> Stamp:
    return Stamp(status.st_ino, status.st_size, status.st_mtime_ns)


@dataclass(frozen=True)
class Copied:
    """A copy whose original did not change while it was made."""

    identity: Identity
    has_log: bool


class Changed(Exception):
    """The original changed during the copy; try again. Never leaves the package."""


class Stopped(Exception):
    """The copy is no longer wanted. Never leaves the package."""


class Watch:
    """How far a copy is, and the word to stop: shared by the thread that makes it and those that look on."""

    def __init__(self) -> None:
        self.done = 0
        self.total = 0
        self.elsewhere = False
        """Another process is at it, and is being waited for."""
        self._stop = threading.Event()
        self._querying: duckdb.DuckDBPyConnection | None = None

    def begin(self, total: int) -> None:
        self.done, self.total, self.elsewhere = 0, total, False

    def follow(self, done: int, total: int) -> None:
        """Another process has come this far."""
        self.done, self.total, self.elsewhere = min(done, total), total, True

    def advance(self, count: int) -> None:
        """So many more bytes are there; raises ``Stopped`` where they are no longer wanted."""
        self.done += count
        self.check()

    def check(self) -> None:
        if self._stop.is_set():
            raise Stopped

    def pause(self, seconds: float) -> None:
        """Sleep, unless and until there is the word to stop."""
        self._stop.wait(seconds)
        self.check()

    def queries(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Which connection is at work, so that a long statement can be interrupted."""
        self._querying = connection
        self.check()

    def rest(self) -> None:
        self._querying = None

    def stop(self) -> None:
        self._stop.set()
        connection = self._querying
        if connection is not None:
            # It may just have been closed.
            with suppress(duckdb.Error):
                connection.interrupt()


Roots = tuple[str, ...] | None
"""Folders, as ``realpath`` gives them, below which a file must really lie; ``None``: it may lie anywhere."""


def copy(
    path: str,
    target: Path,
    *,
    follow_symlinks: bool = True,
    roots: Roots = None,
    watch: Watch | None = None,
) -> Copied:
    """Copy the database and its logs, or raise ``Changed``; ``watch`` is told how far it is.

    The original is only ever read with plain system calls. DuckDB would lock it, and a run that
    starts while we hold that lock fails at once.
    """
    _wait_until_settled(path)
    before = _stamps(path)
    if before[""] is None:
        raise DatabaseMissing(MISSING, path=path)
    watch = watch or Watch()
    watch.begin(sum(stamp.size for stamp in before.values() if stamp is not None))
    for suffix, stamp in before.items():
        if stamp is not None:
            reading = _open(path + suffix, follow_symlinks)
            try:
                require_inside(_place(reading, path + suffix), path + suffix, roots)
                _copy_file(reading, path + suffix, Path(f"{target}{suffix}"), stamp, watch)
            finally:
                _close(reading)
    if _stamps(path) != before:
        raise Changed
    return Copied(Identity(before[""], before[".wal"]), any(before[suffix] for suffix in SIDECARS))


def discard(target: Path) -> None:
    """Remove an unfinished copy and everything beside it."""
    for suffix in ("", *SIDECARS):
        with suppress(OSError):
            os.unlink(f"{target}{suffix}")


def _stamps(path: str) -> dict[str, Stamp | None]:
    stamps: dict[str, Stamp | None] = {}
    for suffix in ("", *SIDECARS):
        try:
            stamps[suffix] = _stamp(os.stat(path + suffix))
        except OSError:
            stamps[suffix] = None
    return stamps


def _wait_until_settled(path: str) -> None:
    youngest = max(stamp.mtime_ns for stamp in identify(path) if stamp is not None)
    age = time.time_ns() - youngest
    # A time in the future comes from another machine's clock and says nothing.
    if 0 <= age < _RACY_NS:
        time.sleep((_RACY_NS - age) / 1e9)


def is_inside(place: str, roots: Roots) -> bool:
    return roots is None or any(place.startswith(root.rstrip("/") + "/") for root in roots)


def require_inside(place: str, source: str, roots: Roots) -> None:
    """Refuses a file that really lies outside the folders that may be read."""
    if not is_inside(place, roots):
        raise LeaderboardError(ELSEWHERE, path=source, target=place)


def _place(descriptor: int, source: str) -> str:
    """Where an opened file really lies: a link could be turned round between a look and the opening."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}").removesuffix(" (deleted)")
    except OSError:
        return os.path.realpath(source)


def _copy_file(reading: int, source: str, target: Path, expected: Stamp, watch: Watch) -> None:
    status = os.fstat(reading)
    if not stat.S_ISREG(status.st_mode):
        raise LeaderboardError(NOT_A_FILE, path=source)
    if _stamp(status) != expected:
        raise Changed
    writing = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        if _transfer(reading, writing, expected.size, watch) != expected.size:
            raise Changed
    finally:
        os.close(writing)


def _transfer(reading: int, writing: int, size: int, watch: Watch) -> int:
    with suppress(OSError):
        # Where the file system shares blocks (XFS, Btrfs), a gigabyte takes no time.
        fcntl.ioctl(writing, _FICLONE, reading)
        watch.advance(size)
        return os.fstat(writing).st_size
    done = 0
    with suppress(OSError):
        # Fails at once between file systems of different kinds; the rest is then copied through memory.
        while moved := os.copy_file_range(reading, writing, min(_CHUNK, size - done), offset_src=done):
            done += moved
            watch.advance(moved)
    while chunk := os.pread(reading, min(_CHUNK, size - done), done):
        moved = os.write(writing, chunk)
        done += moved
        watch.advance(moved)
    return done


_KEPT_OPEN: dict[tuple[int, int], int] = {}
"""POSIX drops all locks that a process has on a file when *any* of its descriptors is closed. Where this
very process is also the one that writes (a round controller that renders through this store), closing ours
would unlock its database without a word. Such a descriptor is kept and used again."""


def _open(source: str, follow_symlinks: bool) -> int:
    # NONBLOCK, or a FIFO in the file's place would hold us for ever.
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | (0 if follow_symlinks else os.O_NOFOLLOW)
    try:
        kept = _KEPT_OPEN.get(_inode(os.stat(source, follow_symlinks=follow_symlinks)))
        return os.open(source, flags) if kept is None else kept
    except FileNotFoundError as error:
        raise Changed from error
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise LeaderboardError(NOT_A_FILE, path=source) from error
        raise LeaderboardError(UNREADABLE, path=source, reason=error.strerror or str(error)) from error


def _close(descriptor: int) -> None:
    key = _inode(os.fstat(descriptor))
    if _KEPT_OPEN.get(key) == descriptor:
        return
    if _open_elsewhere(key, descriptor):
        _KEPT_OPEN[key] = descriptor
    else:
        os.close(descriptor)


def _open_elsewhere(key: tuple[int, int], own: int) -> bool:
    for name in os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else ():
        # The listing holds the descriptor it was read with, which is closed by now.
        with suppress(OSError):
            if int(name) != own and _inode(os.fstat(int(name))) == key:
                return True
    return False


def _inode(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino
