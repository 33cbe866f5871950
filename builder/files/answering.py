"""Whether a folder answers: one on a network can hang whoever looks into it until its server is back.

Asked before a workspace's folder is looked at, so that what hangs is a thread of this module, one for each
such folder, and not whoever asked. Used by the studio's pages and by the copies of databases.
"""

import os
import re
import select
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Generic, TypeVar

SECONDS = 2.0
"""That somebody waits for a folder; from then on it counts as hanging until it does answer."""
HOLDS_SECONDS = 0.05
"""So long an answer is believed: whoever meets a folder that began to hang within this time hangs, too."""
_LOCAL_HOLDS_SECONDS = 60.0
"""The same for a folder on a disk of this machine."""
_MOST_KEPT = 10_000
_LOCAL = re.compile("bcachefs|btrfs|exfat|ext[234]|f2fs|ntfs3|overlay|ramfs|tmpfs|vfat|xfs|zfs")
_ESCAPED = re.compile(r"\\([0-7]{3})")

T = TypeVar("T")


class _Question(Generic[T]):
    """One look, in a thread that ends with the process."""

    def __init__(self, look: Callable[[], T]) -> None:
        self._look = look
        self._answered = threading.Event()
        self._until = time.monotonic() + SECONDS
        self._at = 0.0
        self.answer: T | None = None
        threading.Thread(target=self._run, name="folder", daemon=True).start()

    def _run(self) -> None:
        try:
            self.answer = self._look()
        finally:
            self._at = time.monotonic()
            self._answered.set()

    def is_over(self, holds: float) -> bool:
        """Whether it was answered so long ago."""
        return self._answered.is_set() and time.monotonic() - self._at >= holds

    def wait(self) -> bool:
        """Whether there is an answer in time."""
        return self._answered.wait(max(0.0, self._until - time.monotonic()))


class _Mounts:
    """The mount points of this machine, read again when one comes or goes; Linux alone has them."""

    def __init__(self) -> None:
        self._changes = select.poll()
        self._file = open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape")  # noqa: SIM115
        self._changes.register(self._file, select.POLLPRI | select.POLLERR)
        self._others = self._read()

    def _read(self) -> list[str]:
        """Those of file systems that may hang."""
        self._file.seek(0)
        found = []
        for line in self._file:
            place, _, kind = line.partition(" - ")
            if not _LOCAL.fullmatch(kind.partition(" ")[0]):
                name = _ESCAPED.sub(lambda code: chr(int(code[1], 8)), place.split(" ")[4])
                found.append(name)
        return [name for name in found if name != "/"]

    def are_local(self, path: str) -> bool:
        if self._changes.poll(0):
            self._others = self._read()
        return not any(path == other or path.startswith(other + "/") for other in self._others)


_questions: dict[str, _Question[object]] = {}
_lock = threading.Lock()
_mounts: _Mounts | None = None
with suppress(OSError, AttributeError):
    _mounts = _Mounts()


def answers(folder: Path | str) -> bool:
    """Whether looking into the folder hangs nobody; a folder that is missing or closed answers, too."""
    name = str(folder)
    with _lock:
        known = _questions.get(name)
        real = known.answer if known else None
        local = bool(real) and _mounts is not None and _mounts.are_local(str(real))
    return in_time(name, lambda: _look(name), _LOCAL_HOLDS_SECONDS if local else HOLDS_SECONDS) is not None


def in_time(name: str, look: Callable[[], T], holds: float = 0.0) -> T | None:
    """What looking gives; None where that takes too long. While it does, the same is not tried again.

    For as many seconds as it ``holds`` the same answer is given again.
    """
    with _lock:
        question = _questions.get(name)
        if question is None or question.is_over(holds):
            if len(_questions) >= _MOST_KEPT:
                for old in [key for key, one in _questions.items() if one.is_over(_LOCAL_HOLDS_SECONDS)]:
                    del _questions[old]
            question = _questions[name] = _Question(look)
    return question.answer if question.wait() else None  # type: ignore[return-value]


def _look(folder: str) -> str:
    """Where the folder really lies."""
    # Opened rather than asked for its facts: those of a folder on a network are remembered for a while.
    with suppress(OSError, ValueError):
        os.close(os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NONBLOCK | os.O_CLOEXEC))
        return os.path.realpath(folder)
    return ""
