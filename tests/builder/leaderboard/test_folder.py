"""Copies lie where nobody else can reach them, and do not pile up."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from builder.errors import CacheFolderError, DatabaseMissing
from builder.leaderboard import AggregationStore, Bounds, default_folder
from builder.leaderboard.folder import CopyFolder
from tests.builder.leaderboard.conftest import Played

Open = Callable[..., AggregationStore]
KEY, OTHER = "0" * 16, "1" * 16


@pytest.fixture
def folder(cache: Path) -> CopyFolder:
    made = CopyFolder(cache, Bounds(copies=3, bytes=20 * 4096))
    for key in (KEY, OTHER):
        made.ensure(key, __file__)
    return made


def _copy(folder: CopyFolder, key: str, identity: int, *, used: int, size: int = 10) -> Path:
    folder.ensure(key, __file__)
    path = folder.copy(key, f"{identity:024x}")
    path.mkdir()
    (path / "mixseek.db").write_bytes(bytes(size))
    os.utime(path, (used, used))
    return path


def _part(folder: CopyFolder, key: str) -> Path:
    path = folder.of(key) / f"{'a' * 16}.part"
    path.mkdir()
    (path / "mixseek.db").write_bytes(b"half")
    return path


def test_the_folder_is_made_for_its_owner_alone(cache: Path, played: Played, open_store: Open) -> None:
    open_store(played.path).executions()
    assert cache.stat().st_mode & 0o777 == 0o700
    assert {entry.stat().st_mode & 0o077 for entry in cache.iterdir()} == {0}


def test_a_folder_that_others_may_enter_is_refused(cache: Path, played: Played, open_store: Open) -> None:
    cache.mkdir()
    cache.chmod(0o755)
    with pytest.raises(CacheFolderError, match="is not private: its mode is 0755") as caught:
        open_store(played.path).executions()
    assert "非公開になっていません" in caught.value.text("ja")


def test_a_symlink_in_the_folders_place_is_refused(
    cache: Path, tmp_path: Path, played: Played, open_store: Open
) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    cache.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CacheFolderError, match="is not private: it is not a folder"):
        open_store(played.path).executions()
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_folder_of_another_user_is_refused(folder: CopyFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    stranger = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: stranger)
    with pytest.raises(CacheFolderError, match="it belongs to another user"):
        folder.ensure(KEY, __file__)


def test_a_folder_that_cannot_be_made_says_why(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CacheFolderError, match="cannot be used"):
        CopyFolder(tmp_path / "file" / "cache").ensure(KEY, __file__)


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/x/prompt-studio/leaderboards"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/tmp"}, "/tmp/.cache/prompt-studio/leaderboards"),
        ({"HOME": "/nonexistent"}, f"prompt-studio-leaderboards-{os.geteuid()}"),
        ({}, f"prompt-studio-leaderboards-{os.geteuid()}"),
    ],
)
def test_the_default_folder_belongs_to_the_user(environ: dict[str, str], expected: str) -> None:
    assert str(default_folder(environ)).endswith(expected)


def test_a_new_copy_replaces_the_older_ones_of_its_database(folder: CopyFolder) -> None:
    old = _copy(folder, KEY, 1, used=1)
    new = _copy(folder, KEY, 2, used=2)
    other = _copy(folder, OTHER, 3, used=1)
    folder.tidy(new)
    assert (old.exists(), new.exists(), other.exists()) == (False, True, True)


def test_leftovers_of_killed_processes_are_removed(folder: CopyFolder, cache: Path) -> None:
    parts = [_part(folder, key) for key in (KEY, OTHER)]
    (cache / f"{KEY}-{'0' * 24}.duckdb").write_bytes(b"of an earlier release")
    folder.tidy(_copy(folder, KEY, 1, used=1))
    assert [part for part in parts if part.exists()] == []
    assert {entry.name for entry in cache.iterdir()} == {KEY, OTHER}


def test_an_unfinished_copy_of_a_living_process_is_left_alone(folder: CopyFolder, cache: Path) -> None:
    part = _part(folder, OTHER)
    with folder.lock(OTHER, wait=0) as held:
        assert held
        folder.tidy(_copy(folder, KEY, 1, used=1))
        assert part.exists()


def test_one_process_at_a_time_makes_a_copy(folder: CopyFolder) -> None:
    with (
        folder.lock(KEY, wait=0) as first,
        folder.lock(KEY, wait=0.05) as second,
        folder.lock(OTHER, 0) as third,
    ):
        assert (first, second, third) == (True, False, True)
    with folder.lock(KEY, wait=0) as again:
        assert again


@pytest.mark.parametrize(("count", "size", "left"), [(5, 10, 3), (3, 8 * 4096, 2), (2, 20 * 4096, 1)])
def test_copies_are_bounded_in_number_and_size_and_the_longest_unused_go_first(
    count: int, size: int, left: int, folder: CopyFolder, cache: Path
) -> None:
    copies = [_copy(folder, f"{number:016x}", number, used=number, size=size) for number in range(count)]
    folder.tidy(copies[0])
    # The one just made stays, whatever its age.
    assert {entry for entry in copies if entry.exists()} == {copies[0], *copies[count - left + 1 :]}


def test_copies_of_a_database_that_is_gone_are_removed(
    folder: CopyFolder, played: Played, tmp_path: Path, open_store: Open, cache: Path
) -> None:
    (tmp_path / "gone").touch()
    folder.ensure("2" * 16, str(tmp_path / "gone"))
    gone = _copy(folder, "2" * 16, 1, used=1)
    kept = _copy(folder, KEY, 1, used=1)
    (tmp_path / "gone").unlink()
    folder.tidy(_copy(folder, OTHER, 1, used=1))
    assert (gone.parent.exists(), kept.exists()) == (False, True)
    store = open_store(played.path)
    assert store.executions()
    before = {entry.name for entry in cache.iterdir()}
    (played.path / "mixseek.db").unlink()
    with pytest.raises(DatabaseMissing):
        store.executions()
    assert len(before - {entry.name for entry in cache.iterdir()}) == 1, "at once, where it is asked for"


@pytest.mark.slow
def test_a_copy_in_use_may_be_evicted_and_still_be_read(
    played: Played, cache: Path, open_store: Open
) -> None:
    store = open_store(played.path)
    expected = store.ranking(played.ids[0])
    for copy in cache.glob("*/*/"):
        shutil.rmtree(copy)
    assert store.ranking(played.ids[0]) == expected
