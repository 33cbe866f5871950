"""The live progress files that MixSeek keeps beside its database, one for each team of an execution. Used by
``source``."""

import json
import os
import stat
import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from builder.leaderboard.copying import Roots, is_inside

_SUFFIX = ".progress.json"
_MAX_BYTES = 64 * 1024
# NONBLOCK, or a FIFO in the file's place would hold us for ever.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_TICK_NS = 2_000_000_000
"""Some file systems keep the times of folders in steps of two seconds."""
_LONG_LISTING, _REST_PER_LISTING = 0.02, 20.0
"""A folder of a hundred thousand files takes a while to list, and a run changes it every second."""
_SLACK_SECONDS = 24 * 3600.0
"""By how much the clock of a file system may differ from that of the writer."""


@dataclass(frozen=True)
class Progress:
    """What a team is doing, by its own account."""

    execution_id: str
    team_id: str
    team_name: str
    status: str
    current_round: int | None
    total_rounds: int | None
    current_agent: str | None
    updated_at: datetime | None
    error: str | None = None


class ProgressFolder:
    """The progress files of a workspace. MixSeek leaves those of finished runs behind, so the folder may
    hold many: it is listed anew only when it changed, and files that nobody writes to any more are not
    opened. With ``roots``, a folder that really lies elsewhere is not read."""

    def __init__(self, path: Path, roots: Roots = None) -> None:
        self._path = path
        self._roots = roots
        self._version: tuple[int, int] | None = None
        self._names: dict[str, list[str]] = {}
        self._pending: tuple[dict[str, list[str]], frozenset[str], list[str]] = ({}, frozenset(), [])
        self._ancient: dict[str, float] = {}
        self._not_before = 0.0

    def read(self, executions: Iterable[str] | None = None) -> list[Progress]:
        """The progress of some executions, or of all. A file that is being rewritten is left out."""
        names = self._listed()
        wanted = sorted(names if executions is None else set(executions) & names.keys())
        reports = (_read(self._path / name) for execution in wanted for name in names[execution])
        return [progress for progress in reports if progress is not None]

    def alive(self, since: datetime, finished: frozenset[str] = frozenset()) -> list[str]:
        """Executions, not among the finished ones, of which a team has reported since then."""
        names = self._listed()
        listed, known, pending = self._pending
        if listed is not names or known is not finished:
            pending = [execution for execution in names if execution not in finished]
            self._pending = (names, finished, pending)
        recent = since.timestamp() - _SLACK_SECONDS
        return [
            execution
            for execution in pending
            if any(self._shows_life(name, since, recent) for name in names[execution])
        ]

    def _shows_life(self, name: str, since: datetime, recent: float) -> bool:
        if self._ancient.get(name, recent) < recent:
            return False
        try:
            written = os.stat(self._path / name).st_mtime
        except OSError:
            return False
        if written < recent:
            self._ancient[name] = written
            return False
        progress = _read(self._path / name)
        return progress is not None and progress.updated_at is not None and progress.updated_at >= since

    def _listed(self) -> dict[str, list[str]]:
        """File names by execution."""
        began = time.monotonic()
        if began < self._not_before:
            return self._names
        try:
            status = os.stat(self._path)
            version = (status.st_ino, status.st_mtime_ns)
            if version != self._version:
                names = (
                    os.listdir(self._path)
                    if is_inside(os.path.realpath(self._path) + "/", self._roots)
                    else []
                )
                # A file added within the same tick of the clock would leave no trace: look again then.
                settled = time.time_ns() - status.st_mtime_ns > _TICK_NS
                self._names, self._version = _by_execution(names), version if settled else None
                took = time.monotonic() - began
                self._not_before = began + took * _REST_PER_LISTING if took > _LONG_LISTING else 0.0
        except OSError:
            self._names, self._version = {}, None
        return self._names


def _by_execution(names: Iterable[str]) -> dict[str, list[str]]:
    files: dict[str, list[str]] = {}
    for name in sorted(names):
        # Execution ids hold no dot; team ids may.
        execution, dot, _ = name.partition(".")
        # Bytes that are no UTF-8 are no name of MixSeek's, and no page could show them.
        if dot and name.endswith(_SUFFIX) and _shown(name) == name:
            files.setdefault(execution, []).append(name)
    return files


def _read(path: Path) -> Progress | None:
    try:
        data = json.loads(_content(path))
        return Progress(
            execution_id=_shown(data["execution_id"]),
            team_id=_shown(data["team_id"]),
            team_name=_shown(data.get("team_name") or data["team_id"]),
            status=_shown(data["status"]),
            current_round=_number(data.get("current_round")),
            total_rounds=_number(data.get("total_rounds")),
            current_agent=_text(data.get("current_agent")),
            updated_at=_moment(data.get("updated_at")),
            error=_text(data.get("error_message")),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _content(path: Path) -> bytes:
    """Of a plain file; what else stands there, a link included, is no report of MixSeek's."""
    handle = os.open(path, _READ)
    try:
        return os.read(handle, _MAX_BYTES) if stat.S_ISREG(os.fstat(handle).st_mode) else b""
    finally:
        os.close(handle)


def _shown(value: Any) -> str:
    """As a page can show it: half of a surrogate pair can hide behind an escape."""
    return str(value).encode("utf-8", "replace").decode()


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(value: Any) -> str | None:
    return _shown(value) if isinstance(value, str) and value else None


def _moment(value: Any) -> datetime | None:
    if not isinstance(value, str):
        return None
    moment = datetime.fromisoformat(value)
    try:
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except OverflowError:  # there is no such moment in UTC
        return None
