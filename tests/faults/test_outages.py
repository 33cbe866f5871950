"""A disk that is full, a data folder that became read-only, a PostgreSQL server that is started anew.

Each time: a sentence instead of a traceback, nothing lost that was acknowledged, and work without a restart.
"""

import fcntl
import signal
import struct
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.faults.scene import SET, Scene, texts
from tests.postgresql_cluster import cluster
from tests.studio.besieged import Answer, Person

pytestmark = pytest.mark.slow

FULL = "The disk that holds the studio’s data is full. Nothing was saved."
READ_ONLY = "The studio’s data can only be read at the moment. Nothing was saved."
NO_ANSWER = "The studio’s database is not responding."
PAGES = ("/", f"/prompts/{SET}/", f"/prompts/{SET}/edit/", "/workspaces/", "/workspaces/a/", "/account/")
_GET_FLAGS, _SET_FLAGS, _IMMUTABLE = 0x80086601, 0x40086602, 0x10


@contextmanager
def disk(folder: Path, size: str) -> Iterator[Path]:
    """A small disk of its own at this folder."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def fill(folder: Path) -> Path:
    """Take all the room that is left."""
    filler = folder / "filler"
    for size in (1 << 20, 1 << 12):
        with suppress(OSError), filler.open("ab", buffering=0) as file:
            while True:
                file.write(b"\0" * size)
    return filler


def freeze(path: Path, frozen: bool) -> None:
    """Let nobody write to the file, not even who has it open, as on a disk that met an error (chattr)."""
    with path.open("rb") as file:
        flags = struct.unpack("l", fcntl.ioctl(file, _GET_FLAGS, b"\0" * 8))[0]
        wanted = flags | _IMMUTABLE if frozen else flags & ~_IMMUTABLE
        fcntl.ioctl(file, _SET_FLAGS, struct.pack("l", wanted))


def save(scene: Scene, word: str, size: int = 1) -> tuple[int, str, str | None]:
    """A version on top of the newest: status, what a refusal says, and when to come back."""
    latest = scene.ask("GET", f"sets/{SET}/versions/latest")
    if latest[0] != 200:
        return latest[0], latest[1]["detail"], latest[2]["Retry-After"]
    body = {"base": latest[1]["number"], "message": "m", "texts": texts(word)}
    body["texts"]["team_user_prompt"] += "and on.\n" * size
    status, told, headers = scene.ask("POST", f"sets/{SET}/versions", body)
    return status, told.get("detail", ""), headers["Retry-After"]


def write_draft(person: Person, seq: int) -> Answer:
    fields = {"kind": "team", "tab": "t", "seq": seq, "revision": 0, "base": 1, "message": ""}
    return person.post(f"/prompts/{SET}/draft/", fields | texts(f"draft {seq}"))


def newest(scene: Scene) -> int:
    return int(scene.ask("GET", f"sets/{SET}/versions/latest")[1]["number"])


def test_a_full_disk_is_said_and_work_goes_on_when_there_is_room(tmp_path: Path) -> None:
    with disk(tmp_path / "data", "32m") as data:
        scene = Scene(data, tmp_path / "workspaces")
        person = scene.prepare()
        filler = fill(data)
        said = []
        while not said or said[-1][0] == 201:  # the write-ahead log has some room of its own
            said.append(save(scene, f"word {len(said)}", 5000))
        assert said[-1] == (503, FULL, "5")
        before = newest(scene)
        assert before == len(said), "what was acknowledged is there"
        refused = write_draft(person, 1)
        assert (refused.status, refused.headers["Retry-After"]) == (503, "5") and FULL in refused.body
        for page in PAGES:
            assert person.get(page).status == 200, page
        filler.unlink()
        assert save(scene, "again")[0] == 201 and newest(scene) == before + 1
        assert write_draft(person, 2).status == 200
        assert scene.studio.end(signal.SIGTERM) == 0
        assert "Traceback" not in scene.studio.output and "disk is full" in scene.studio.output
        assert scene.damage() == []


def test_a_start_on_a_full_disk_says_so(tmp_path: Path) -> None:
    with disk(tmp_path / "data", "1m") as data:
        fill(data)
        with pytest.raises(AssertionError, match=r"The data folder .* \(No space left on device\)") as failed:
            Scene(data, tmp_path / "workspaces").start()
        assert "Traceback" not in str(failed.value)


def test_a_start_on_a_read_only_data_folder_says_so(tmp_path: Path) -> None:
    with disk(tmp_path / "data", "32m") as data:
        scene = Scene(data, tmp_path / "workspaces")
        scene.start().end(signal.SIGTERM)
        subprocess.run(["mount", "-o", "remount,ro", data], check=True)
        with pytest.raises(AssertionError, match=r"The data folder .* \(Read-only file system\)") as failed:
            scene.start()
        assert "Traceback" not in str(failed.value)


def test_data_that_became_read_only_is_said_and_still_shown(tmp_path: Path) -> None:
    scene = Scene(tmp_path / "data", tmp_path / "workspaces")
    person = scene.prepare()
    assert write_draft(person, 1).status == 200
    # Not the file that processes share memory by: there the kernel itself would end the server.
    files = [scene.data / "studio.sqlite3", scene.data / "studio.sqlite3-wal"]
    for file in files:
        freeze(file, True)
    try:
        refused = write_draft(person, 2)
        assert (refused.status, refused.headers["Retry-After"]) == (503, "5"), refused.body
        assert READ_ONLY in refused.body or NO_ANSWER in refused.body, refused.body
        for page in PAGES:
            assert person.get(page).status == 200, page
    finally:
        for file in files:
            freeze(file, False)
    assert write_draft(person, 3).status == 200
    assert "draft 3" in person.get(f"/prompts/{SET}/edit/").body
    assert scene.studio.end(signal.SIGTERM) == 0
    assert "Traceback" not in scene.studio.output
    assert scene.damage() == []


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_postgresql_started_anew_under_load_is_said_and_work_goes_on(tmp_path: Path, mode: str) -> None:
    with cluster() as own:
        scene = Scene(tmp_path / "data", tmp_path / "workspaces", own)
        person = scene.prepare()
        over, statuses, odd = threading.Event(), Counter[int](), list[object]()
        saved: list[str] = []

        def look() -> None:
            while not over.is_set():
                for page in PAGES:
                    answer = person.get(page)
                    statuses[answer.status] += 1
                    if answer.status == 503:
                        if NO_ANSWER not in answer.body or answer.headers["Retry-After"] != "5":
                            odd.append(answer)
                    elif answer.status != 200:
                        odd.append(answer)

        def write() -> None:
            while not over.is_set():
                word = f"word {len(saved) + statuses[503]}"
                status, detail, _ = save(scene, word)
                statuses[status] += 1
                if status == 201:
                    saved.append(word)
                elif (status, detail) != (503, NO_ANSWER):
                    odd.append((status, detail))

        with ThreadPoolExecutor(4) as threads:
            jobs = [threads.submit(job) for job in (look, look, look, write)]
            try:
                for _ in range(2):
                    wait_for_more(lambda: len(saved))
                    own.stop(mode)
                    wait_for_more(lambda: statuses[503])
                    own.start()
                    wait_for_more(lambda: len(saved))
            finally:
                over.set()
            for job in jobs:
                job.result()
        assert odd == [] and statuses[200] and statuses[503]
        stored = {
            row[0].split("\n")[0] for row in scene.rows("SELECT team_user_prompt FROM studio_promptversion")
        }
        assert set(saved) <= stored
        assert scene.studio.end(signal.SIGTERM) == 0
        assert "Traceback" not in scene.studio.output


def wait_for_more(count: Callable[[], int], seconds: float = 60) -> None:
    """Until there are ten more than now."""
    wanted, until = count() + 10, time.monotonic() + seconds
    while count() < wanted:
        assert time.monotonic() < until
        time.sleep(0.01)
