"""The reader of a workspace's files: what stands there, and what would keep it from being replaced.

Used by ``builder.contract.settings``, ``builder.files.writing`` and the studio's workspaces.
"""

import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from builder.errors import PromptFileInvalid, PromptFileMissing, PromptFileRefused
from builder.files.folders import LINK, opened, unreadable
from builder.files.toml_file import MAX_FILE_BYTES, TOO_LARGE
from builder.messages import message
from builder.problems import Problem

PROMPT_FILE = Path("configs/prompt_builder.toml")
ORCHESTRATOR_FILE = Path("configs/orchestrator.toml")
"""Where MixSeek looks, below a workspace; the second may name another place for the first."""
WORKSPACE_VARIABLE = "MIXSEEK_WORKSPACE"
NEW_FILE_MODE = 0o644
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC

NOT_REGULAR = message(
    "file-not-regular",
    "{file} is not a regular file",
    "{file} は通常のファイルではありません",
    fix_en="Replace it with a regular file.",
    fix_ja="通常のファイルに置き換えてください。",
)
HARD_LINKS = message(
    "file-hard-links",
    "{file} has {count} hard links; replacing it would separate them",
    "{file} には{count}個のハードリンクがあり、置き換えると別々のファイルになります",
    fix_en="Replace it with a copy that has no other hard links.",
    fix_ja="コピーに置き換えて、ハードリンクのないファイルにしてください。",
)
PROTECTED = message(
    "file-protected",
    "{file} is write-protected",
    "{file} は書き込み禁止になっています",
    fix_en="Allow its owner to write to it (chmod u+w), then try again.",
    fix_ja="所有者の書き込みを許可（chmod u+w）してから、もう一度お試しください。",
)
OWNER = message(
    "file-owner-changes",
    "The file's owner cannot be kept: user {uid}, group {gid} becomes user {new_uid}, group {new_gid}",
    "所有者を維持できません：ユーザー{uid}・グループ{gid} → ユーザー{new_uid}・グループ{new_gid}",
    fix_en="Run as that user, or change the owner first.",
    fix_ja="そのユーザーで実行するか、先に所有者を変更してください。",
)


def workspace_of(environ: Mapping[str, str]) -> Path | None:
    """The workspace that ``MIXSEEK_WORKSPACE`` names."""
    named = environ.get(WORKSPACE_VARIABLE, "")
    return Path(named) if named.strip() else None


@dataclass(frozen=True)
class FileState:
    """What stands at a path now; ``data`` is None where there is no file."""

    path: Path
    data: bytes | None = field(repr=False)
    modified_ns: int = 0
    mode: int = NEW_FILE_MODE
    uid: int = -1
    gid: int = -1

    @property
    def sha256(self) -> str | None:
        return None if self.data is None else sha256(self.data)

    @property
    def owner_warning(self) -> Problem | None:
        """Said before a write that could not keep the file's owner and group."""
        user, groups = os.geteuid(), {os.getegid(), *os.getgroups()}
        if self.data is None or user == 0 or (self.uid == user and self.gid in groups):
            return None
        group = self.gid if self.gid in groups else os.getegid()
        params: dict[str, str | int] = {
            "uid": self.uid,
            "gid": self.gid,
            "new_uid": user,
            "new_gid": group,
        }
        return Problem("warning", OWNER, 1, params=params)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def read_bytes(path: Path) -> bytes | None:
    """A file of a workspace as MixSeek would read it, links followed; None where there is none."""
    try:
        handle = os.open(path, _READ)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise unreadable(path, error) from error
    with closing(handle):
        return _content(handle, path)


def inspect(path: Path, root: Path, *, start: Path | None = None) -> FileState:
    """Look at a file inside a workspace; refuses what ``replace`` would refuse."""
    state, obstacle = peek(path, root, start=start)
    if obstacle is not None:
        raise obstacle
    return state


def peek(path: Path, root: Path, *, start: Path | None = None) -> tuple[FileState, PromptFileRefused | None]:
    """Read a file inside a workspace, and say what would keep ``replace`` from replacing it.

    A link on the way, also from ``start`` on, or what is no regular file, is refused here too.
    """
    try:
        with opened(path, root, start=start) as folder:
            return peek_in(folder, path)
    except PromptFileMissing:
        return FileState(path, None), None


def look_in(folder: int, path: Path, name: str | None = None) -> FileState:
    """What stands in the folder under the path's name, or under another one."""
    state, obstacle = peek_in(folder, path, name)
    if obstacle is not None:
        raise obstacle
    return state


def peek_in(folder: int, path: Path, name: str | None = None) -> tuple[FileState, PromptFileRefused | None]:
    """The same, with what would keep it from being replaced told and not raised."""
    try:
        handle = os.open(name or path.name, _READ | os.O_NOFOLLOW, dir_fd=folder)
    except FileNotFoundError:
        return FileState(path, None), None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise PromptFileRefused(LINK, file=str(path)) from None
        if error.errno == errno.ENXIO:
            raise PromptFileRefused(NOT_REGULAR, file=str(path)) from None
        raise unreadable(path, error) from error
    with closing(handle):
        data = _content(handle, path)
        status = os.fstat(handle)
    obstacle = None
    if status.st_nlink > 1:
        obstacle = PromptFileRefused(HARD_LINKS, file=str(path), count=status.st_nlink)
    elif not status.st_mode & stat.S_IWUSR:
        # A rename would get past it, but somebody wanted this file left alone.
        obstacle = PromptFileRefused(PROTECTED, file=str(path))
    mode = stat.S_IMODE(status.st_mode)
    return FileState(path, data, status.st_mtime_ns, mode, status.st_uid, status.st_gid), obstacle


def _content(handle: int, path: Path) -> bytes:
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        raise PromptFileRefused(NOT_REGULAR, file=str(path))
    with open(handle, "rb", closefd=False) as file:
        data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise PromptFileInvalid(TOO_LARGE, file=str(path), limit=MAX_FILE_BYTES)
    return data


@contextmanager
def closing(handle: int) -> Iterator[None]:
    """The descriptor is closed at the end."""
    try:
        yield
    finally:
        os.close(handle)
