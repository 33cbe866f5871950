"""The original is never opened, never blocked and never misread, whatever happens to it meanwhile."""

import errno
import os
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NoReturn

import duckdb
import pytest

from builder.errors import (
    CacheFolderError,
    DatabaseDamaged,
    DatabaseMissing,
    DatabaseTooNew,
    LeaderboardError,
    NotADatabase,
    TornCopy,
)
from builder.leaderboard import AggregationStore, Retries, copying
from builder.leaderboard.copying import Changed, identify
from builder.leaderboard.folder import CopyFolder
from tests.builder.leaderboard.conftest import Played
from tests.builder.leaderboard.live_writer import EXECUTION
from tests.builder.leaderboard.test_store import _add_row
from tests.fuzzing import share_of

Open = Callable[..., AggregationStore]
ROOT = Path(__file__).resolve().parents[3]
QUICK = Retries(attempts=2, first_wait=0.0)
PAGES = {"background_bytes": 1 << 40}
"""As the studio opens the stores of its pages: the last copy will do, and its age is told."""


class Writer:
    """A separate process that holds the database read-write and keeps committing."""

    def __init__(self, database: Path, pause: float) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.builder.leaderboard.live_writer", str(database), str(pause)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.started = self.process.stdout.readline().strip() == "ready"

    def wait_for(self, number: int) -> None:
        """Until that many rounds are committed."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if int(line) >= number:
                return
        raise AssertionError("the writer ended early")

    def stop(self) -> int:
        """End it in peace and tell its exit code."""
        self.process.communicate("stop\n", timeout=60)
        return self.process.returncode

    def kill(self) -> int:
        """End it as a power cut would; tells how many rounds it had said were committed."""
        self.process.send_signal(signal.SIGKILL)
        assert self.process.stdout is not None
        last = max((int(line) for line in self.process.stdout.read().split()), default=0)
        self.process.wait()
        return last


@contextmanager
def writing(database: Path, pause: float = 0.05) -> Iterator[Writer]:
    writer = Writer(database, pause)
    try:
        yield writer
    finally:
        if writer.process.poll() is None:
            writer.kill()


@pytest.fixture
def database(played: Played) -> Path:
    return played.path / "mixseek.db"


def _copies(cache: Path) -> list[Path]:
    return sorted(cache.glob("*/*/mixseek.db"))


# --- beside a run ------------------------------------------------------------------------------


@pytest.mark.slow
def test_rows_are_read_right_while_another_process_writes(database: Path, open_store: Open) -> None:
    store = open_store(database)
    seen = []
    with writing(database) as writer:
        writer.wait_for(1)
        until = time.monotonic() + 30
        while len(set(seen)) < 5 and time.monotonic() < until:
            for entry in store.ranking(EXECUTION):
                # A round's score is its number: a half copied state would not add up.
                assert entry.max_score == entry.total_rounds
                seen.append(entry.total_rounds)
        assert writer.stop() == 0, "the writer must never notice us"
    assert seen == sorted(seen)
    assert len(set(seen)) >= 5


@pytest.mark.slow
def test_no_torn_copy_passes_for_a_good_one_under_constant_checkpoints(database: Path, cache: Path) -> None:
    seen = set()
    with writing(database, pause=0.015) as writer:
        writer.wait_for(1)
        while len(seen) < share_of(100):
            # A store of its own each time, so that each time a copy is made.
            with AggregationStore(database, cache_folder=cache, retries=Retries(attempts=3)) as store:
                try:
                    (entry,) = store.ranking(EXECUTION)
                    records = store.rounds(EXECUTION)
                except TornCopy:
                    continue
            assert entry.max_score == entry.total_rounds
            # The original has moved on between the two questions; each answer is whole in itself.
            assert [(record.round_number, record.score) for record in records] == [
                (number, float(number)) for number in range(1, len(records) + 1)
            ]
            seen.add(entry.total_rounds)
        assert writer.stop() == 0


@pytest.mark.slow
def test_a_writer_starts_while_the_store_is_in_use(database: Path, open_store: Open) -> None:
    store = open_store(database)
    assert store.executions()
    with writing(database) as writer:
        assert writer.started
        writer.wait_for(2)
        assert store.freshness().as_of
        assert writer.stop() == 0


@pytest.mark.slow
def test_rows_that_stand_only_in_the_log_are_seen(database: Path, open_store: Open) -> None:
    with writing(database, pause=30) as writer:
        writer.wait_for(1)
        assert Path(f"{database}.wal").stat().st_size > 0
        assert [entry.total_rounds for entry in open_store(database).ranking(EXECUTION)] == [1]


@pytest.mark.slow
def test_what_a_killed_run_had_committed_is_seen(database: Path, open_store: Open) -> None:
    with writing(database, pause=0.0) as writer:
        writer.wait_for(20)
        committed = writer.kill()
    before = identify(str(database))
    assert open_store(database).ranking(EXECUTION)[0].total_rounds >= committed
    assert identify(str(database)) == before, "recovering the copy must not touch the original"


def test_the_original_is_not_open_while_it_is_read(database: Path, cache: Path, open_store: Open) -> None:
    store = open_store(database)
    assert store.executions()
    assert _open_files("self") & {str(database), str(_copies(cache)[0])} == set()
    reading = _open_files(str(_reader_pid(store)))
    assert str(_copies(cache)[0]) in reading
    assert str(database) not in reading


def _open_files(process: str) -> set[str]:
    folder = f"/proc/{process}/fd"
    return {os.path.realpath(f"{folder}/{name}") for name in os.listdir(folder)}


def _reader_pid(store: AggregationStore) -> int:
    worker = store._snapshots._maker.process._worker
    assert worker is not None
    return worker.pid


# --- when a copy is made -----------------------------------------------------------------------


@pytest.mark.slow
def test_a_copy_is_kept_until_the_original_changes(played: Played, cache: Path, open_store: Open) -> None:
    store = open_store(played.path)
    store.ranking(played.ids[0])
    (first,) = _copies(cache)
    store.ranking(played.ids[1])
    assert _copies(cache) == [first]
    _add_row(played, "new", "team-001", 1, 50.0)
    assert len(store.ranking("new")) == 1
    (second,) = _copies(cache)
    assert second != first
    assert not store.freshness().stale


@pytest.mark.slow
def test_a_second_store_uses_the_copy_that_is_there(
    database: Path, cache: Path, open_store: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = open_store(database).executions()

    def refuse(*_: object, **__: object) -> NoReturn:
        raise AssertionError("there is nothing to copy")

    monkeypatch.setattr(copying, "copy", refuse)
    assert open_store(database).executions() == expected


@pytest.mark.slow
def test_processes_that_start_together_share_one_copy(database: Path, cache: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from builder.leaderboard import AggregationStore\n"
        "with AggregationStore(Path(sys.argv[1]), cache_folder=Path(sys.argv[2])) as store:\n"
        "    print([found.execution_id for found in store.executions()])"
    )
    command = [sys.executable, "-c", program, str(database), str(cache)]
    processes = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    answers = {process.communicate(timeout=120)[0] for process in processes}
    assert [process.returncode for process in processes] == [0, 0]
    assert len(answers) == 1
    assert len(_copies(cache)) == 1


@pytest.mark.slow
def test_threads_may_ask_at_once(played: Played, open_store: Open) -> None:
    store = open_store(played.path)
    expected = {execution: open_store(played.path).ranking(execution) for execution in played.ids}
    wrong: list[str] = []

    def ask() -> None:
        for execution in played.ids * 4:
            if store.ranking(execution) != expected[execution]:
                wrong.append(execution)

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.slow
def test_a_forked_child_opens_its_own(played: Played, open_store: Open) -> None:
    program = (
        "import os, sys; from pathlib import Path; from builder.leaderboard import AggregationStore\n"
        "store = AggregationStore(Path(sys.argv[1]), cache_folder=Path(sys.argv[2]))\n"
        "before = store.ranking(sys.argv[3])\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    same = store.ranking(sys.argv[3]) == before\n"
        "    store.close()\n"
        "    os._exit(0 if same else 9)\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))"
    )
    cache = played.path.parent / "cache"
    command = [sys.executable, "-c", program, str(played.path), str(cache), played.ids[0]]
    assert subprocess.run(command, cwd=ROOT, timeout=120, check=False).returncode == 0


@pytest.mark.slow
def test_a_large_file_is_copied_behind_the_readers_back(played: Played, open_store: Open) -> None:
    store = open_store(played.path, background_bytes=0)
    assert store.ranking("new") == []
    _add_row(played, "new", "team-001", 1, 50.0)
    assert store.ranking("new") == [], "the last copy is shown meanwhile"
    assert store.refresh(wait=30).state == "idle"
    assert len(store.ranking("new")) == 1


@pytest.mark.slow
def test_the_background_copy_arrives_by_itself(played: Played, open_store: Open) -> None:
    store = open_store(played.path, background_bytes=0)
    store.ranking("new")
    _add_row(played, "new", "team-001", 1, 50.0)
    until = time.monotonic() + 30
    while not store.ranking("new") and time.monotonic() < until:
        time.sleep(0.01)
    assert len(store.ranking("new")) == 1
    assert not store.freshness().stale


# --- when no good copy can be made --------------------------------------------------------------


def _always_changing(*_: object, **__: object) -> NoReturn:
    raise Changed


def test_a_file_that_changes_all_the_time_is_an_error_when_nothing_was_read_before(
    database: Path, open_store: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "copy", _always_changing)
    with pytest.raises(TornCopy, match="changed during each of 2 attempts") as caught:
        open_store(database, retries=QUICK).executions()
    assert "コピーのたびに変更" in caught.value.text("ja")


@pytest.mark.slow
def test_the_last_good_copy_is_shown_with_its_age(
    played: Played, open_store: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1_800_000_000.0]
    store = open_store(played.path, retries=QUICK, clock=lambda: now[0], **PAGES)
    expected = store.executions()
    _add_row(played, "new", "team-001", 1, 50.0)
    monkeypatch.setattr(copying, "copy", _always_changing)
    now[0] += 90
    assert store.executions() == expected
    freshness = store.freshness()
    assert freshness.stale
    assert isinstance(freshness.reason, TornCopy)
    assert freshness.age_seconds(datetime.fromtimestamp(now[0], UTC)) == 90


@pytest.mark.slow
def test_the_last_good_copy_of_an_earlier_process_serves_too(
    played: Played, open_store: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = datetime.now(UTC) - timedelta(seconds=1)  # a file's time is coarser than the clock's
    expected = open_store(played.path).ranking(played.ids[0])
    copied = datetime.now(UTC)
    _add_row(played, "new", "team-001", 1, 50.0)
    monkeypatch.setattr(copying, "copy", _always_changing)
    store = open_store(played.path, retries=QUICK, **PAGES)
    assert store.ranking(played.ids[0]) == expected
    assert store.freshness().stale
    assert before <= store.freshness().as_of <= copied


@pytest.mark.slow
def test_a_full_disk_leaves_the_last_good_copy(
    played: Played, open_store: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    store = open_store(played.path, **PAGES)
    expected = store.ranking(played.ids[0])
    _add_row(played, "new", "team-001", 1, 50.0)
    monkeypatch.setattr(copying, "_transfer", full)
    assert store.ranking(played.ids[0]) == expected
    assert "No space left on device" in str(store.freshness().reason)
    with pytest.raises(CacheFolderError, match="cannot be used: No space left on device"):
        open_store(played.path).ranking(played.ids[0])


@pytest.mark.slow
def test_a_copy_that_another_process_is_making_is_not_waited_for_while_there_is_one_to_show(
    played: Played, cache: Path, open_store: Open
) -> None:
    store = open_store(played.path, **PAGES)
    store.ranking("new")
    _add_row(played, "new", "team-001", 1, 50.0)
    key = _copies(cache)[0].parents[1].name
    with CopyFolder(cache).lock(key, wait=0):
        assert store.ranking("new") == []
        assert (
            str(store.freshness().reason)
            == f"Another process is copying {played.path / 'mixseek.db'} at this moment."
        )


@pytest.mark.slow
def test_a_copy_that_proves_bad_inside_is_made_again(played: Played, cache: Path, open_store: Open) -> None:
    with open_store(played.path) as store:
        expected = store.rounds(played.ids[0])
    (copy,) = _copies(cache)
    size = copy.stat().st_size
    with copy.open("r+b") as file:
        # Beyond the three headers: the file opens, and its blocks are wrong.
        file.seek(12288)
        file.write(os.urandom(size - 12288))
    assert open_store(played.path).rounds(played.ids[0]) == expected


def test_a_missing_database_is_said_to_be_missing(tmp_path: Path, open_store: Open) -> None:
    with pytest.raises(DatabaseMissing):
        open_store(tmp_path).executions()


def test_a_database_that_goes_away_is_missing_even_with_a_copy_at_hand(
    played: Played, open_store: Open
) -> None:
    store = open_store(played.path)
    store.executions()
    (played.path / "mixseek.db").unlink()
    with pytest.raises(DatabaseMissing):
        store.executions()


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0" + bytes(8000), b"hello"])
def test_another_kind_of_file_is_said_to_be_no_duckdb(
    content: bytes, tmp_path: Path, open_store: Open
) -> None:
    (tmp_path / "mixseek.db").write_bytes(content)
    with pytest.raises(NotADatabase, match="is not a DuckDB database") as caught:
        open_store(tmp_path).executions()
    assert "DuckDBのデータベースではありません" in caught.value.text("ja")


def _with_storage_version(data: bytes, version: int) -> bytes:
    """DuckDB guards the header with a checksum of its own; a changed version needs a new one."""
    head = bytearray(data[:4096])
    head[12:20] = struct.pack("<Q", version)
    checksum = 5381
    for (word,) in struct.iter_unpack("<Q", head[8:]):
        checksum ^= word * 0xBF58476D1CE4E5B9 & (2**64 - 1)
    head[:8] = struct.pack("<Q", checksum)
    return bytes(head) + data[4096:]


@pytest.mark.slow
def test_a_newer_format_is_told_apart_from_damage(database: Path, open_store: Open) -> None:
    data = database.read_bytes()
    database.write_bytes(_with_storage_version(data, 70))
    with pytest.raises(DatabaseTooNew, match="written by a newer DuckDB"):
        open_store(database).executions()
    database.write_bytes(data[: len(data) // 2])
    with pytest.raises(DatabaseDamaged, match="cannot be opened, although it did not change"):
        open_store(database).executions()


@pytest.mark.slow
def test_a_mended_file_is_read_again(database: Path, open_store: Open) -> None:
    data = database.read_bytes()
    store = open_store(database, retries=QUICK)
    database.write_bytes(b"not yet")
    with pytest.raises(NotADatabase):
        store.executions()
    database.write_bytes(data)
    assert len(store.executions()) == 5


# --- what a copy can do ---------------------------------------------------------------------------


def test_a_query_reaches_no_other_file_and_no_extension(
    database: Path, cache: Path, open_store: Open
) -> None:
    store = open_store(database)
    for statement in (
        "SELECT * FROM read_text('/etc/hostname')",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET threads = 9",
    ):
        with pytest.raises(LeaderboardError):
            store.rows(statement)
    names = "'autoinstall_known_extensions', 'autoload_known_extensions', 'enable_external_access'"
    assert store.rows(f"SELECT DISTINCT value FROM duckdb_settings() WHERE name IN ({names})") == [("false",)]


def test_json_is_inside_the_wheel() -> None:
    with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as connection:
        found = connection.execute(
            "SELECT install_mode FROM duckdb_extensions() WHERE extension_name = 'json' AND loaded"
        ).fetchall()
    assert found == [("STATICALLY_LINKED",)]
