"""The copying of a database that may be in use: plain reads, never DuckDB, and torn copies are recognised.
Used by ``making``."""

import errno
import fcntl
import os
import stat
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from builder.errors import CacheFolderError, DatabaseMissing, DatabaseTooLarge, LeaderboardError
from builder.leaderboard.sentences import ELSEWHERE, MISSING, NO_SPACE, NOT_A_FILE, TOO_LARGE, UNREADABLE

SIDECARS = (".wal", ".wal.checkpoint", ".wal.recovery")
"""Committed rows can stand in these alone. DuckDB 2 diverts commits to the second one while a checkpoint
runs, and leaves it behind when it is killed then."""

_RACY_NS = 12_000_000
"""File times move in ticks of up to 10 ms: a write in the same tick as the one before leaves no trace in
them. A file younger than this is waited for, or a torn copy could pass for a good one."""

LARGEST = 4 * 1024**3
"""Bytes of a database and its logs that are copied, unless somebody says otherwise."""
KEPT_FREE = 512 * 1024**2
"""Bytes of the disk that no copy takes."""

_FICLONE = 0x40049409
_CHUNK = 8 * 1024 * 1024
_BLOCK = 512
"""The unit of ``st_blocks``, on every file system."""


class Stamp(NamedTuple):
    """What tells two states of a file apart."""

    inode: int
    size: int
    mtime_ns: int


class Identity(NamedTuple):
    """The state of a database: the file's and those of its logs, where there are any."""

    database: Stamp
    logs: tuple[Stamp | None, ...]

    @property
    def youngest_ns(self) -> int:
        """When any of the files was last written."""
        return max(stamp.mtime_ns for stamp in (self.database, *self.logs) if stamp is not None)


def identify(path: str) -> Identity:
    """Four stats; cheap enough for every call."""
    try:
        database = _stamp(os.stat(path))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise DatabaseMissing(MISSING, path=path) from error
    except OSError as error:
        raise LeaderboardError(UNREADABLE, path=path, reason=error.strerror or str(error)) from error
    return Identity(database, tuple(_stamp_of(path + suffix) for suffix in SIDECARS))


def _stamp(status: os.stat_result) -> Stamp:
    return Stamp(status.st_ino, status.st_size, status.st_mtime_ns)


def _stamp_of(path: str) -> Stamp | None:
    try:
        return _stamp(os.stat(path))
    except OSError:
        return None


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

    def stop(self) -> None:
        self._stop.set()


Roots = tuple[str, ...] | None
"""Folders, as ``realpath`` gives them, below which a file must really lie; ``None``: it may lie anywhere."""


@dataclass(frozen=True)
class Terms:
    """What may be copied."""

    follow_symlinks: bool = True
    roots: Roots = None
    largest: int = LARGEST
    kept_free: int = KEPT_FREE


ANY = Terms()


def copy(path: str, target: Path, terms: Terms = ANY, watch: Watch | None = None) -> Identity:
    """Copy the database and its logs to ``target``, or raise ``Changed``; ``watch`` is told how far it is.

    The original is only ever read with plain system calls. DuckDB would lock it, and a run that
    starts while we hold that lock fails at once.
    """
    _wait_until_settled(path)
    before = identify(path)
    listed = zip(("", *SIDECARS), (before.database, *before.logs), strict=True)
    stamps = {suffix: stamp for suffix, stamp in listed if stamp is not None}
    watch = watch or Watch()
    watch.begin(sum(stamp.size for stamp in stamps.values()))
    if watch.total > terms.largest:
        raise DatabaseTooLarge(
            TOO_LARGE, path=path, size=f"{watch.total / 1e6:,.0f}", largest=f"{terms.largest / 1e6:,.0f}"
        )
    _require_space(path, stamps, target.parent, terms.kept_free)
    for suffix, stamp in stamps.items():
        reading = _open(path + suffix, terms.follow_symlinks)
        try:
            require_inside(_place(reading, path + suffix), path + suffix, terms.roots)
            _copy_file(reading, path + suffix, Path(f"{target}{suffix}"), stamp, watch)
        finally:
            _close(reading)
    if identify(path) != before:
        raise Changed
    return before


def _require_space(path: str, suffixes: Iterable[str], folder: Path, kept_free: int) -> None:
    """See that what is really stored, holes left out, fits on the disk and leaves some of it free."""
    needed = 0
    for suffix in suffixes:
        with suppress(OSError):
            needed += os.stat(path + suffix).st_blocks * _BLOCK
    disk = os.statvfs(folder)
    if disk.f_bavail * disk.f_frsize - needed < kept_free:
        raise CacheFolderError(NO_SPACE, path=path, size=f"{needed / 1e6:,.0f}")


def _wait_until_settled(path: str) -> None:
    age = time.time_ns() - identify(path).youngest_ns
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
    # What is skipped below stays a hole in the copy, too.
    os.ftruncate(writing, size)
    done = 0
    for begin, end in _stored_parts(reading, size):
        watch.advance(begin - done)
        done = _transfer_part(reading, writing, begin, end, watch)
        if done != end:
            return done
    watch.advance(size - done)
    return os.fstat(reading).st_size


def _stored_parts(reading: int, size: int) -> Iterator[tuple[int, int]]:
    """Where a file has content; the rest of it are holes, which read as zeros and take no space."""
    end = 0
    while end < size:
        try:
            begin = os.lseek(reading, end, os.SEEK_DATA)
            end = min(size, os.lseek(reading, begin, os.SEEK_HOLE))
        except OSError as error:
            if error.errno == errno.ENXIO:
                return
            begin, end = end, size  # a file system that knows no holes
        if begin < end:
            yield begin, end


def _transfer_part(reading: int, writing: int, begin: int, end: int, watch: Watch) -> int:
    """How far it came, which is ``end`` unless the file became shorter."""
    done = begin
    with suppress(OSError):
        # Fails at once between file systems of different kinds; the rest is then copied through memory.
        while done < end and (
            moved := os.copy_file_range(reading, writing, min(_CHUNK, end - done), done, done)
        ):
            done += moved
            watch.advance(moved)
    while done < end and (chunk := os.pread(reading, min(_CHUNK, end - done), done)):
        moved = os.pwrite(writing, chunk, done)
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
