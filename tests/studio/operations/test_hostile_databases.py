"""A studio whose workspaces hold databases that were made to stop it: it goes on for everybody else, also
after a restart, and ends when it is told to."""

import http.cookiejar
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from statistics import median

import pytest

from tests.builder.leaderboard.hostile_databases import HOSTILE, make_heavy, make_hostile, make_sparse
from tests.builder.workspaces import play_small_workspace
from tests.process_memory import children
from tests.studio.editing import TEXTS
from tests.studio.operations.test_start import ROOT, eventually
from tests.studio_process import Studio

pytestmark = pytest.mark.slow

_PREPARE = """
import sys
from pathlib import Path
from django.contrib.auth.models import User
from studio.models import Workspace
from tests.studio.clock import NOW
from tests.studio.editing import make_context, make_set
hana = User.objects.create_superuser("hana", password="quite a long password")
make_set(hana)
make_context("context")
for folder in sorted(Path(%r).iterdir()):
    slug = folder.name.replace(" ", "-")
    Workspace.objects.create(slug=slug, name=folder.name, path=str(folder), created_at=NOW)
"""


class Person:
    """Somebody at a browser, signed in by name."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._cookies = http.cookiejar.CookieJar()
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self._cookies))
        form = self.get("/signin/")[1]
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', form)
        assert token
        sent = {"username": "hana", "password": "quite a long password", "csrfmiddlewaretoken": token[1]}
        assert self.post("/signin/", sent)[0] == 200

    def get(self, path: str) -> tuple[int, str]:
        return self._answer(urllib.request.Request(self._base + path))

    def post(self, path: str, sent: dict[str, str], **headers: str) -> tuple[int, str]:
        data = urllib.parse.urlencode(sent).encode()
        named = {"Referer": self._base + path, "Origin": self._base, **headers}
        return self._answer(urllib.request.Request(self._base + path, data, named))

    def preview(self) -> tuple[int, str]:
        token = next(cookie.value for cookie in self._cookies if cookie.name.endswith("csrf"))
        texts = {name: text for name, text in vars(TEXTS).items()}
        sent = {"base": "1", "revision": "0", "tab": "tab-a", "seq": "1", "message": "", "context": "context"}
        headers = {"HX-Request": "true", "X-CSRFToken": token or ""}
        return self.post("/prompts/set/preview/", {**sent, **texts}, **headers)

    def _answer(self, request: urllib.request.Request) -> tuple[int, str]:
        try:
            with self._opener.open(request, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()


@pytest.fixture
def workspaces(tmp_path: Path) -> Path:
    folder = tmp_path / "workspaces"
    folder.mkdir()
    return folder


def _fill(folder: Path) -> None:
    for name in HOSTILE:
        make_hostile(name, folder / name)
    make_sparse(folder / "sparse", 4 * 1024**3)
    make_heavy(folder / "heavy", 30_000_000)


@pytest.fixture
def start(tmp_path: Path, workspaces: Path) -> Iterator[Callable[[], Studio]]:
    started: list[Studio] = []

    def one() -> Studio:
        studio = Studio(tmp_path / "data", "--port", "0", "--no-demo", STUDIO_WORKSPACE_ROOTS=str(workspaces))
        if not started:
            command = [sys.executable, "manage.py", "shell", "-v", "0", "-c", _PREPARE % str(workspaces)]
            environment = {**studio.environment, "STUDIO_DATA": str(studio.data)}
            subprocess.run(command, cwd=ROOT, env=environment, check=True, timeout=60)
        started.append(studio)
        return studio

    yield one
    for studio in started:
        studio.process.kill()
        studio.process.wait()


def test_hostile_databases_stop_nobody(start: Callable[[], Studio], workspaces: Path, tmp_path: Path) -> None:
    _fill(workspaces)
    for _ in range(2):  # the second time after a restart, with what the first one left
        studio = start()
        person, other = Person(studio.base), Person(studio.base)
        names = sorted(folder.name.replace(" ", "-") for folder in workspaces.iterdir())

        def look(name: str, person: Person = person) -> None:
            person.get(f"/workspaces/{name}/")
            person.get(f"/workspaces/{name}/runs/")

        quiet = [_answered(studio, other) for _ in range(10)]
        before = _cpu(studio.process.pid)
        attackers = [threading.Thread(target=look, args=(name,)) for name in names]
        for attacker in attackers:
            attacker.start()
        meanwhile = []
        # A reader works on behind the pages until it meets its limit.
        while any(attacker.is_alive() for attacker in attackers) or _at_work(studio):
            meanwhile.append(_answered(studio, other))
        for attacker in attackers:
            attacker.join()
        print(f"/healthz and a preview: {_median(quiet)} alone, {_median(meanwhile)} meanwhile")
        for name, (_, reason) in HOSTILE.items():
            assert _is_said(person, name.replace(" ", "-"), reason.split("`")[1]), name
        assert _is_said(person, "sparse", "cannot be opened")
        assert _is_said(person, "heavy", "is quarantined")
        # Another question may be under way and meet its limit a moment later; then the page has the button.
        assert _is_said(person, "heavy", "Read the database again")
        assert _cpu(studio.process.pid) - before < 60, "the server itself evaluates nothing"
        assert _resident(studio.process.pid) < 600 * 1024**2
        assert _stored(tmp_path / "data" / "copies") < 600 * 1024**2
        assert studio.get("/healthz")[0] == 200
        assert studio.end(signal.SIGTERM) == 0


def test_it_ends_while_a_question_is_never_answered(start: Callable[[], Studio], workspaces: Path) -> None:
    shutil.copytree(play_small_workspace(workspaces.parent / "played"), workspaces / "played")
    studio = start()
    person = Person(studio.base)
    assert eventually(lambda: person.get("/workspaces/played/runs/")[0] == 200)
    (reader,) = _readers(studio)
    os.kill(reader, signal.SIGSTOP)
    asking = threading.Thread(target=lambda: _ask(person))
    asking.start()
    time.sleep(1)
    began = time.monotonic()
    assert studio.end(signal.SIGINT) == 0
    print(f"ended after {time.monotonic() - began:.1f} s")
    assert studio.output.endswith("Stopped.\n")
    asking.join(20)
    assert not Path(f"/proc/{reader}/exe").exists()


def _ask(person: Person) -> None:
    with suppress(OSError):
        person.get("/workspaces/played/runs/")


def _answered(studio: Studio, other: Person) -> tuple[float, float]:
    """That the server is well and another person's preview comes; the seconds that each took."""
    start = time.monotonic()
    assert studio.get("/healthz")[0] == 200
    between = time.monotonic()
    status, body = other.preview()
    assert status == 200 and "count the stars" in body
    return between - start, time.monotonic() - between


def _median(samples: list[tuple[float, float]]) -> str:
    return " and ".join(f"{1000 * median(side):.0f} ms" for side in zip(*samples, strict=True))


def _is_said(person: Person, name: str, text: str) -> bool:
    return eventually(lambda: text in person.get(f"/workspaces/{name}/")[1], seconds=120)


def _at_work(studio: Studio) -> bool:
    """Whether a reader process is busy."""
    readers = _readers(studio)
    before = [_cpu(pid) for pid in readers]
    time.sleep(0.1)
    return [_cpu(pid) for pid in readers] != before


def _readers(studio: Studio) -> list[int]:
    """The processes that are forked from the one that has loaded DuckDB."""
    return [pid for server in children(studio.process.pid) if _is_reader(server) for pid in children(server)]


def _is_reader(pid: int) -> bool:
    try:
        return b"leaderboard/worker.py" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def _cpu(pid: int) -> float:
    """Seconds of CPU that a process has used."""
    try:
        numbers = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")


def _resident(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _stored(folder: Path) -> int:
    return sum(file.stat().st_blocks * 512 for file in folder.rglob("*") if file.is_file())
