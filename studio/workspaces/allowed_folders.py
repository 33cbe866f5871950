"""Folders that somebody allowed: workspaces below them are read and written. Used by `roots` and `allowing`.

They are kept in a file of the data folder rather than in a table: which folders may be used is a fact of
this machine, so neither a restored backup nor a database shared with another machine brings any. Every
process reads the file again when it changed.
"""

import fcntl
import json
import os
import pwd
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.conf import settings

from builder.files.answering import answers

FILE_NAME = "allowed_folders.json"
_LARGEST = 1_000_000


class AllowedFoldersUnreadable(Exception):
    """The file is not as the studio wrote it; it is neither used nor replaced."""


@dataclass(frozen=True)
class AllowedFolder:
    """A folder without links on the way, with who allowed it and when."""

    path: Path
    by: str
    at: datetime


@dataclass(frozen=True)
class _File:
    """The file as it was read last."""

    stamp: tuple[int, ...]
    folders: tuple[AllowedFolder, ...] = ()
    usable: tuple[Path, ...] = ()


_NO_FILE = _File(())
_kept: dict[Path, _File] = {}


def allowed_folders() -> tuple[AllowedFolder, ...]:
    """Every folder that was allowed, as it was written; ``AllowedFoldersUnreadable`` for a broken file."""
    return _current().folders


def usable_folders() -> list[Path]:
    """Those that may be used now: one that has become a link, or too wide, since it was allowed may not."""
    try:
        # Nothing is read in one that does not answer, so it may stay until it does.
        return [
            path for path in _current().usable if not answers(path) or os.path.realpath(path) == str(path)
        ]
    except AllowedFoldersUnreadable:
        return []


def protected_by(folder: Path) -> Path | None:
    """What keeps a folder from being allowed: the folder that it is, that it holds, or that it lies in.

    Home folders and the data folder must not be held, and nothing in the data folder is a workspace of
    somebody. Folders are told by their numbers, so that neither a link nor a second mount hides one.
    """
    data = Path(os.path.realpath(settings.STUDIO_DATA))
    mine = _identity(folder)
    if mine is None:
        return None
    if any(_identity(above) == _identity(data) for above in (folder, *folder.parents)):
        return data
    for protected in (Path("/"), data, *_homes()):
        if any(_identity(above) == mine for above in (protected, *protected.parents)):
            return protected
    return None


def add(folder: AllowedFolder) -> bool:
    """Remember a folder; False where it was allowed already."""
    with _changing() as folders:
        if any(one.path == folder.path for one in folders):
            return False
        folders.append(folder)
        return True


def remove(path: Path) -> bool:
    """Forget a folder; False where it was not allowed."""
    with _changing() as folders:
        left = [one for one in folders if one.path != path]
        removed = len(left) < len(folders)
        folders[:] = left
        return removed


def _file() -> Path:
    return Path(settings.STUDIO_DATA) / FILE_NAME


def _homes() -> list[Path]:
    """Home folders of this machine's accounts, and of whoever runs the studio."""
    homes = dict.fromkeys([os.path.expanduser("~"), *(account.pw_dir for account in pwd.getpwall())])
    return [Path(os.path.realpath(home)) for home in homes if os.path.isabs(home)]


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        facts = os.stat(path)
    except (OSError, ValueError):
        return None
    return facts.st_dev, facts.st_ino


def _current() -> _File:
    path = _file()
    try:
        facts = os.stat(path)
    except FileNotFoundError:
        return _NO_FILE
    except OSError as error:
        raise AllowedFoldersUnreadable(str(path)) from error
    # A new file takes the place of the old one, so its number tells as well where the clock is coarse.
    stamp = (facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns)
    known = _kept.get(path)
    if known is None or known.stamp != stamp:
        folders = _read(path)
        usable = tuple(one.path for one in folders if protected_by(one.path) is None)
        known = _kept[path] = _File(stamp, folders, usable)
    return known


def _read(path: Path) -> tuple[AllowedFolder, ...]:
    try:
        with open(path, "rb") as file:
            rows = json.loads(file.read(_LARGEST))
        folders = tuple(
            AllowedFolder(Path(row["path"]), str(row["by"]), datetime.fromisoformat(row["at"]))
            for row in rows
        )
        for one in folders:
            if not one.path.is_absolute() or b"\0" in str(one.path).encode() or one.at.tzinfo is None:
                raise ValueError(f"{one} is nothing that the studio writes")
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise AllowedFoldersUnreadable(str(path)) from error
    return folders


@contextmanager
def _changing() -> Iterator[list[AllowedFolder]]:
    """The folders, to be changed; of two who change them at once, one waits for the other."""
    path = _file()
    with open(path.with_suffix(".lock"), "a") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        folders = list(allowed_folders())
        before = list(folders)
        yield folders
        if folders == before:
            return
        rows = [{"path": str(one.path), "by": one.by, "at": one.at.isoformat()} for one in folders]
        with tempfile.NamedTemporaryFile(
            "w", dir=path.parent, prefix=f".{FILE_NAME}.", delete=False
        ) as aside:
            json.dump(rows, aside, ensure_ascii=False, indent=1)
            aside.flush()
            os.fsync(aside.fileno())
        os.replace(aside.name, path)
