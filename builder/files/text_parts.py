"""Parts of a workspace's texts: the beginning and end of a file, which may be a pipe or lead elsewhere.

Used for the files and skills of a system prompt and for the templates of round prompts.

A link is followed as long as it stays inside the workspace: people link AGENTS.md to what another tool
reads. It is resolved first and what it leads to is then opened without following anything, so that nobody
can turn it round in between.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from builder.errors import PromptFileMissing, PromptFileRefused
from builder.files.folders import LINK, opened, unreadable
from builder.files.reading import closing
from builder.messages import message

LINK_OUT = message(
    "text-link-out",
    "{file} is a symbolic link to outside the workspace; it is not read",
    "{file} はシンボリックリンクでワークスペースの外を指しているため、読み込みません",
    fix_en="Replace it with a copy.",
    fix_ja="コピーを置いてください。",
)
LINK_LOOP = message(
    "text-link-loop",
    "{file} is a symbolic link that points to itself",
    "{file} は自分自身を指すシンボリックリンクです",
    fix_en="Remove the link, or replace it with the actual file.",
    fix_ja="リンクを削除するか、ファイルそのものに置き換えてください。",
)
NOT_A_FILE = message(
    "text-not-a-file",
    "{file} is not a regular file",
    "{file} は通常のファイルではありません",
    fix_en="Replace it with a regular file.",
    fix_ja="通常のファイルに置き換えてください。",
)
NOT_TEXT = message(
    "text-not-text",
    "{file} is not UTF-8 text",
    "{file} はUTF-8のテキストではありません",
    fix_en="Save it as UTF-8.",
    fix_ja="UTF-8で保存してください。",
)

_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class TextPart:
    """The beginning of a text and, where it was not read whole, its end."""

    head: str
    tail: str
    size: int
    whole: bool


def read_part(path: Path, root: Path, head: int, tail: int = 0) -> TextPart | None:
    """At most so many bytes from both ends of a file below ``root``; None where there is none.

    A character that the cut would halve is left out.
    """
    try:
        with _opened(path, root, _READ) as handle:
            return _part(handle, path, head, tail)
    except PromptFileMissing:
        return None


def list_folder(path: Path, root: Path, most: int) -> tuple[list[str], bool] | None:
    """The names in a folder below ``root``, sorted, and whether there are more than ``most``."""
    names: list[str] = []
    try:
        with _opened(path, root, _FOLDER) as handle, os.scandir(handle) as entries:
            for entry in entries:
                if len(names) == most:
                    return sorted(names), True
                names.append(entry.name)
    except PromptFileMissing:
        return None
    except OSError as error:
        raise unreadable(path, error) from error
    return sorted(names), False


@contextmanager
def _opened(path: Path, root: Path, flags: int) -> Iterator[int]:
    try:
        handle = _open(path, root, flags)
    except PromptFileRefused as refusal:
        if refusal.code != LINK:
            raise
        handle = _open_target(path, root, flags)
    with closing(handle):
        yield handle


def _open_target(path: Path, root: Path, flags: int) -> int:
    """What the links on the way lead to, as long as it is inside."""
    target = Path(os.path.realpath(path))
    if not target.is_relative_to(root) or target == root:
        raise PromptFileRefused(LINK_OUT, file=str(path))
    try:
        return _open(target, root, flags)
    except PromptFileRefused as refusal:
        if refusal.code != LINK:
            raise
    try:
        os.path.realpath(path, strict=True)
    except (FileNotFoundError, NotADirectoryError):
        # No link was in the way, but a file where a folder should be: there is nothing below it.
        raise PromptFileMissing(LINK, file=str(path)) from None
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise unreadable(path, error) from error
    raise PromptFileRefused(LINK_LOOP, file=str(path))


def _open(path: Path, root: Path, flags: int) -> int:
    with opened(path, root) as folder:
        try:
            return os.open(path.name, flags, dir_fd=folder)
        except FileNotFoundError:
            raise PromptFileMissing(LINK, file=str(path)) from None
        except OSError as error:
            # Where a folder is asked for, a link gives ENOTDIR, as a plain file does.
            if error.errno == errno.ELOOP or (error.errno == errno.ENOTDIR and _is_link(path.name, folder)):
                raise PromptFileRefused(LINK, file=str(path)) from None
            if error.errno in (errno.ENXIO, errno.ENOTDIR):
                raise PromptFileRefused(NOT_A_FILE, file=str(path)) from None
            raise unreadable(path, error) from error


def _is_link(name: str, folder: int) -> bool:
    try:
        return stat.S_ISLNK(os.lstat(name, dir_fd=folder).st_mode)
    except OSError:
        return False


def _part(handle: int, path: Path, head: int, tail: int) -> TextPart:
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        raise PromptFileRefused(NOT_A_FILE, file=str(path))
    try:
        data = _read(handle, head + tail + 1, 0)
        if len(data) <= head + tail:
            return TextPart(_decoded(data, path), "", len(data), whole=True)
        end = _read(handle, tail, max(status.st_size - tail, head)) if tail else b""
    except OSError as error:
        raise unreadable(path, error) from error
    first = _decoded(data[:head], path, cut=True)
    return TextPart(
        first, _decoded(_from_a_character(end), path), max(status.st_size, len(data)), whole=False
    )


def _read(handle: int, most: int, offset: int) -> bytes:
    """Until there is no more: one call may bring less than there is."""
    parts: list[bytes] = []
    while most > 0 and (part := os.pread(handle, most, offset)):
        parts.append(part)
        offset += len(part)
        most -= len(part)
    return b"".join(parts)


def _from_a_character(data: bytes) -> bytes:
    """Without the rest of a character that begins before."""
    start = next((at for at, byte in enumerate(data[:3]) if byte & 0xC0 != 0x80), 3)
    return data[start:]


def _decoded(data: bytes, path: Path, *, cut: bool = False) -> str:
    # A zero byte is valid UTF-8, but no editor of texts writes one.
    if b"\0" in data:
        raise PromptFileRefused(NOT_TEXT, file=str(path))
    data = data.removeprefix(_BOM)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        if cut and error.reason == "unexpected end of data" and error.end == len(data):
            return data[: error.start].decode()
        raise PromptFileRefused(NOT_TEXT, file=str(path)) from None
