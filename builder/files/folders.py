"""A folder of a workspace, held open: no link is followed on the way, and writers take turns.

Used by the modules that read and write a workspace's files.
"""

import ctypes
import errno
import fcntl
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from builder.errors import PromptFileMissing, PromptFileRefused, PromptFileUnwritable
from builder.messages import message

TEMPORARY = ".prompt-studio-"
"""How the names of our unfinished files begin."""

OUTSIDE = message(
    "file-outside",
    "{file} is not inside the workspace {root}",
    "{file} はワークスペース {root} の中にありません",
    fix_en="Set prompt_builder_config to a file inside the workspace.",
    fix_ja="prompt_builder_config にはワークスペース内のファイルを指定してください。",
)
LINK = message(
    "file-link",
    "{file} is a symbolic link, or not a folder where one is expected",
    "{file} はシンボリックリンクか、フォルダーであるべき所がフォルダーではありません",
    fix_en="Replace it with the actual file or folder.",
    fix_ja="ファイルまたはフォルダーそのものに置き換えてください。",
)
FOLDER_MISSING = message(
    "file-folder-missing", "The folder {folder} does not exist", "フォルダー {folder} がありません"
)
BUSY = message(
    "file-busy",
    "Another process is writing to {folder}; nothing was written",
    "別の処理が {folder} に書き込み中です。何も書き込んでいません",
    fix_en="Try again in a moment.",
    fix_ja="少し待ってから、もう一度お試しください。",
)
UNREADABLE = message(
    "file-unreadable", "{file} cannot be read: {reason}", "{file} を読み込めません：{reason}"
)

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_RENAME_NOREPLACE, _RENAME_EXCHANGE = 1, 2
_renameat2 = (
    getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None) if sys.platform == "linux" else None
)
if _renameat2 is not None:
    _renameat2.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]


@contextmanager
def opened(path: Path, root: Path, *, make: bool = False, start: Path | None = None) -> Iterator[int]:
    """The folder of a file, opened step by step from the root; ``make`` makes what is missing below it.

    With ``start``, a folder above the root, no link is followed on the way from there either.
    """
    try:
        parts = path.relative_to(root).parts
    except ValueError:
        parts = ()
    # A name with a NUL is none that a file could have, inside or outside.
    if not parts or ".." in parts or "\0" in str(path):
        raise PromptFileRefused(OUTSIDE, file=str(path), root=str(root))
    above = root.relative_to(start).parts if start else ()
    at = start or root
    handle = _open(at, None, at)
    try:
        for depth, part in enumerate((*above, *parts[:-1])):
            at = at / part
            made = make and depth >= len(above) and _made(part, handle)
            inner = _open(part, handle, at)
            os.close(handle)
            handle = inner
            if made:
                os.fchmod(handle, 0o755)  # whatever this process's umask is: MixSeek may run as another user
        yield handle
    finally:
        os.close(handle)


def _made(name: str, parent: int) -> bool:
    try:
        os.mkdir(name, 0o755, dir_fd=parent)
    except FileExistsError:
        return False
    return True


def _open(name: Path | str, parent: int | None, shown: Path) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=parent)
    except FileNotFoundError:
        raise PromptFileMissing(FOLDER_MISSING, folder=str(shown)) from None
    except OSError as error:
        # A link gives ELOOP or, because a folder was asked for, ENOTDIR.
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise PromptFileRefused(LINK, file=str(shown)) from None
        raise unreadable(shown, error) from error


def lock(folder: int, shown: Path, seconds: float) -> None:
    """Wait for the folder's lock, which lasts until the folder is closed or its process dies."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise PromptFileUnwritable(BUSY, folder=str(shown)) from None
            time.sleep(0.01)


def sweep(folder: int) -> None:
    """Take away what killed writers left; whoever holds the lock knows that they are gone."""
    for name in os.listdir(folder):
        if name.startswith(TEMPORARY):
            with suppress(OSError):
                os.unlink(name, dir_fd=folder)


def exchange(folder: int, one: str, other: str) -> bool:
    """Swap two names in one step; False where the system cannot."""
    return _rename(folder, one, other, _RENAME_EXCHANGE)


def rename_new(folder: int, name: str, new: str) -> None:
    """Give a file another name; FileExistsError where that is taken."""
    if not _rename(folder, name, new, _RENAME_NOREPLACE):
        os.link(name, new, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        os.unlink(name, dir_fd=folder)


def _rename(folder: int, one: str, other: str, flags: int) -> bool:
    if _renameat2 is None:
        return False
    if _renameat2(folder, os.fsencode(one), folder, os.fsencode(other), flags) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
        return False
    raise OSError(number, os.strerror(number), other)


def unreadable(path: Path, error: OSError) -> PromptFileUnwritable:
    return PromptFileUnwritable(UNREADABLE, file=str(path), reason=error.strerror or str(error))
