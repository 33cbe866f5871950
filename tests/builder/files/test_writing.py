import errno
import hashlib
import multiprocessing
import os
import pickle
import random
import re
import resource
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from builder.errors import (
    PromptFileConflict,
    PromptFileInvalid,
    PromptFileMissing,
    PromptFileRefused,
    PromptFileUnwritable,
)
from builder.files import folders
from builder.files.reading import inspect, peek, read_bytes, sha256
from builder.files.writing import STEPS, Receipt, remove, replace, turn
from tests.fuzzing import share_of

OLD, NEW = b"old = 1\n", b"new = 2\n"
# Children of a process that has nothing but this module: cheap, and no thread of ours is copied.
CLEAN = multiprocessing.get_context("forkserver")
CLEAN.set_forkserver_preload([__name__])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "configs" / "prompt_builder.toml"
    path.parent.mkdir()
    path.write_bytes(OLD)
    return path


def put(path: Path, new: bytes = NEW, expected: bytes | None = OLD, **more: Any) -> Receipt:
    return replace(path, new, None if expected is None else sha256(expected), path.parent.parent, **more)


def names(path: Path) -> list[str]:
    return sorted(os.listdir(path.parent))


# --- what it does ------------------------------------------------------------------------


def test_the_file_is_replaced_and_the_receipt_tells_how(file: Path) -> None:
    receipt = put(file)

    assert file.read_bytes() == NEW
    assert receipt == Receipt(file, sha256(NEW), owner_kept=True, durable=True, old=OLD)
    assert names(file) == ["prompt_builder.toml"]


def test_a_new_file_is_made_with_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "configs" / "deep" / "prompts.toml"

    receipt = replace(path, NEW, None, tmp_path)

    assert path.read_bytes() == NEW
    assert (receipt.old, path.stat().st_mode & 0o777) == (None, 0o644)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755])
def test_the_mode_is_kept(file: Path, mode: int) -> None:
    file.chmod(mode)
    put(file)
    assert file.stat().st_mode & 0o7777 == mode


@pytest.mark.parametrize("bit", [stat.S_ISUID, stat.S_ISGID, stat.S_ISVTX])
def test_setuid_setgid_and_sticky_are_dropped(file: Path, bit: int) -> None:
    file.chmod(0o755 | bit)
    put(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o755


def test_the_steps_are_told_in_their_order(file: Path) -> None:
    told: list[str] = []
    put(file, on_step=told.append)
    assert tuple(told) == STEPS


def test_a_file_can_be_inspected_before(file: Path, tmp_path: Path) -> None:
    state = inspect(file, tmp_path)

    assert (state.data, state.sha256) == (OLD, hashlib.sha256(OLD).hexdigest())
    assert (state.mode, state.uid, state.modified_ns) == (0o644, os.getuid(), file.stat().st_mtime_ns)
    assert inspect(tmp_path / "configs" / "none.toml", tmp_path).sha256 is None
    assert inspect(tmp_path / "nowhere" / "none.toml", tmp_path).data is None


def test_a_write_can_be_undone(file: Path, tmp_path: Path) -> None:
    receipt = put(file)
    replace(file, OLD, receipt.sha256_after, tmp_path)
    assert file.read_bytes() == OLD


def test_making_a_file_can_be_undone(tmp_path: Path) -> None:
    path = tmp_path / "new.toml"
    replace(path, NEW, None, tmp_path)

    receipt = remove(path, sha256(NEW), tmp_path)

    assert not path.exists() and os.listdir(tmp_path) == []
    assert (receipt.old, receipt.sha256_after) == (NEW, None)


def test_what_killed_writers_left_is_swept_away(file: Path) -> None:
    (file.parent / ".prompt-studio-0123456789abcdef").write_bytes(b"half")
    (file.parent / "somebody-elses.tmp").write_bytes(b"")

    put(file)

    assert names(file) == ["prompt_builder.toml", "somebody-elses.tmp"]


# --- what it refuses ---------------------------------------------------------------------


def test_a_hand_edit_is_a_conflict_that_shows_it(file: Path) -> None:
    file.write_bytes(b"edited = 3\n")

    with pytest.raises(
        PromptFileConflict, match="has changed since it was read; nothing was written"
    ) as conflict:
        put(file)

    assert (conflict.value.found, file.read_bytes()) == (b"edited = 3\n", b"edited = 3\n")
    assert pickle.loads(pickle.dumps(conflict.value)).found == b"edited = 3\n"


def test_a_file_that_appeared_or_went_is_a_conflict(file: Path, tmp_path: Path) -> None:
    with pytest.raises(PromptFileConflict, match="already exists") as appeared:
        put(file, expected=None)
    assert (appeared.value.found, file.read_bytes()) == (OLD, OLD)
    file.unlink()
    with pytest.raises(PromptFileConflict, match="no longer exists") as gone:
        put(file)
    assert gone.value.found is None and not file.exists()
    with pytest.raises(PromptFileConflict, match="no longer exists"):
        remove(file, sha256(OLD), tmp_path)


@pytest.mark.parametrize("step", STEPS[: STEPS.index("replaced")])
def test_a_hand_edit_in_between_is_a_conflict(file: Path, step: str) -> None:
    def edit(told: str) -> None:
        if told == step:
            aside = file.with_name("editor.swp")
            aside.write_bytes(b"edited = 3\n")
            aside.replace(file)

    with pytest.raises(PromptFileConflict) as conflict:
        put(file, on_step=edit)

    assert (conflict.value.found, file.read_bytes()) == (b"edited = 3\n", b"edited = 3\n")
    assert names(file) == ["prompt_builder.toml"]


def test_a_file_made_in_between_is_a_conflict(file: Path) -> None:
    file.unlink()

    def make(told: str) -> None:
        if told == "compared-again":
            file.write_bytes(b"made = 3\n")

    with pytest.raises(PromptFileConflict, match="already exists"):
        put(file, expected=None, on_step=make)
    assert (file.read_bytes(), names(file)) == (b"made = 3\n", ["prompt_builder.toml"])


def as_symlink(path: Path) -> None:
    target = path.parent.parent.parent / f"{path.parent.parent.name}-target.toml"
    target.write_bytes(OLD)
    path.symlink_to(target)


def as_fifo(path: Path) -> None:
    os.mkfifo(path)


def as_hard_link(path: Path) -> None:
    other = path.with_name("other-name.toml")
    other.write_bytes(OLD)
    path.hardlink_to(other)


def as_folder(path: Path) -> None:
    path.mkdir()


def as_socket(path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # the path of a socket must be short
    try:
        socket.socket(socket.AF_UNIX).bind(path.name)
    finally:
        os.chdir(here)


def as_write_protected(path: Path) -> None:
    path.write_bytes(OLD)
    path.chmod(0o444)


ODD = {
    as_symlink: "is a symbolic link",
    as_fifo: "is not a regular file",
    as_hard_link: r"has 2 hard links",
    as_folder: "is not a regular file",
    as_socket: "is not a regular file",
    as_write_protected: "is write-protected",
}


@pytest.mark.parametrize(("make", "sentence"), ODD.items())
def test_what_is_no_plain_file_is_refused(file: Path, make: Callable[[Path], None], sentence: str) -> None:
    file.unlink()
    make(file)
    before = os.lstat(file)

    for attempt in (
        lambda: put(file),
        lambda: put(file, expected=None),
        lambda: inspect(file, file.parent.parent),
        lambda: remove(file, sha256(OLD), file.parent.parent),
    ):
        with pytest.raises(PromptFileRefused, match=sentence):
            attempt()

    assert (os.lstat(file).st_ino, os.lstat(file).st_mode) == (before.st_ino, before.st_mode)


@pytest.mark.parametrize("make", [as_hard_link, as_write_protected])
def test_what_may_be_read_but_not_replaced_is_read(file: Path, make: Callable[[Path], None]) -> None:
    file.unlink()
    make(file)
    state, obstacle = peek(file, file.parent.parent)
    assert state.data == OLD
    assert re.search(ODD[make], str(obstacle))


@pytest.mark.parametrize("make", [as_symlink, as_fifo, as_folder])
def test_what_is_no_plain_file_is_not_even_read(file: Path, make: Callable[[Path], None]) -> None:
    file.unlink()
    make(file)
    with pytest.raises(PromptFileRefused):
        peek(file, file.parent.parent)


@pytest.mark.parametrize("make", [as_symlink, as_fifo, as_folder, as_socket])
def test_what_takes_the_files_place_at_the_last_moment_stays(
    file: Path, make: Callable[[Path], None]
) -> None:
    def swap(told: str) -> None:
        if told == "compared-again":
            file.unlink()
            make(file)

    with pytest.raises(PromptFileRefused):
        put(file, on_step=swap)

    assert not file.is_file() or file.is_symlink()
    assert names(file) == ["prompt_builder.toml"]


@pytest.mark.parametrize("part", ["configs", "."])
def test_a_folder_that_is_a_link_is_refused(tmp_path: Path, part: str) -> None:
    (tmp_path / "real" / "configs").mkdir(parents=True)
    (tmp_path / "real" / "configs" / "p.toml").write_bytes(OLD)
    if part == ".":
        root = tmp_path / "link"
        root.symlink_to("real")
    else:
        root = tmp_path / "root"
        root.mkdir()
        (root / "configs").symlink_to("../real/configs")

    with pytest.raises(PromptFileRefused, match="is a symbolic link"):
        replace(root / "configs" / "p.toml", NEW, sha256(OLD), root)
    assert (tmp_path / "real" / "configs" / "p.toml").read_bytes() == OLD


def test_a_folder_that_becomes_a_link_does_not_lead_away(file: Path, tmp_path: Path) -> None:
    away = tmp_path / "away"
    away.mkdir()
    (away / file.name).write_bytes(OLD)

    def swap(told: str) -> None:
        if told == "compared-again":
            file.parent.rename(tmp_path / "moved")
            file.parent.symlink_to(away)

    put(file, on_step=swap)

    assert (away / file.name).read_bytes() == OLD
    assert (tmp_path / "moved" / file.name).read_bytes() == NEW


@pytest.mark.parametrize(
    "path", ["../outside.toml", "configs/../../outside.toml", "/etc/prompt_builder.toml", "."]
)
def test_a_path_out_of_the_workspace_is_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(PromptFileRefused, match="is not inside the workspace"):
        replace(tmp_path / path, NEW, None, tmp_path)


def test_a_missing_folder_is_missing(tmp_path: Path) -> None:
    with pytest.raises(PromptFileMissing, match=r"The folder .*nowhere does not exist"):
        replace(tmp_path / "nowhere" / "p.toml", NEW, sha256(OLD), tmp_path)
    with pytest.raises(PromptFileMissing):
        replace(tmp_path / "no-root" / "p.toml", NEW, None, tmp_path / "no-root")


def test_too_much_is_refused(file: Path, tmp_path: Path) -> None:
    with pytest.raises(PromptFileInvalid, match="larger than"):
        put(file, b"#" * 3_000_000)
    file.write_bytes(b"#" * 3_000_000)
    with pytest.raises(PromptFileInvalid, match="larger than"):
        inspect(file, tmp_path)
    with pytest.raises(PromptFileInvalid, match="larger than"):
        read_bytes(file)


def test_a_busy_folder_is_waited_for_and_then_left(file: Path) -> None:
    def while_locked(told: str) -> None:
        if told == "locked":
            with pytest.raises(PromptFileUnwritable, match=r"Another process is writing to .*configs"):
                put(file, b"second = 1\n", lock_seconds=0.05)

    put(file, on_step=while_locked)
    assert file.read_bytes() == NEW


def test_a_turn_lasts_for_more_than_one_write(file: Path, tmp_path: Path) -> None:
    with turn(file, tmp_path) as mine:
        assert mine.peek()[0].data == OLD
        put(file, within=mine)
        with pytest.raises(PromptFileUnwritable, match="Another process is writing"):
            put(file, OLD, expected=NEW, lock_seconds=0)
        assert mine.peek()[0].data == NEW
        remove(file, sha256(NEW), tmp_path, within=mine)
        assert mine.peek()[0].data is None
    with turn(tmp_path / "new" / "p.toml", tmp_path, make=True, lock_seconds=0) as other:
        assert other.peek()[0].data is None


def test_the_steps_of_taking_a_file_away_are_told(file: Path, tmp_path: Path) -> None:
    told: list[str] = []
    remove(file, sha256(OLD), tmp_path, on_step=told.append)
    assert tuple(told) == ("locked", "compared", "replaced", "folder-synced") and set(told) < set(STEPS)


# --- reading as MixSeek does --------------------------------------------------------------


def test_reading_follows_links_but_waits_for_nothing(file: Path, tmp_path: Path) -> None:
    (tmp_path / "link.toml").symlink_to(file)
    os.mkfifo(tmp_path / "fifo.toml")

    assert read_bytes(tmp_path / "link.toml") == OLD
    assert read_bytes(tmp_path / "none.toml") is None
    assert read_bytes(file / "below-a-file.toml") is None
    with pytest.raises(PromptFileRefused, match="is not a regular file"):
        read_bytes(tmp_path / "fifo.toml")
    with pytest.raises(PromptFileRefused, match="is not a regular file"):
        read_bytes(tmp_path)


# --- where the system fails --------------------------------------------------------------


def test_without_an_exchange_of_names_it_is_still_atomic(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "_renameat2", None)  # as on macOS

    put(file)
    assert (file.read_bytes(), names(file)) == (NEW, ["prompt_builder.toml"])
    with pytest.raises(PromptFileConflict, match="has changed"):
        put(file, expected=NEW, on_step=lambda step: step == "synced" and file.write_bytes(b"edited"))
    assert (file.read_bytes(), names(file)) == (b"edited", ["prompt_builder.toml"])
    file.unlink()
    put(file, expected=None)
    assert (file.read_bytes(), names(file)) == (NEW, ["prompt_builder.toml"])
    with pytest.raises(PromptFileConflict, match="already exists"):
        put(file, OLD, expected=None)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[tuple[Path, int]]:
    """A folder in which nothing large can be written, and the error that it gives."""
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", tmp_path], capture_output=True
    )
    if mounted.returncode == 0:
        yield tmp_path, errno.ENOSPC
        subprocess.run(["umount", tmp_path], check=True)
        return
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, limits[1]))
    yield tmp_path, errno.EFBIG
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_full_disk_leaves_the_old_file(small_disk: tuple[Path, int]) -> None:
    root, number = small_disk
    path = root / "p.toml"
    path.write_bytes(OLD)

    with pytest.raises(PromptFileUnwritable, match=f"{os.strerror(number)}; the file is unchanged"):
        replace(path, b"#" * 1_000_000, sha256(OLD), root)

    assert (path.read_bytes(), os.listdir(root)) == (OLD, ["p.toml"])


def write_with_small_files_only(path: Path) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    expect_failure(path, os.strerror(errno.EFBIG))


def become_nobody() -> None:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)


def write_as_nobody(path: Path) -> None:
    if os.geteuid() == 0:
        become_nobody()
    expect_failure(path, os.strerror(errno.EACCES))


def expect_failure(path: Path, reason: str) -> None:
    try:
        put(path, b"#" * 100_000)
    except PromptFileUnwritable as error:
        sys.exit(f"{path} cannot be written: {reason}; the file is unchanged" != str(error))
    sys.exit("it was written")


def exit_code(work: Callable[..., None], *args: object) -> int | None:
    child = CLEAN.Process(target=work, args=args)
    child.start()
    child.join()
    return child.exitcode


@pytest.mark.slow
def test_a_file_that_may_not_grow_leaves_the_old_one(file: Path) -> None:
    assert exit_code(write_with_small_files_only, file) == 0
    assert (file.read_bytes(), names(file)) == (OLD, ["prompt_builder.toml"])


@pytest.fixture
def shared() -> Iterator[Path]:
    """A file that other users can reach, which those in pytest's own folder are not."""
    with tempfile.TemporaryDirectory() as root:
        Path(root).chmod(0o755)
        path = Path(root, "configs", "p.toml")
        path.parent.mkdir()
        path.write_bytes(OLD)
        yield path
        path.parent.chmod(0o755)


def test_a_read_only_folder_leaves_the_old_file(shared: Path) -> None:
    shared.parent.chmod(0o555)

    assert exit_code(write_as_nobody, shared) == 0

    assert (shared.read_bytes(), names(shared)) == (OLD, ["p.toml"])


def test_an_owner_that_cannot_be_kept_is_said_before(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 4711)

    warning = inspect(file, file.parent.parent).owner_warning

    assert warning is not None and warning.severity == "warning"
    assert warning.text() == (
        f"The file's owner cannot be kept: user {os.getuid()}, group {os.getgid()}"
        f" becomes user 4711, group {os.getgid()}"
    )


def write_where_nobody_may(path: Path) -> None:
    if os.geteuid() == 0:
        become_nobody()
    state = inspect(path, path.parent.parent)
    sys.exit(put(path).owner_kept is not (state.owner_warning is None))


@pytest.mark.slow
def test_the_receipt_agrees_with_the_warning_about_the_owner(shared: Path) -> None:
    shared.parent.chmod(0o777)

    assert exit_code(write_where_nobody_may, shared) == 0

    assert shared.read_bytes() == NEW
    assert shared.stat().st_uid == (65534 if os.geteuid() == 0 else os.geteuid())


def test_the_owner_is_kept(file: Path) -> None:
    if os.geteuid() == 0:
        os.chown(file, 1234, 5678)
    before = file.stat()

    assert put(file).owner_kept

    assert (file.stat().st_uid, file.stat().st_gid) == (before.st_uid, before.st_gid)


def test_an_owner_that_can_be_kept_needs_no_warning(file: Path) -> None:
    assert inspect(file, file.parent.parent).owner_warning is None


def test_a_failing_sync_of_the_folder_is_told_by_the_receipt(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsync

    def fsync(handle: int) -> None:
        if os.path.isdir(f"/proc/self/fd/{handle}"):
            raise OSError(errno.EIO, "Input/output error")
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)

    assert put(file).durable is False
    assert file.read_bytes() == NEW


def test_a_failing_sync_of_the_content_leaves_the_old_file(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fsync(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fsync)

    with pytest.raises(PromptFileUnwritable, match="No space left on device; the file is unchanged"):
        put(file)
    assert (file.read_bytes(), names(file)) == (OLD, ["prompt_builder.toml"])


# --- processes that die, and processes at once -------------------------------------------


def die_after(path: Path, step: str) -> None:
    put(path, on_step=lambda told: os.kill(os.getpid(), signal.SIGKILL) if told == step else None)


@pytest.mark.parametrize("step", STEPS)
def test_a_writer_killed_at_a_step_leaves_one_whole_file(file: Path, step: str) -> None:
    assert exit_code(die_after, file, step) == -signal.SIGKILL

    done = STEPS.index(step) >= STEPS.index("replaced")
    assert file.read_bytes() == (NEW if done else OLD)
    put(file, b"next = 1\n", expected=NEW if done else OLD)
    assert (file.read_bytes(), names(file)) == (b"next = 1\n", ["prompt_builder.toml"])


def count_up(path: Path, times: int) -> None:
    for _ in range(times):
        while True:
            state = inspect(path, path.parent.parent)
            assert state.data is not None
            try:
                replace(path, b"%d\n" % (int(state.data) + 1), state.sha256, path.parent.parent)
                break
            except PromptFileConflict:
                continue


def count_together(path: Path, writers: int, times: int) -> int:
    path.write_bytes(b"0\n")
    children = [CLEAN.Process(target=count_up, args=(path, times)) for _ in range(writers)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    assert [child.exitcode for child in children] == [0] * writers
    return int(path.read_bytes())


@pytest.mark.slow
def test_eight_exporters_at_once_lose_nothing(file: Path) -> None:
    assert count_together(file, 8, 25) == 200


def numbered(count: int) -> bytes:
    return b"%07d\n" % count * 12_500


def write_forever(path: Path) -> None:
    while True:
        state = inspect(path, path.parent.parent)
        assert state.data is not None
        replace(path, numbered(int(state.data[:7]) + 1), state.sha256, path.parent.parent)


@pytest.mark.slow
def test_writers_killed_again_and_again_never_tear_the_file(file: Path) -> None:
    chance = random.Random(1)
    file.write_bytes(numbered(0))
    for _ in range(share_of(280)):
        before = file.read_bytes()
        child = CLEAN.Process(target=write_forever, args=(file,))
        child.start()
        while file.read_bytes() == before:
            time.sleep(0.001)
        time.sleep(chance.random() * 0.01)
        child.kill()
        child.join()
        assert file.read_bytes() == numbered(int(file.read_bytes()[:7]))
        assert len(names(file)) <= 2
    put(file, expected=file.read_bytes())
    assert names(file) == ["prompt_builder.toml"]


def test_an_old_file_that_cannot_be_cleared_away_does_not_make_the_receipt_lie(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The new content is in its place by then; the next writer sweeps."""
    unlink, left = os.unlink, []

    def fail(path: Any, **more: Any) -> None:
        left.append(path)
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "unlink", fail)
    receipt = replace(file, NEW, sha256(OLD), file.parent.parent)
    assert file.read_bytes() == NEW and receipt.sha256_after == sha256(NEW)
    receipt = remove(file, sha256(NEW), file.parent.parent)
    assert not file.exists() and receipt.sha256_after is None
    monkeypatch.setattr(os, "unlink", unlink)
    replace(file, NEW, None, file.parent.parent)
    assert left and [entry.name for entry in file.parent.iterdir()] == [file.name]


def test_a_link_on_the_way_to_the_workspace_is_refused_where_the_way_is_known(tmp_path: Path) -> None:
    allowed, elsewhere = tmp_path / "allowed", tmp_path / "elsewhere"
    (elsewhere / "workspace" / "configs").mkdir(parents=True)
    allowed.mkdir()
    (allowed / "team").symlink_to(elsewhere)
    workspace = allowed / "team" / "workspace"
    path = workspace / "configs" / "prompt_builder.toml"
    (elsewhere / "workspace" / "configs" / "prompt_builder.toml").write_bytes(OLD)
    for look in (inspect, peek):
        with pytest.raises(PromptFileRefused, match="symbolic link"):
            look(path, workspace, start=allowed)
    with pytest.raises(PromptFileRefused, match="symbolic link"), turn(path, workspace, start=allowed):
        raise AssertionError
    # A workspace that is gone is not made.
    gone = allowed / "gone" / "workspace"
    with (
        pytest.raises(PromptFileMissing),
        turn(gone / "configs" / "prompt_builder.toml", gone, make=True, start=allowed),
    ):
        raise AssertionError
    assert [entry.name for entry in allowed.iterdir()] == ["team"]
    with turn(file_of(allowed), allowed, make=True, start=tmp_path) as mine:
        assert mine.peek()[0].data is None


def file_of(workspace: Path) -> Path:
    return workspace / "configs" / "prompt_builder.toml"
