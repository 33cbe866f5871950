"""Folders that might be registered: the one that MixSeek is told to use, and what lies below the roots.

Used by the list of workspaces and by the page that registers one.
"""

import os
import stat
import time
from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from django.conf import settings

from builder.files.answering import answers, in_time
from builder.files.reading import ORCHESTRATOR_FILE, PROMPT_FILE
from builder.leaderboard import DATABASE_NAME
from studio.models import Workspace
from studio.workspaces.roots import (
    FolderOutside,
    FolderRefused,
    allowed_folder,
    is_text,
    operator_setting,
    roots,
)

DEEPEST = 3
MOST_FOLDERS = 2000
MOST_FOUND = 50
SECONDS = 0.25
"""A scan looks so deep and no longer: a root may well be somebody's home."""


@dataclass(frozen=True)
class Candidate:
    """A folder that looks like a workspace."""

    path: str
    prompt_file: bool
    database: bool


@dataclass(frozen=True)
class Scan:
    """What a look below the roots found; ``complete`` where it saw all that it would look at."""

    candidates: tuple[Candidate, ...]
    complete: bool


@dataclass(frozen=True)
class Offer:
    """The folder of ``$MIXSEEK_WORKSPACE``; ``refusal`` where it cannot be registered."""

    given: str
    folder: str
    refusal: FolderRefused | None = None
    setting: str = ""
    """What the operator sets or runs, where that is what it takes."""


def offered(registered: Iterable[Workspace]) -> Offer | None:
    """What ``$MIXSEEK_WORKSPACE`` names; None where it names nothing, or what is on the list already."""
    given: str = settings.STUDIO_MIXSEEK_WORKSPACE
    if not given:
        return None
    if not answers(given):
        return None
    # MixSeek follows links on the way, so what they lead to is what is meant.
    real = os.path.realpath(given)
    if any(workspace.path == real for workspace in registered):
        return None
    try:
        return Offer(given, str(allowed_folder(real)))
    except FolderRefused as refusal:
        setting = operator_setting(Path(real)) if isinstance(refusal, FolderOutside) else ""
        return Offer(_shown(given), _shown(real), refusal, setting)


def _shown(path: str) -> str:
    """Bytes that are no UTF-8 are in a path, but can be on no page."""
    return path.encode("utf-8", "replace").decode()


def scan(known: Collection[str]) -> Scan:
    """Folders below the roots that look like workspaces, but for those that are known."""
    found = in_time("candidates", _scan)
    if found is None:
        return Scan((), complete=False)
    return replace(found, candidates=tuple(one for one in found.candidates if one.path not in known))


def _scan() -> Scan:
    candidates: list[Candidate] = []
    waiting = deque((root, 0) for root in dict.fromkeys(roots()))
    looked, deadline = 0, time.monotonic() + SECONDS
    while waiting:
        if looked >= MOST_FOLDERS or len(candidates) >= MOST_FOUND or time.monotonic() > deadline:
            return Scan(tuple(candidates), complete=False)
        folder, depth = waiting.popleft()
        looked += 1
        candidate = _look(folder)
        if candidate is None:
            inner = _folders_in(folder, MOST_FOLDERS - len(waiting)) if depth < DEEPEST else []
            waiting.extend((path, depth + 1) for path in inner)
        else:
            candidates.append(candidate)
    return Scan(tuple(candidates), complete=True)


def _look(folder: Path) -> Candidate | None:
    prompt_file, database = _is_file(folder / PROMPT_FILE), _is_file(folder / DATABASE_NAME)
    if prompt_file or database or _is_file(folder / ORCHESTRATOR_FILE):
        return Candidate(str(folder), prompt_file, database)
    return None


def _is_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def _folders_in(folder: Path, most: int) -> list[Path]:
    folders: list[Path] = []
    try:
        with os.scandir(folder) as entries:
            for number, entry in enumerate(entries):
                if number >= MOST_FOLDERS or len(folders) >= most:
                    break
                if entry.name.startswith(".") or not is_text(entry.name):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(Path(entry.path))
    except OSError:
        return []
    return sorted(folders)
