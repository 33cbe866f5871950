"""The writer of a workspace's files: whole or not at all, and never over somebody else's edit.

Used by ``python -m builder init`` and the studio's exports.
"""

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
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
from builder.files.folders import TEMPORARY, exchange, lock, opened, rename_new, sweep
from builder.files.reading import FileState, closing, look_in, peek_in, sha256
from builder.files.toml_file import MAX_FILE_BYTES, TOO_LARGE
from builder.messages import message

Step = Literal["locked", "compared", "written", "synced", "compared-again", "replaced", "folder-synced"]
STEPS: tuple[Step, ...] = get_args(Step)
"""The steps of ``replace``, in order; a process may die after each of them."""

LOCK_SECONDS = 10.0
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

CHANGED = message(
    "file-changed",
    "{file} has changed since it was read; nothing was written",
    "{file} は読み込んだ後に変更されています。何も書き込んでいません",
    fix_en="Review the change, then adopt it or overwrite it.",
    fix_ja="変更を確認してから、取り込むか上書きしてください。",
)
APPEARED = message(
    "file-appeared",
    "{file} already exists; nothing was written",
    "{file} は既に存在します。何も書き込んでいません",
)
GONE = message(
    "file-gone",
    "{file} no longer exists; nothing was written",
    "{file} はなくなっています。何も書き込んでいません",
)
UNWRITABLE = message(
    "file-unwritable",
    "{file} cannot be written: {reason}; the file is unchanged",
    "{file} に書き込めません：{reason}。ファイルは元のままです",
)


@dataclass(frozen=True)
class Receipt:
    """What a write has done. ``old`` is what stood there before, for undoing it."""

    path: Path
    sha256_after: str | None
    owner_kept: bool
    durable: bool
    """Whether the system confirmed that the new name would survive a power cut."""
    old: bytes | None = field(repr=False)


@dataclass(frozen=True)
class Turn:
    """A file's folder, held open and locked: until it ends, nobody else of us writes there."""

    path: Path
    root: Path
    folder: int

    def peek(self) -> tuple[FileState, PromptFileRefused | None]:
        """What stands at the path now, and what would keep ``replace`` from replacing it."""
        return peek_in(self.folder, self.path)


@contextmanager
def turn(
    path: Path,
    root: Path,
    *,
    make: bool = False,
    lock_seconds: float = LOCK_SECONDS,
    start: Path | None = None,
) -> Iterator[Turn]:
    """Wait for the turn to write a file, and keep it for more than one call.

    ``make`` makes folders that are missing below ``root``; ``start`` is above it, and no link is followed
    from there on. Whoever dies gives the turn back.
    """
    with ExitStack() as held:
        with _unwritable(path):
            folder = held.enter_context(opened(path, root, make=make, start=start))
            lock(folder, path.parent, lock_seconds)
            sweep(folder)
        yield Turn(path, root, folder)


def replace(
    path: Path,
    new: bytes,
    expected_hash: str | None,
    root: Path,
    *,
    within: Turn | None = None,
    on_step: Callable[[Step], None] = lambda step: None,
    lock_seconds: float = LOCK_SECONDS,
) -> Receipt:
    """Put ``new`` in the place of the file whose SHA-256 is expected; None: of no file at all.

    ``path`` must be inside ``root``, the workspace. ``on_step`` is told after each of ``STEPS``.
    """
    if len(new) > MAX_FILE_BYTES:
        raise PromptFileInvalid(TOO_LARGE, file=str(path), limit=MAX_FILE_BYTES)
    mine = (
        nullcontext(within)
        if within
        else turn(path, root, make=expected_hash is None, lock_seconds=lock_seconds)
    )
    with mine as held, _unwritable(path):
        folder = held.folder
        on_step("locked")
        state = look_in(folder, path)
        _require(state, expected_hash)
        on_step("compared")
        with _temporary(folder, new, state, on_step) as (temporary, owner_kept):
            _require(look_in(folder, path), expected_hash)
            on_step("compared-again")
            _put(folder, temporary, state)
            on_step("replaced")
        durable = _sync(folder)
        on_step("folder-synced")
    return Receipt(path, sha256(new), owner_kept, durable, state.data)


def remove(
    path: Path,
    expected_hash: str,
    root: Path,
    *,
    within: Turn | None = None,
    on_step: Callable[[Step], None] = lambda step: None,
    lock_seconds: float = LOCK_SECONDS,
) -> Receipt:
    """Take the file away whose SHA-256 is expected: the undoing of a write where none had been."""
    with nullcontext(within) if within else turn(path, root, lock_seconds=lock_seconds) as held:
        folder = held.folder
        with _unwritable(path):
            on_step("locked")
            state = look_in(folder, path)
            _require(state, expected_hash)
            on_step("compared")
            aside = _private_name()
            rename_new(folder, path.name, aside)
            on_step("replaced")
            try:
                _require(look_in(folder, path, aside), expected_hash)
            except BaseException:
                rename_new(folder, aside, path.name)
                raise
            with suppress(OSError):
                os.unlink(aside, dir_fd=folder)
            durable = _sync(folder)
            on_step("folder-synced")
    return Receipt(path, None, True, durable, state.data)


@contextmanager
def _unwritable(path: Path) -> Iterator[None]:
    """What the system refuses is told as an error of the builder."""
    try:
        yield
    except PromptFileMissing:
        raise
    except OSError as error:
        raise PromptFileUnwritable(UNWRITABLE, file=str(path), reason=error.strerror or str(error)) from error


# --- the file ----------------------------------------------------------------------------


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
    name = _private_name()
    handle = os.open(name, _CREATE, 0o600, dir_fd=folder)
    try:
        with closing(handle):
            with open(handle, "wb", closefd=False) as file:
                file.write(new)
            on_step("written")
            owner_kept = state.data is None or _give(handle, state.uid, state.gid)
            # Never setuid, setgid or sticky: it is a new file, with the content of somebody else.
            os.fchmod(handle, state.mode & 0o777)
            os.fsync(handle)
            on_step("synced")
        yield name, owner_kept
    finally:
        # After an exchange this is the old file, whose content the caller has. Where it stays, whoever
        # writes next sweeps it away; an error would say that nothing was written.
        with suppress(OSError):
            os.unlink(name, dir_fd=folder)


def _private_name() -> str:
    return f"{TEMPORARY}{secrets.token_hex(8)}"


def _give(handle: int, uid: int, gid: int) -> bool:
    for owner in (uid, -1):
        with suppress(PermissionError):
            os.fchown(handle, owner, gid)
            return os.fstat(handle).st_uid == uid
    return False


def _put(folder: int, temporary: str, state: FileState) -> None:
    """Give the new file its name; an edit that slips in at the last moment wins over us."""
    name = state.path.name
    if state.data is None:
        try:
            return rename_new(folder, temporary, name)
        except FileExistsError:
            _require(look_in(folder, state.path), None)
            raise
    if not exchange(folder, temporary, name):
        return os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    try:
        _require(look_in(folder, state.path, temporary), state.sha256)
    except BaseException:
        exchange(folder, temporary, name)
        raise


def _sync(folder: int) -> bool:
    try:
        os.fsync(folder)
    except OSError:
        # The new file is in its place by now; an error would say that it is not.
        return False
    return True
