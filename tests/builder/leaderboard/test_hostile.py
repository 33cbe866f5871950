"""A database that somebody made to harm its reader is refused before any of it runs; what no reader survives
is set aside. The attacks are real ones."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from builder.errors import (
    CacheFolderError,
    DatabaseDamaged,
    DatabaseQuarantined,
    DatabaseRefused,
    DatabaseTooLarge,
    LeaderboardError,
)
from builder.leaderboard import AggregationStore, copying, process, worker
from builder.leaderboard.process import ReaderProcess
from tests.builder.leaderboard.conftest import Played
from tests.builder.leaderboard.hostile_databases import HOSTILE, make_heavy, make_hostile, make_sparse
from tests.builder.leaderboard.test_store import _add_row

Open = Callable[..., AggregationStore]
ROOT = Path(__file__).resolve().parents[3]
ENDLESS = "SELECT count(*) FROM range(100000000000000) t(i) WHERE hash(i) = 1"


@pytest.mark.parametrize("name", HOSTILE)
def test_what_a_file_defines_is_refused_by_name(name: str, tmp_path: Path, open_store: Open) -> None:
    store = open_store(make_hostile(name, tmp_path / "workspace"))
    for question in (store.executions, lambda: store.ranking("e"), lambda: store.rounds("e"), store.gaps):
        with pytest.raises(DatabaseRefused) as caught:
            question()
        assert str(caught.value).startswith(f"{store.path} is not read: {HOSTILE[name][1]}")
        assert "読み込みません" in caught.value.text("ja") and caught.value.advice("en")
    assert _cpu(store) < 5, "nothing of the file's own was evaluated"


def test_views_of_other_names_are_no_harm(played: Played, open_store: Open) -> None:
    with duckdb.connect(str(played.path / "mixseek.db")) as connection:
        connection.execute("CREATE VIEW mine AS SELECT * FROM range(100000000000000)")
    assert len(open_store(played.path).executions()) == 5


# --- limits -----------------------------------------------------------------------------------


def test_a_question_without_end_is_stopped_and_its_file_set_aside(
    played: Played, open_store: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(played.path)
    expected = store.ranking(played.ids[0])
    first = _worker(store).pid
    monkeypatch.setattr("builder.leaderboard.reader.SECONDS", 0.5)
    monkeypatch.setattr("builder.leaderboard.process._PATIENCE", 100)  # however busy the machine is
    with pytest.raises(
        DatabaseQuarantined, match="is quarantined: reading it exceeded the time limit"
    ) as caught:
        store.rows(ENDLESS)
    assert "隔離しました" in caught.value.text("ja")
    assert not Path(f"/proc/{first}").exists(), "its process is gone"
    with pytest.raises(DatabaseQuarantined):
        store.ranking(played.ids[0])
    # After a restart, too, without a copy and without a process.
    again = open_store(played.path)
    with pytest.raises(DatabaseQuarantined, match="exceeded the time limit"):
        again.executions()
    assert again._snapshots._maker.process._worker is None
    # A person asks again.
    again.try_again()
    assert again.ranking(played.ids[0]) == expected
    with pytest.raises(DatabaseQuarantined):
        again.rows(ENDLESS)
    # The file changes.
    _add_row(played, "new", "team-001", 1, 50.0)
    assert len(again.ranking("new")) == 1


def test_memory_ends_at_a_limit_of_the_operating_system(played: Played, open_store: Open) -> None:
    store = open_store(played.path)
    with pytest.raises(DatabaseQuarantined, match="exceeded the memory limit"):
        store.rows("SELECT list(i || repeat('x', 100)) FROM range(100000000) t(i)")
    limits = Path(f"/proc/{_worker(store).pid}/limits").read_text(encoding="ascii")
    named = {line[:25].strip(): line[25:].split()[1] for line in limits.splitlines()}
    assert int(named["Max address space"]) == 1536 * 1024**2
    assert (named["Max file size"], named["Max core file size"]) == ("0", "0")


def test_a_reader_that_dies_sets_its_file_aside(played: Played, open_store: Open) -> None:
    store = open_store(played.path)
    store.executions()
    pid = _worker(store).pid
    killer = threading.Timer(0.3, os.kill, (pid, 11))
    killer.start()
    with pytest.raises(DatabaseQuarantined, match="the process that read it crashed"):
        store.rows(ENDLESS)
    killer.join()


@pytest.mark.slow
def test_plain_tables_too_large_for_their_pages_are_set_aside(tmp_path: Path, open_store: Open) -> None:
    """Thirty million rows in a small file: the pages' tables do not fit, a page of another file is served."""
    store = open_store(make_heavy(tmp_path / "workspace", 30_000_000))
    with pytest.raises(DatabaseQuarantined):
        store.executions()


_YIELDING = """
import json, os, sys
from pathlib import Path
from builder.leaderboard import AggregationStore, process, yield_to_others
yield_to_others()
with AggregationStore(Path(sys.argv[1]), cache_folder=Path(sys.argv[2])) as store:
    store.executions()
    (worker,) = [reader._worker for reader in process._STARTED]
    threads = map(int, os.listdir(f"/proc/{worker.pid}/task"))
    steps = [(os.sched_getscheduler(thread), os.getpriority(os.PRIO_PROCESS, thread)) for thread in threads]
wanted = [os.SCHED_IDLE, 0] if process._priority == "idle" else [os.SCHED_OTHER, 10]
print(json.dumps([len(steps), [step for step in steps if [*step] != wanted]]))
"""


def test_every_thread_of_a_servers_reader_steps_back(original: Played, tmp_path: Path) -> None:
    command = [sys.executable, "-c", _YIELDING, str(original.path), str(tmp_path / "cache")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    count, others = json.loads(done.stdout)
    assert count > 1 and others == []


def test_a_long_question_lowers_the_priority_of_every_thread(played: Played, open_store: Open) -> None:
    store = open_store(played.path)
    store.executions()
    worker = _worker(store)
    worker._demote()
    threads = [int(name) for name in os.listdir(f"/proc/{worker.pid}/task")]
    assert len(threads) > 1
    assert {os.getpriority(os.PRIO_PROCESS, thread) for thread in threads} == {19}


def test_an_answer_has_a_largest_size(played: Played, open_store: Open) -> None:
    store = open_store(played.path)
    with pytest.raises(LeaderboardError, match="too large to show"):
        store.rows("SELECT repeat('x', 1000000) FROM range(70)")
    assert store.executions()


def test_closing_ends_a_question_at_once(played: Played, open_store: Open) -> None:
    store = open_store(played.path)
    store.executions()
    pid, raised = _worker(store).pid, list[Exception]()

    def ask() -> None:
        try:
            store._snapshots.reader().rows(ENDLESS)
        except Exception as error:
            raised.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    while not store._snapshots._maker.process._turn.locked():
        pass
    store.close()
    asking.join(30)
    assert not asking.is_alive() and not Path(f"/proc/{pid}").exists()
    assert [type(error).__name__ for error in raised] == ["Gone"], "and its file is not set aside"
    assert store.executions()


def test_more_databases_than_processes_are_all_answered(
    played: Played, tmp_path: Path, open_store: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "MOST", 2)
    stores = []
    for number in range(3):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "mixseek.db").write_bytes((played.path / "mixseek.db").read_bytes())
        stores.append(open_store(folder))
    for _ in range(2):
        for store in stores:
            assert len(store.executions()) == 5
    alive = [store for store in stores if store._snapshots._maker.process._worker is not None]
    assert len(alive) == 2


# --- copies -----------------------------------------------------------------------------------


def test_holes_stay_holes(tmp_path: Path, cache: Path, open_store: Open) -> None:
    """A sparse file of four gigabytes once filled the disk."""
    folder = make_sparse(tmp_path / "workspace", copying.LARGEST)
    copying.copy(str(folder / "mixseek.db"), tmp_path / "copy")
    copied = (tmp_path / "copy").stat()
    assert copied.st_size == copying.LARGEST
    assert copied.st_blocks * 512 < 10_000_000
    with pytest.raises(DatabaseDamaged):
        open_store(folder).executions()
    assert [*cache.glob("*/*/")] == []


def test_what_is_too_large_is_not_copied(tmp_path: Path, cache: Path, open_store: Open) -> None:
    folder = make_sparse(tmp_path / "workspace", copying.LARGEST + 1)
    with pytest.raises(DatabaseTooLarge, match="it has 4,295 MB, the limit for copies is 4,295 MB") as caught:
        open_store(folder).executions()
    assert "上限の4,295 MB" in caught.value.text("ja")
    with pytest.raises(DatabaseTooLarge):
        open_store(make_sparse(tmp_path / "smaller", 20_000_000), largest=10_000_000).executions()
    assert [*cache.glob("*/*/")] == []


def test_free_space_is_kept(played: Played, open_store: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = os.statvfs(played.path)
    free = disk.f_bavail * disk.f_frsize
    with pytest.raises(CacheFolderError, match="would leave too little free space"):
        copying.copy(str(played.path / "mixseek.db"), played.path / "copy", copying.Terms(kept_free=free))


def test_what_duckdb_says_names_no_path_and_no_setting(played: Played, cache: Path, open_store: Open) -> None:
    database = played.path / "mixseek.db"
    store = open_store(database)
    for statement in (
        "SELECT * FROM read_text('/etc/hostname')",
        "SET memory_limit = '1TB'",
        "LOAD httpfs",
        "SELECT * FROM no_such_table",
        f"ATTACH '{cache}/other.db'",
    ):
        with pytest.raises(LeaderboardError) as caught:
            store.rows(statement)
        said = str(caught.value).replace(str(database), "")
        assert "/" not in said and "memory_limit =" not in said and "SET " not in said, said
    database.write_bytes(database.read_bytes()[:300_000])
    with pytest.raises(DatabaseDamaged) as damaged:
        open_store(database).executions()
    assert str(cache) not in str(damaged.value) and damaged.value.params["reason"]


# --- the process ------------------------------------------------------------------------------

_INSIDE = """
import json, os, socket, sys
sys.path.insert(0, sys.argv[1])
from builder.leaderboard import worker
settings = json.loads(sys.argv[2])
confined = worker.lock(settings)
def refused(action):
    try:
        action()
    except OSError as error:
        return error.errno in (1, 13, 27)
    return False
folder = settings["folder"]
found = {
    "another file": refused(lambda: open("/etc/hostname")),
    "beside the folder": refused(lambda: open(os.path.dirname(folder) + "/beside")),
    "a listing": refused(lambda: os.listdir("/")),
    "writing": refused(lambda: open(folder + "/new", "w")),
    "removing": refused(lambda: os.unlink(folder + "/inside")),
    "a socket": refused(lambda: socket.socket()),
    "a process": refused(lambda: os.fork()),
    "a program": refused(lambda: os.execv("/bin/true", ["true"])),
    "a signal": refused(lambda: os.kill(os.getppid(), 0)),
    "a priority": refused(lambda: os.setpriority(os.PRIO_PROCESS, 0, -5)),
}
os.write(1, json.dumps([confined, found, open(folder + "/inside").read()]).encode())
os._exit(0)
"""


def test_a_reader_reaches_its_folder_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "copies"
    folder.mkdir()
    (folder / "inside").write_text("copy", encoding="ascii")
    (tmp_path / "beside").touch()
    settings = {"memory": 1 << 31, "folder": str(folder)}
    command = [sys.executable, "-c", _INSIDE, str(ROOT), json.dumps(settings)]
    done = subprocess.run(command, capture_output=True, timeout=60, cwd="/")
    (confined, filtered), found, content = json.loads(done.stdout or done.stderr)
    assert content == "copy"
    if confined and filtered:
        assert {name: refused for name, refused in found.items() if not refused} == {}


def test_the_programs_own_process_never_has_duckdb_for_a_question(original: Played, tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from builder.leaderboard import AggregationStore\n"
        "with AggregationStore(Path(sys.argv[1]), cache_folder=Path(sys.argv[2])) as store:\n"
        "    store.executions(); store.ranking('x')\n"
        "print('duckdb' in sys.modules)"
    )
    command = [sys.executable, "-c", program, str(original.path), str(tmp_path / "cache")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "False\n"


@pytest.mark.slow  # it is looked for every five seconds
def test_a_process_that_nobody_asks_is_ended_and_the_next_question_has_another(
    played: Played, open_store: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(played.path)
    expected = store.executions()
    first = _worker(store).pid
    monkeypatch.setattr(process, "REST_SECONDS", 0.0)
    monkeypatch.setattr(process, "REST_TIMES", 0.0)
    while Path(f"/proc/{first}").exists():
        time.sleep(0.01)
    monkeypatch.undo()
    assert store.executions() == expected
    assert _worker(store).pid != first


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (
            'IO Error: Cannot open file "/srv/My Data/ab/mixseek.db": No such file',
            "Cannot open file …: No such file",
        ),
        ("IO Error: Could not read from '/tmp/a b/c d.db': 5 bytes", "Could not read from …: 5 bytes"),
        ("IO Error: ../other/secret.db is missing", "… is missing"),
        ("IO Error: file:///etc/passwd", "…"),
        ("IO Error: no room. SET memory_limit='9GB'", "no room."),
        ("IO Error: could not allocate (512.0 MB/512.0 MB used)\nSET threads=1", "could not allocate"),
    ],
)
def test_duckdbs_own_words_are_shown_without_paths_and_settings(error: str, told: str) -> None:
    assert worker._told(duckdb.Error(error)) == f"IO Error: {told}"


def _worker(store: AggregationStore) -> "process.WorkerProcess":
    worker = store._snapshots._maker.process._worker
    if worker is None:
        store._snapshots._maker.process.start()
        worker = store._snapshots._maker.process._worker
    assert worker is not None
    return worker


def _cpu(store: AggregationStore) -> float:
    handle: ReaderProcess = store._snapshots._maker.process
    return handle._worker.cpu if handle._worker is not None else 0.0
