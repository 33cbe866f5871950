"""A studio as people start it, and people who use it over the network: some of them attack, one works on."""

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.parse import urlencode
from uuid import uuid4

from tests.process_memory import descendants
from tests.studio_process import ROOT, Studio

PASSWORD = "correct horse battery"
SET = "research-team"
TABLES = "".join(f"[t{number}]\n" for number in range(60_000)).encode()
PARAMETERS = ",".join(f"a{number}" for number in range(30))
MANY_PROBLEMS = "{% macro m(" + PARAMETERS + ") %}{% endmacro %}\n" + "{{ m() }}" * 900
OTHER_TEXTS = {"evaluator_user_prompt": "e", "judgment_user_prompt": "j"}
_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="(\w+)"')


@dataclass(frozen=True)
class Answer:
    status: int
    body: str
    headers: Mapping[str, str]


class Person:
    """Somebody with a browser of their own, signed in."""

    def __init__(self, studio: Studio, name: str) -> None:
        self.studio = studio
        self._browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        self.token = _TOKEN.findall(self.get("/signin/").body)[0]
        self.post("/signin/", {"username": name, "password": PASSWORD, "next": "/"})
        self.token = _TOKEN.findall(self.get("/prompts/").body)[0]

    def get(self, path: str) -> Answer:
        return self._ask(urllib.request.Request(self.studio.base + path))

    def post(self, path: str, fields: Mapping[str, object], *, htmx: bool = False) -> Answer:
        data = urlencode({**fields, "csrfmiddlewaretoken": self.token}).encode()
        headers = {"HX-Request": "true"} if htmx else {}
        return self._ask(urllib.request.Request(self.studio.base + path, data, headers))

    def upload(self, path: str, name: str, data: bytes) -> Answer:
        mark = uuid4().hex
        body = (
            f'--{mark}\r\nContent-Disposition: form-data; name="csrfmiddlewaretoken"\r\n\r\n{self.token}\r\n'
            f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
        ).encode()
        headers = {"Content-Type": f"multipart/form-data; boundary={mark}"}
        request = urllib.request.Request(
            self.studio.base + path, body + data + f"\r\n--{mark}--\r\n".encode(), headers
        )
        return self._ask(request)

    def preview(self, text: str = "Task:\n{{ user_prompt }}\n") -> Answer:
        """As the editor asks for it, of a text that nobody has asked for before."""
        fields = {"kind": "team", "tab": "t", "seq": 1, "revision": 0, "base": 1, "message": ""}
        texts = {"team_user_prompt": f"{text}{{# {uuid4()} #}}"} | OTHER_TEXTS
        return self.post(f"/prompts/{SET}/preview/", fields | texts, htmx=True)

    def _ask(self, request: urllib.request.Request) -> Answer:
        try:
            with self._browser.open(request, timeout=120) as answer:
                return Answer(answer.status, answer.read().decode(), dict(answer.headers))
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, error.read().decode(), dict(error.headers))


def start(data: Path) -> Studio:
    """With the demo and three accounts."""
    studio = Studio(data, "--port", "0")
    add_accounts(studio, ["anna", "ben", "carla"])
    return studio


def add_accounts(studio: Studio, names: Sequence[str]) -> None:
    code = (
        "import json, sys; from django.contrib.auth.models import User\n"
        f"for name in json.loads({json.dumps(json.dumps(list(names)))}):\n"
        f"    User.objects.create_superuser(name, password={PASSWORD!r})"
    )
    command = [sys.executable, "manage.py", "shell", "-c", code]
    subprocess.run(command, cwd=ROOT, env={**studio.environment, "STUDIO_DATA": str(studio.data)}, check=True)


@dataclass
class Watch:
    """How long somebody else's health checks and previews took, in seconds."""

    health: list[float]
    previews: list[float]

    def add(self, other: "Watch") -> None:
        self.health += other.health
        self.previews += other.previews


@dataclass(frozen=True)
class Used:
    """Bytes of memory and disk, and how many processes beside the server."""

    server: int = 0
    all: int = 0
    disk: int = 0
    processes: int = 0


class Usage:
    """What a studio takes; ``peak`` is the most that was seen of each."""

    def __init__(self, studio: Studio) -> None:
        self._studio = studio
        self._looks = 0
        self.peak = Used()
        self.look()

    def look(self) -> None:
        server = _resident(self._studio.process.pid)
        _, *others = map(_resident, descendants(self._studio.process.pid))
        # To go through all files takes longer than what is measured beside.
        disk = self.peak.disk if self._looks % 20 else disk_of(self._studio.data)
        self._looks += 1
        seen = Used(server, server + sum(others), disk, len(others))
        pairs = zip(astuple(self.peak), astuple(seen), strict=True)
        self.peak = Used(*(max(pair) for pair in pairs))


def _resident(pid: int) -> int:
    """Bytes of its own: the pages of libraries, which all have in common, are left out."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()
    except OSError:
        return 0
    return (int(pages[1]) - int(pages[2])) * os.sysconf("SC_PAGE_SIZE")


def watch(
    person: Person,
    under_way: Callable[[], bool],
    at_least: int = 3,
    usage: Usage | None = None,
    pause: float = 0.0,
) -> Watch:
    """Ask again and again while something is under way; every answer must be the usual one."""
    seen = Watch([], [])
    while under_way() or len(seen.previews) < at_least:
        if usage:
            usage.look()
        before = time.perf_counter()
        assert person.studio.get("/healthz")[0] == 200
        between = time.perf_counter()
        answer = person.preview()
        assert answer.status == 200 and 'data-state="text"' in answer.body, answer.body[:500]
        seen.health.append(between - before)
        seen.previews.append(time.perf_counter() - between)
        if len(seen.previews) >= 400:
            break
        time.sleep(pause)
    return seen


def watch_during(
    person: Person, attack: Callable[[], Answer], at_least: int = 5
) -> tuple[Watch, list[Answer]]:
    """Watch while somebody attacks, again and again until the last of these answers has come."""
    over = threading.Event()

    def attack_on() -> list[Answer]:
        answers = [attack()]
        while not over.is_set():
            answers.append(attack())
        return answers

    with ThreadPoolExecutor(1) as threads:
        attacks = threads.submit(attack_on)
        try:
            seen = watch(person, lambda: False, at_least)
        finally:
            over.set()
        return seen, attacks.result()


@contextmanager
def half_sent_headers(studio: Studio, count: int = 110) -> Iterator[list[socket.socket]]:
    address = studio.base.removeprefix("http://").split(":")
    held = [socket.create_connection((address[0], int(address[1]))) for _ in range(count)]
    try:
        for connection in held:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: ")
        yield held
    finally:
        for connection in held:
            connection.close()


def still_open(connections: Sequence[socket.socket]) -> int:
    """How many of them the studio has not closed."""
    count = 0
    for connection in connections:
        connection.setblocking(False)
        try:
            count += bool(connection.recv(1))
        except BlockingIOError:
            count += 1
        except OSError:
            pass
    return count


@contextmanager
def uploads(people: Sequence[Person], each: int = 10) -> Iterator[tuple[Callable[[], bool], list[Answer]]]:
    """So many uploads of each person at once, each with a look at what it would import."""
    answers: list[Answer] = []
    lock = threading.Lock()

    def upload(person: Person) -> None:
        answer = person.upload("/prompts/import/", "many.toml", TABLES)
        with lock:
            answers.append(answer)

    with ThreadPoolExecutor(len(people) * each) as threads:
        jobs = [threads.submit(upload, person) for person in people for _ in range(each)]
        yield lambda: not all(job.done() for job in jobs), answers
        for job in jobs:
            job.result()


def most_memory_of(studio: Studio) -> int:
    """Bytes that the server held at most since it was started, its workers left out."""
    status = Path(f"/proc/{studio.process.pid}/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def disk_of(folder: Path) -> int:
    size = 0
    for path, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                size += os.lstat(os.path.join(path, name)).st_blocks * 512
    return size
