"""A copy is made behind the readers' backs: nobody waits for it, everybody can see how far it is."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from builder.errors import CopyUnderWay, NotADatabase, TornCopy
from builder.leaderboard import AggregationStore, copy_job, copying, snapshot
from builder.leaderboard.copying import Changed, Watch
from builder.leaderboard.folder import CopyFolder
from tests.builder.leaderboard.conftest import Played
from tests.builder.leaderboard.test_store import _add_row

Open = Callable[..., AggregationStore]
ROOT = Path(__file__).resolve().parents[3]
AT_ONCE = {"background_bytes": 0, "patience": 0.0}
"""As the studio opens the stores of large databases, with no patience at all."""


class Slowly:
    """A disk on which a copy of one file stands still, half done, until it is told to go on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, database: Path) -> None:
        self.standing, self._go_on = threading.Event(), threading.Event()
        self.copies = 0
        real = copying._transfer
        inode = database.stat().st_ino

        def slowly(reading: int, writing: int, size: int, watch: Watch) -> int:
            if os.fstat(reading).st_ino == inode:
                self.copies += 1
                watch.advance(size // 2)
                self.standing.set()
                while not self._go_on.wait(0.01):
                    watch.check()
                watch.done -= size // 2
            return real(reading, writing, size, watch)

        monkeypatch.setattr(copying, "_transfer", slowly)

    def go_on(self) -> None:
        self._go_on.set()


@pytest.fixture
def database(played: Played) -> Path:
    return played.path / "mixseek.db"


@pytest.fixture
def slowly(monkeypatch: pytest.MonkeyPatch, database: Path) -> Iterator[Slowly]:
    disk = Slowly(monkeypatch, database)
    yield disk
    disk.go_on()


def _wait_for(condition: Callable[[], object]) -> None:
    until = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.005)


def _copies(cache: Path) -> list[str]:
    return sorted(str(entry.relative_to(cache)) for entry in cache.glob("*/*/"))


def test_the_first_reader_is_told_how_far_the_copy_is(
    played: Played, database: Path, open_store: Open, slowly: Slowly
) -> None:
    store = open_store(played.path, **AT_ONCE)
    with pytest.raises(CopyUnderWay):
        store.executions()
    assert slowly.standing.wait(30)
    size = database.stat().st_size
    with pytest.raises(CopyUnderWay) as caught:
        store.standings(played.ids[0])
    assert (caught.value.done, caught.value.total) == (size // 2, size)
    megabytes = f"{size / 2e6:,.0f} of {size / 1e6:,.0f} MB"
    assert str(caught.value) == f"The database is being copied: {megabytes}."
    assert "コピーしています" in caught.value.text("ja")
    found = store.copying()
    assert (found.state, found.done, found.total, found.freshness) == ("copying", size // 2, size, None)
    slowly.go_on()
    _wait_for(lambda: store.copying().state == "idle")
    assert len(store.executions()) == 5
    assert slowly.copies == 1


@pytest.mark.slow
def test_the_first_reader_waits_as_long_as_its_patience(played: Played, open_store: Open) -> None:
    assert len(open_store(played.path, background_bytes=0, patience=60.0).executions()) == 5


@pytest.mark.slow
def test_the_last_good_copy_is_shown_at_once_while_a_new_one_is_made(
    played: Played, open_store: Open, monkeypatch: pytest.MonkeyPatch, database: Path
) -> None:
    store = open_store(played.path, **AT_ONCE)
    assert store.refresh(wait=30).state == "idle"
    _add_row(played, "new", "team-001", 1, 50.0)
    slowly = Slowly(monkeypatch, database)
    assert store.standings("new") == []
    assert slowly.standing.wait(30)
    shown = store.refresh()
    assert (shown.state, shown.freshness is not None and shown.freshness.stale) == ("copying", True)
    assert store.standings("new") == []
    slowly.go_on()
    _wait_for(lambda: store.standings("new"))
    assert not store.freshness().stale


@pytest.mark.slow
def test_a_copy_from_before_this_process_is_shown_at_once(
    played: Played, open_store: Open, monkeypatch: pytest.MonkeyPatch, database: Path
) -> None:
    with open_store(played.path) as earlier:
        expected = earlier.standings(played.ids[0])
    _add_row(played, "new", "team-001", 1, 50.0)
    slowly = Slowly(monkeypatch, database)
    store = open_store(played.path, **AT_ONCE)
    assert store.standings(played.ids[0]) == expected
    assert store.freshness().stale
    slowly.go_on()
    _wait_for(lambda: store.standings("new"))


@pytest.mark.slow
def test_a_large_copy_keeps_nobody_elses_page(
    played: Played, cache: Path, tmp_path: Path, open_store: Open, slowly: Slowly
) -> None:
    """Neither a store of another workspace in the same folder, nor another of the same one, stands still."""
    large = open_store(played.path, **AT_ONCE)
    with pytest.raises(CopyUnderWay):
        large.executions()
    assert slowly.standing.wait(30)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mixseek.db").write_bytes((played.path / "mixseek.db").read_bytes())
    assert len(open_store(tmp_path / "other").executions()) == 5
    with pytest.raises(CopyUnderWay):
        open_store(played.path, **AT_ONCE).executions()
    assert slowly.copies == 1


@pytest.mark.slow
def test_who_waits_for_another_process_sees_how_far_that_one_is(
    played: Played, database: Path, cache: Path, open_store: Open
) -> None:
    folder = CopyFolder(cache)
    with open_store(played.path) as first:
        first.executions()
    key = _copies(cache)[0].split("/")[0]
    _add_row(played, "new", "team-001", 1, 50.0)
    store = open_store(played.path, **AT_ONCE)
    with folder.lock(key, wait=0) as held:
        assert held
        (folder.of(key) / f"{'a' * 16}.part").mkdir()
        (folder.of(key) / f"{'a' * 16}.part" / "mixseek.db").write_bytes(bytes(5000))
        store.refresh()
        _wait_for(lambda: store.copying().done == 8192)
        assert store.copying().total == database.stat().st_size
    _wait_for(lambda: store.copying().state == "idle")
    assert len(store.standings("new")) == 1


@pytest.mark.slow
def test_closing_ends_a_copy_under_way_and_leaves_nothing(
    played: Played, cache: Path, open_store: Open, slowly: Slowly
) -> None:
    store = open_store(played.path, **AT_ONCE)
    store.refresh()
    assert slowly.standing.wait(30)
    store.close()
    assert _copies(cache) == []
    assert store.copying().state == "idle"
    slowly.go_on()
    assert store.refresh(wait=30).state == "idle"
    assert len(store.executions()) == 5


def test_a_question_under_way_is_answered_although_the_store_is_closed(
    played: Played, open_store: Open
) -> None:
    store = open_store(played.path)
    asked = []

    def question(reader: object) -> list[tuple[int]]:
        if not asked:
            store.close()
        asked.append(reader)
        return reader.rows("SELECT COUNT(*) FROM leader_board")  # type: ignore[attr-defined, no-any-return]

    assert store.answer(question)[0][0] > 0


@pytest.mark.slow
def test_a_copy_steps_back_behind_pages(
    played: Played, open_store: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, seen = copying.copy, []

    def noting(*arguments: object, **options: object) -> object:
        seen.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
        return real(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(copying, "copy", noting)
    own = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    open_store(played.path, **AT_ONCE).refresh(wait=30)
    assert seen == [max(own, 10)]


# --- how often ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_large_file_that_is_written_to_all_the_time_is_left_alone_for_a_while(
    played: Played, open_store: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copy_job, "REST_PER_WORK", 1e6)
    store = open_store(played.path, **AT_ONCE)
    store.refresh(wait=30)
    _add_row(played, "new", "team-001", 1, 50.0)
    assert store.standings("new") == []
    found = store.refresh(wait=0.1)
    assert (found.state, found.freshness is not None and found.freshness.stale) == ("idle", True)


def test_a_broken_file_is_not_copied_for_every_reader(
    played: Played, database: Path, open_store: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "_PAUSE_AFTER_FAILURE", 1000.0)
    database.write_bytes(b"something else")
    slowly = Slowly(monkeypatch, database)
    slowly.go_on()
    store = open_store(played.path)
    raised = []
    for _ in range(3):
        with pytest.raises(NotADatabase) as caught:
            store.executions()
        raised.append(caught.value)
    assert slowly.copies == 1
    assert len(set(map(id, raised))) == 3 and len(set(map(str, raised))) == 1
    failed = store.copying()
    assert (failed.state, isinstance(failed.error, NotADatabase)) == ("failed", True)


@pytest.mark.slow
def test_a_failed_refresh_says_why_and_shows_the_last_good_copy(
    played: Played, open_store: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def changing(*_: object, **__: object) -> NoReturn:
        raise Changed

    store = open_store(played.path, **AT_ONCE)
    store.refresh(wait=30)
    _add_row(played, "new", "team-001", 1, 50.0)
    monkeypatch.setattr(copying, "copy", changing)
    _wait_for(lambda: store.refresh(wait=5).state == "failed")
    assert isinstance(store.copying().error, TornCopy)
    assert len(store.executions()) == 5


# --- beside other processes -----------------------------------------------------------------------


@pytest.mark.slow
def test_a_program_ends_although_a_copy_is_under_way(played: Played, cache: Path) -> None:
    program = (
        "import sys; from pathlib import Path\n"
        "from builder.errors import CopyUnderWay\n"
        "from builder.leaderboard import AggregationStore, copying\n"
        "def for_ever(reading, writing, size, watch):\n"
        "    while True: watch.pause(0.01)\n"
        "copying._transfer = for_ever\n"
        "store = AggregationStore(Path(sys.argv[1]), cache_folder=Path(sys.argv[2]), patience=0.1)\n"
        "try: store.executions()\n"
        "except CopyUnderWay: print('under way')"
    )
    command = [sys.executable, "-c", program, str(played.path), str(cache)]
    ended = subprocess.run(command, cwd=ROOT, timeout=60, check=True, capture_output=True, text=True)
    assert (ended.stdout, ended.stderr) == ("under way\n", "")
    assert _copies(cache) == []


@pytest.mark.slow
def test_servers_that_share_a_folder_copy_a_changed_file_once(played: Played, cache: Path) -> None:
    """Four processes ask all the time while the file changes: each new state is copied by one of them."""
    program = (
        "import sys, time; from pathlib import Path\n"
        "from builder.leaderboard import AggregationStore, copying\n"
        "made, real = [], copying.copy\n"
        "def counting(*given, **options):\n"
        "    made.append(1); return real(*given, **options)\n"
        "copying.copy = counting\n"
        "store = AggregationStore(Path(sys.argv[1]), cache_folder=Path(sys.argv[2]),"
        " background_bytes=0, patience=30.0)\n"
        "print('ready', flush=True)\n"
        "until = time.monotonic() + 60\n"
        "while not store.standings('last') and time.monotonic() < until: time.sleep(0.005)\n"
        "print(len(made))"
    )
    command = [sys.executable, "-c", program, str(played.path), str(cache)]
    processes = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    changes = 4
    for number in range(changes - 1):
        _add_row(played, f"change-{number}", "a", 1, 50.0)
        time.sleep(0.3)
    _add_row(played, "last", "a", 1, 50.0)
    made = [int(process.communicate(timeout=120)[0]) for process in processes]
    assert [process.returncode for process in processes] == [0] * 4
    # A file that changes while it is copied is copied again, by the same maker.
    assert 1 <= sum(made) <= 2 * (changes + 1)
    assert len(_copies(cache)) == 1
