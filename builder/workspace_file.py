"""Writing one file of a workspace: whole or not at all, and never over somebody else's edit.

Every folder on the way is opened without following links and held open, so that nobody can
put another one in its place; writers take turns by a lock on the folder, which a killed
process gives back by itself.
"""

import ctypes
import errno
import fcntl
import hashlib
import os
import secrets
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from builder.errors import (
    PromptFileConflict,
    PromptFileInvalid,
    PromptFileMissing,
    PromptFileRefused,
    PromptFileUnwritable,
)
from builder.messages import message
from builder.toml_file import MAX_FILE_BYTES, TOO_LARGE

Step = Literal["locked", "compared", "written", "synced", "compared-again", "replaced", "folder-synced"]
STEPS: tuple[Step, ...] = get_args(Step)
"""The steps of ``replace``, in order; a process may die after each of them."""

LOCK_SECONDS = 10.0
_TEMPORARY = ".prompt-studio-"
_NEW_FILE_MODE = 0o644
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

OUTSIDE = message(
    "file-outside",
    "{file} is not inside the workspace {root}",
    "{file} はワークスペース {root} の中にありません",
    fix_en="Let prompt_builder_config name a file inside the workspace.",
    fix_ja="prompt_builder_config にはワークスペース内のファイルを指定してください。",
)
LINK = message(
    "file-link",
    "{file} is a symbolic link, or stands behind one",
    "{file} はシンボリックリンクか、その先にあります",
    fix_en="Put a regular file in its place.",
    fix_ja="通常のファイルに置き換えてください。",
)
NOT_REGULAR = message(
    "file-not-regular",
    "{file} is not a regular file",
    "{file} は通常のファイルではありません",
    fix_en="Put a regular file in its place.",
    fix_ja="通常のファイルに置き換えてください。",
)
HARD_LINKS = message(
    "file-hard-links",
    "{file} has {count} names (hard links); replacing it would part them",
    "{file} には{count}個の名前（ハードリンク）があり、置き換えると別々になります",
    fix_en="Copy the file over itself so that it has one name only.",
    fix_ja="コピーし直して、名前が1つだけのファイルにしてください。",
)
PROTECTED = message(
    "file-protected",
    "{file} is write-protected",
    "{file} は書き込み禁止になっています",
    fix_en="Allow its owner to write to it (chmod u+w), then try again.",
    fix_ja="所有者の書き込みを許可（chmod u+w）してから、もう一度お試しください。",
)
CHANGED = message(
    "file-changed",
    "{file} has changed since it was read; nothing was written",
    "{file} は読み込んだ後に変更されています。何も書き込んでいません",
    fix_en="Look at the change, then adopt it or overwrite it knowingly.",
    fix_ja="変更を確認し、取り込むか、承知のうえで上書きしてください。",
)
APPEARED = message(
    "file-appeared",
    "{file} exists already; nothing was written",
    "{file} は既に存在します。何も書き込んでいません",
)
GONE = message(
    "file-gone",
    "{file} no longer exists; nothing was written",
    "{file} はなくなっています。何も書き込んでいません",
)
BUSY = message(
    "file-busy",
    "Somebody else is writing to {folder}; nothing was written",
    "別の処理が {folder} に書き込み中です。何も書き込んでいません",
    fix_en="Try again in a moment.",
    fix_ja="少し待ってから、もう一度お試しください。",
)
FOLDER_MISSING = message(
    "file-folder-missing", "The folder {folder} does not exist", "フォルダ {folder} がありません"
)
SYSTEM = message(
    "file-system",
    "{file}: {reason}; the file is as it was",
    "{file}: {reason}。ファイルは元のままです",
)
OWNER = message(
    "file-owner-changes",
    "The file belongs to user {uid}, group {gid}; once written it will belong to user {new_uid}",
    "このファイルの所有者はユーザー{uid}・グループ{gid}ですが、書き込むとユーザー{new_uid}になります",
)


@dataclass(frozen=True)
class FileState:
    """What stands at a path now: None for ``data`` where there is no file."""

    path: Path
    data: bytes | None = field(repr=False)
    modified_ns: int = 0
    mode: int = _NEW_FILE_MODE
    uid: int = -1
    gid: int = -1
    owner_kept: bool = True
    """Whether we could give a replacement the same owner and group."""

    @property
    def sha256(self) -> str | None:
        return None if self.data is None else sha256(self.data)


@dataclass(frozen=True)
class Receipt:
    """What a write has done. ``old`` is what stood there before, for undoing it."""

    path: Path
    sha256_before: str | None
    sha256_after: str
    owner_kept: bool
    old: bytes | None = field(repr=False)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def read_bytes(path: Path) -> bytes | None:
    """A file of a workspace as MixSeek would read it, links followed; None where there is none."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _system(path, error) from error
    with _closing(handle):
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise PromptFileRefused(NOT_REGULAR, file=str(path))
        return _content(handle, path)


def inspect(path: Path, root: Path) -> FileState:
    """Look at a file as ``replace`` would find it: refuses what could not be replaced."""
    try:
        with _folder(path, root, make=False) as folder:
            return _state(folder, path)
    except PromptFileMissing:
        return FileState(path, None)


def replace(
    path: Path,
    new: bytes,
    expected_hash: str | None,
    root: Path,
    *,
    on_step: Callable[[Step], None] = lambda step: None,
    lock_seconds: float = LOCK_SECONDS,
) -> Receipt:
    """Put ``new`` in the place of the file whose SHA-256 is expected; None: of no file at all.

    ``path`` must be inside ``root``, the workspace. After each of ``STEPS`` ``on_step`` is told.
    """
    if len(new) > MAX_FILE_BYTES:
        raise PromptFileInvalid(TOO_LARGE, file=str(path), limit=MAX_FILE_BYTES)
    try:
        with _folder(path, root, make=expected_hash is None) as folder:
            _lock(folder, path, lock_seconds)
            on_step("locked")
            _sweep(folder)
            state = _state(folder, path)
            _require(state, expected_hash)
            on_step("compared")
            with _temporary(folder, new, state, on_step) as (temporary, owner_kept):
                _require(_state(folder, path), expected_hash)
                on_step("compared-again")
                _swap(folder, temporary, state)
                on_step("replaced")
            os.fsync(folder)
            on_step("folder-synced")
    except OSError as error:
        if isinstance(error, PromptFileMissing):
            raise
        raise _system(path, error) from error
    return Receipt(path, expected_hash, sha256(new), owner_kept, state.data)


# --- folders -----------------------------------------------------------------------------


@contextmanager
def _folder(path: Path, root: Path, *, make: bool) -> Iterator[int]:
    """The folder of a file, opened step by step from the root without following a link."""
    try:
        parts = path.relative_to(root).parts
    except ValueError:
        raise PromptFileRefused(OUTSIDE, file=str(path), root=str(root)) from None
    if not parts or ".." in parts:
        raise PromptFileRefused(OUTSIDE, file=str(path), root=str(root))
    at = root
    handle = _open_folder(root, None, at)
    try:
        for part in parts[:-1]:
            at = at / part
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, 0o755, dir_fd=handle)
            inner = _open_folder(part, handle, at)
            os.close(handle)
            handle = inner
        yield handle
    finally:
        os.close(handle)


def _open_folder(name: Path | str, parent: int | None, shown: Path) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=parent)
    except FileNotFoundError:
        raise PromptFileMissing(FOLDER_MISSING, folder=str(shown)) from None
    except OSError as error:
        # A link gives ELOOP or, because a folder was asked for, ENOTDIR.
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise PromptFileRefused(LINK, file=str(shown)) from None
        raise _system(shown, error) from error


def _lock(folder: int, path: Path, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            return fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise PromptFileUnwritable(BUSY, folder=str(path.parent)) from None
            time.sleep(0.01)


def _sweep(folder: int) -> None:
    """Take away what killed writers left; whoever holds the lock is the only one alive."""
    for name in os.listdir(folder):
        if name.startswith(_TEMPORARY):
            with suppress(OSError):
                os.unlink(name, dir_fd=folder)


# --- the file ----------------------------------------------------------------------------


def _state(folder: int, path: Path) -> FileState:
    try:
        handle = os.open(path.name, _READ, dir_fd=folder)
    except FileNotFoundError:
        return FileState(path, None)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise PromptFileRefused(LINK, file=str(path)) from None
        if error.errno == errno.ENXIO:
            raise PromptFileRefused(NOT_REGULAR, file=str(path)) from None
        raise _system(path, error) from error
    with _closing(handle):
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise PromptFileRefused(NOT_REGULAR, file=str(path))
        if found.st_nlink != 1:
            raise PromptFileRefused(HARD_LINKS, file=str(path), count=found.st_nlink)
        if not found.st_mode & stat.S_IWUSR:
            # A rename would get past it, but somebody wanted this file left alone.
            raise PromptFileRefused(PROTECTED, file=str(path))
        data = _content(handle, path)
    mode = stat.S_IMODE(found.st_mode)
    kept = _may_give(found.st_uid, found.st_gid)
    return FileState(path, data, found.st_mtime_ns, mode, found.st_uid, found.st_gid, kept)


def _content(handle: int, path: Path) -> bytes:
    with open(handle, "rb", closefd=False) as file:
        data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise PromptFileInvalid(TOO_LARGE, file=str(path), limit=MAX_FILE_BYTES)
    return data


def _may_give(uid: int, gid: int) -> bool:
    return os.geteuid() == 0 or (uid == os.geteuid() and gid in {os.getegid(), *os.getgroups()})


def _require(state: FileState, expected_hash: str | None) -> None:
    if state.sha256 == expected_hash:
        return
    code = APPEARED if expected_hash is None else GONE if state.data is None else CHANGED
    conflict = PromptFileConflict(code, file=str(state.path))
    conflict.found = state.data
    raise conflict


@contextmanager
def _temporary(
    folder: int, new: bytes, state: FileState, on_step: Callable[[Step], None]
) -> Iterator[tuple[str, bool]]:
    """The new content under a private name in the same folder, safely on disk."""
    name = f"{_TEMPORARY}{secrets.token_hex(8)}"
    handle = os.open(name, _CREATE, 0o600, dir_fd=folder)
    try:
        with _closing(handle):
            with open(handle, "wb", closefd=False) as file:
                file.write(new)
            on_step("written")
            owner_kept = state.data is None or _give(handle, state.uid, state.gid)
            os.fchmod(handle, state.mode)
            os.fsync(handle)
            on_step("synced")
        yield name, owner_kept
    finally:
        # After an exchange this is the old file, whose content the caller has.
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)


def _give(handle: int, uid: int, gid: int) -> bool:
    for owner, group in ((uid, gid), (-1, gid)):
        try:
            os.fchown(handle, owner, group)
        except PermissionError:
            continue
        return owner == uid or os.fstat(handle).st_uid == uid
    return False


def _swap(folder: int, temporary: str, state: FileState) -> None:
    """Give the new file its name; an edit that slips in at the last moment wins over us."""
    name = state.path.name
    if state.data is None:
        try:
            os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        except FileExistsError:
            _require(_state(folder, state.path), None)
        return
    if not _exchange(folder, temporary, name):
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        return
    try:
        _require(_state(folder, state.path.with_name(temporary)), state.sha256)
    except BaseException:
        _exchange(folder, temporary, name)
        raise


def _exchange(folder: int, one: str, other: str) -> bool:
    """Swap two names in one step (Linux); False where the system cannot."""
    if _RENAMEAT2 is None:
        return False
    done = _RENAMEAT2(folder, os.fsencode(one), folder, os.fsencode(other), _RENAME_EXCHANGE)
    if done == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
        return False
    raise OSError(number, os.strerror(number), other)


_RENAME_EXCHANGE = 2
_RENAMEAT2 = (
    getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None) if sys.platform == "linux" else None
)
if _RENAMEAT2 is not None:
    _RENAMEAT2.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]


@contextmanager
def _closing(handle: int) -> Iterator[None]:
    try:
        yield
    finally:
        os.close(handle)


def _system(path: Path, error: OSError) -> PromptFileUnwritable:
    return PromptFileUnwritable(SYSTEM, file=str(path), reason=error.strerror or str(error))
