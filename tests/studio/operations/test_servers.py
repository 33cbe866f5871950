"""Several servers of one database behave as one: two on PostgreSQL behind nginx, and two processes on SQLite.

The long form: `manage.py test -m slow --thorough tests/studio/operations/test_servers.py`.
"""

import hashlib
import json
import os
import re
import secrets
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from http.cookiejar import CookieJar
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import pytest

from builder.simulation import Run, simulate
from tests.fuzzing import share_of
from tests.nginx import ANSWERED, PICKED, Proxy, free_port, nginx
from tests.postgresql_cluster import cluster
from tests.process_memory import children
from tests.studio.operations.test_start import eventually
from tests.studio_process import ROOT, Studio

pytestmark = pytest.mark.slow

PASSWORD = "correct horse battery staple"
TEAM = "Do: {{{{ user_prompt }}}}\n{{# version {0} #}}Round {{{{ round_number }}}}.\n"
SEED = (
    f"TEAM = {TEAM!r}\n"
    + """
import json, sys
from datetime import timedelta
from django.contrib.auth.models import User
from django.utils import timezone
from studio.access.tokens import ApiToken
from studio.access.webhooks import WebhookEndpoint
from studio.models import Label, PromptSet, Workspace
from studio.prompts.texts import Templates

now, password, workspace = timezone.now(), sys.argv[1], sys.argv[2]
anna, ben = (User.objects.create_superuser(name, password=password) for name in ("anna", "ben"))
prompts = PromptSet.objects.create(slug="prompts", name="Prompts", created_at=now, changed_at=now)
for number in (1, 2, 3):
    texts = Templates(TEAM.format(number), "{{ submission }}", "j")
    version = prompts.save_version(texts, base=number - 1, message="m", author=anna, at=now)
    if number == 1:
        label = Label.objects.move("production", version, by=anna, at=now)
Workspace.objects.create(
    slug="shared", name="Shared", path=workspace, created_at=now,
    label=Label.objects.get(prompt_set=prompts, name="production"),
)
# Nobody is there: what it is told stays in the outbox.
WebhookEndpoint.objects.create(name="n", url="https://192.0.2.1/", events=["run.examined"])
_, key = ApiToken.objects.make(anna, "t", scopes=["read", "write", "release"], days=1, at=now)
print(key)
"""
)


@dataclass
class Answer:
    status: int
    body: str
    headers: Mapping[str, str]

    @property
    def server(self) -> str:
        return self.headers.get(ANSWERED, "")

    def json(self) -> Any:
        return json.loads(self.body)


class Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: object) -> None:
        """Redirects are answers like others: each request is one of the test's."""


class Database:
    """The database itself, past all servers."""

    def __init__(self, studio: Studio) -> None:
        self._ask: Any
        if url := studio.environment.get("DATABASE_URL"):
            import psycopg  # the studio's start has installed it

            self._ask = psycopg.connect(url, autocommit=True).execute
        else:
            path = f"{(studio.data / 'studio.sqlite3').as_uri()}?mode=ro"
            self._ask = sqlite3.connect(path, uri=True, isolation_level=None).execute

    def rows(self, question: str) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = self._ask(question).fetchall()
        return found

    def examined(self) -> list[str]:
        return sorted(row[0] for row in self.rows("SELECT execution_id FROM studio_runresult"))

    def told(self) -> list[str]:
        """The runs that webhooks were told of."""
        bodies = self.rows("SELECT body FROM studio_webhookdelivery WHERE event = 'run.examined'")
        return sorted(json.loads(body)["data"]["execution"] for (body,) in bodies)

    def examiner(self) -> int | None:
        """The process that examines a workspace."""
        found = self.rows("SELECT who FROM studio_workclaim WHERE what LIKE 'examine %'")
        return int(found[0][0].split()[1]) if found else None

    def wait_for_examiner(self) -> int:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if examiner := self.examiner():
                return examiner
        raise AssertionError("nobody examines anything")


@dataclass
class Site:
    """What people reach; behind it some servers. ``at`` names the one to answer, where one can choose."""

    base: str
    studios: list[Studio]
    workspace: Path
    proxy: Proxy | None = None
    key: str = ""

    @property
    def apart(self) -> bool:
        return self.proxy is not None

    def person(self, name: str = "") -> "Person":
        return Person(self, name)

    def api(self, method: str, path: str, body: object = None, at: int | None = None) -> Answer:
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.base}/api/v1/{path}", data, headers, method=method)
        return self.ask(request, at, CookieJar())

    def ask(self, request: urllib.request.Request, at: int | None, cookies: CookieJar) -> Answer:
        if at is not None and self.apart:
            request.add_header(PICKED, str(at))
        request.add_header("Referer", self.base + "/")
        https = [urllib.request.HTTPSHandler(context=self.proxy.trust)] if self.proxy else []
        opener = urllib.request.build_opener(Stay, urllib.request.HTTPCookieProcessor(cookies), *https)
        try:
            with opener.open(request, timeout=60) as answer:
                return Answer(answer.status, answer.read().decode(), answer.headers)
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, error.read().decode(), error.headers)

    def manage(self, *words: str) -> str:
        studio = self.studios[0]
        done = subprocess.run(
            [sys.executable, "manage.py", *words],
            cwd=ROOT,
            env={**studio.environment, "STUDIO_DATA": str(studio.data)},
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        return done.stdout

    @cached_property
    def database(self) -> Database:
        return Database(self.studios[0])


@dataclass
class Person:
    """A browser; signed in where it has a name."""

    site: Site
    name: str
    cookies: CookieJar = field(default_factory=CookieJar)
    token: str = ""

    def __post_init__(self) -> None:
        if self.name:
            self.read_token("/signin/", at=0)
            fields = {"username": self.name, "password": PASSWORD, "next": "/"}
            assert self.post("/signin/", fields, at=0).status == 302
            self.read_token("/account/", at=1)

    def read_token(self, path: str, at: int) -> None:
        page = self.get(path, at=at)
        found = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.body)
        assert found, page.body[:2000]
        self.token = found[1]

    def get(self, path: str, at: int | None = None) -> Answer:
        return self.site.ask(urllib.request.Request(self.site.base + path), at, self.cookies)

    def post(self, path: str, fields: Mapping[str, object], at: int | None = None) -> Answer:
        data = urlencode({**fields, "csrfmiddlewaretoken": self.token}).encode()
        return self.site.ask(urllib.request.Request(self.site.base + path, data), at, self.cookies)


def seeded(site: Site) -> Site:
    code = f"import sys; sys.argv = ['', {PASSWORD!r}, {str(site.workspace)!r}]\n{SEED}"
    site.key = site.manage("shell", "--no-imports", "-c", code).strip()
    return site


def runs(number: int, begun: datetime) -> list[Run]:
    texts = {"team": TEAM.format(1), "evaluator": "{{ submission }}", "judgment": "j"}
    return [
        Run("A task", begun + timedelta(minutes=minute), templates=texts, dice=f"{begun} {minute}")  # type: ignore[arg-type]
        for minute in range(number)
    ]


class _Starter(ExitStack):
    """Studios and what goes with them, ended in the end."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.workspace = folder / "workspaces" / "shared"
        simulate(self.workspace, runs(3, datetime.now(UTC) - timedelta(days=2)))

    def studio(self, data: Path, *options: str, **environ: str) -> Studio:
        studio = Studio(
            data, "--no-demo", *options, STUDIO_WORKSPACE_ROOTS=str(self.workspace.parent), **environ
        )
        self.callback(studio.process.wait)
        self.callback(studio.process.kill)
        return studio


@contextmanager
def two_processes(folder: Path) -> Iterator[Site]:
    with _Starter(folder) as start:
        studio = start.studio(folder / "data", "--workers", "2", "--port", "0")
        yield seeded(Site(studio.base, [studio], start.workspace))


@contextmanager
def two_servers(folder: Path) -> Iterator[Site]:
    """As on two machines: nothing but the database, the key and the workspaces is shared."""
    with _Starter(folder) as start:
        port, ports = free_port(), (free_port(), free_port())
        shared = {
            "DATABASE_URL": start.enter_context(cluster()).url,
            "STUDIO_SECRET_KEY": secrets.token_hex(40),
            "STUDIO_ORIGINS": f"https://localhost:{port}",
        }
        # Both at once, on an empty database: one migrates, the other one waits.
        with ThreadPoolExecutor() as pool:
            studios = list(
                pool.map(lambda one: start.studio(folder / f"{one}", "--port", f"{one}", **shared), ports)
            )
        proxy = start.enter_context(nginx(folder, port, ports))
        yield seeded(Site(proxy.base, studios, start.workspace, proxy))


def at_once(*calls: Callable[[], Answer]) -> list[Answer]:
    answers: dict[int, Answer] = {}

    def call(number: int) -> None:
        answers[number] = calls[number]()

    threads = [threading.Thread(target=call, args=[number]) for number in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [answers[number] for number in range(len(calls))]


def the_proxy_takes_turns_and_one_session_is_good_at_each_server(site: Site) -> None:
    anna = site.person("anna")
    answers = [anna.get("/prompts/") for _ in range(6)]
    assert [answer.status for answer in answers] == [200] * 6
    assert all("anna" in answer.body for answer in answers)
    if site.apart:
        assert len({answer.server for answer in answers}) == 2


def a_link_is_good_once_at_any_server(site: Site) -> None:
    path = site.manage("link").strip().removeprefix(site.base)
    first, second = site.person(), site.person()
    answers = at_once(lambda: first.get(path, at=0), lambda: second.get(path, at=1))
    assert sorted(answer.status for answer in answers) == [302, 410]
    inside = first if answers[0].status == 302 else second
    assert [inside.get("/prompts/", at=at).status for at in (0, 1)] == [200, 200]


def signing_out_everywhere_holds_at_once_at_each_server(site: Site) -> None:
    here, there = site.person("anna"), site.person("anna")
    assert there.get("/prompts/", at=0).status == there.get("/prompts/", at=1).status == 200
    assert here.post("/account/sessions/end/", {}, at=1).status == 302
    for at in (0, 1):
        assert (there.get("/prompts/", at=at).status, here.get("/prompts/", at=at).status) == (302, 200)


def texts(words: str) -> dict[str, str]:
    return {
        "team_user_prompt": f"{{{{ user_prompt }}}} {words}",
        "evaluator_user_prompt": "{{ submission }}",
        "judgment_user_prompt": "j",
    }


def newest(site: Site) -> int:
    number: int = site.api("GET", "sets/prompts", at=0).json()["latest"]
    return number


def a_draft_is_the_same_at_each_server_and_two_tabs_conflict(site: Site) -> None:
    anna = site.person("anna")
    base, words = newest(site), uuid4().hex
    draft = {"base": base, "revision": 0, "tab": "one", "seq": 1, "message": "m"}
    kept = anna.post("/prompts/prompts/draft/", draft | texts(words), at=0)
    assert kept.status == 200, kept.body
    assert words in anna.get("/prompts/prompts/edit/", at=1).body
    revision = kept.json()["revision"]
    other = draft | {"tab": "two", "revision": revision}
    assert anna.post("/prompts/prompts/draft/", other | texts("from B"), at=1).status == 200
    stale = draft | {"revision": revision, "seq": 2}
    conflict = anna.post("/prompts/prompts/draft/", stale | texts("late"), at=0)
    assert conflict.status == 409
    both = anna.get(conflict.json()["conflict_url"], at=1).body
    assert "from B" in both and "late" in both
    assert anna.post("/prompts/prompts/discard/", {"revision": revision + 1}, at=1).status in (200, 302)


def of_two_saves_of_one_version_one_is_the_next_and_one_a_conflict(site: Site) -> None:
    for _ in range(share_of(50)):
        base = newest(site)

        def save(at: int, base: int = base) -> Answer:
            body = {"base": base, "message": "m", "texts": texts(uuid4().hex)}
            return site.api("POST", "sets/prompts/versions", body, at=at)

        answers = at_once(lambda: save(0), lambda: save(1))
        assert sorted(answer.status for answer in answers) == [201, 409], [each.body for each in answers]
        assert newest(site) == base + 1


def a_label_that_moves_at_one_server_shows_at_once_at_the_other(site: Site) -> None:
    anna = site.person("anna")
    pages = ("/prompts/prompts/", "/workspaces/", "/workspaces/shared/", "/")
    numbers = (2, 3, 1) * share_of(10)
    for at, number in enumerate(numbers):
        for page in pages:  # whatever the other server keeps, it has now
            anna.get(page, at=1 - at % 2)
        moved = site.api("PUT", "sets/prompts/labels/production", {"version": number}, at=at % 2)
        assert moved.status == 200, moved.body
        there = 1 - at % 2
        fetched = site.api("GET", "sets/prompts/versions/production", at=there).json()
        state = site.api("GET", "workspaces/shared", at=there).json()["files"][0]
        assert fetched["number"] == number
        # The file is that of version 1.
        assert state["in_step"] is (number == 1)
        assert ("Needs attention" in anna.get("/", at=there).body) is (number != 1)
        assert f"v{number}" in anna.get("/workspaces/shared/", at=there).body


def both_servers_export_to_one_file_and_no_write_is_lost_or_torn(site: Site) -> None:
    rounds = share_of(40)

    def export(at: int, version: int) -> Answer:
        plan = site.api(
            "POST", "exports/plan", {"set": "prompts", "version": str(version), "files": ["shared"]}, at=at
        )
        (target,) = plan.json()["targets"]
        file = {"key": target["key"], "sha256": target["sha256"], "overwrite": True}
        return site.api("POST", "exports", {"set": "prompts", "version": version, "files": [file]}, at=at)

    outcomes: Counter[str] = Counter()
    for number in range(rounds):
        answers = at_once(
            lambda n=number: export(0, 1 + n % 3),  # type: ignore[misc]
            lambda n=number: export(1, 1 + (n + 1) % 3),  # type: ignore[misc]
        )
        assert {answer.status for answer in answers} <= {200, 201}, [answer.body for answer in answers]
        outcomes.update(answer.json()["receipts"][0]["outcome"] for answer in answers)
    assert outcomes["written"] >= rounds - 1 and set(outcomes) <= {"written", "failed", "unchanged"}
    written = site.database.rows(
        "SELECT hash_before, hash_after FROM studio_export e JOIN studio_exportreceipt ON export_id = e.id"
        " WHERE outcome = 'written' ORDER BY e.id"
    )
    # Each began with what the one before it had written: nobody wrote over what they had not seen.
    assert all(before == earlier for (_, earlier), (before, _) in pairwise(written))
    file = site.workspace / "configs" / "prompt_builder.toml"
    assert hashlib.sha256(file.read_bytes()).hexdigest() == written[-1][1]


def each_run_is_examined_once_and_shown_by_all(site: Site) -> None:
    simulate(site.workspace, runs(2, datetime.now(UTC) - timedelta(days=1)))
    assert eventually(lambda: len(site.database.examined()) == 5, 60)
    assert site.database.examined() == site.database.told()
    anna = site.person("anna")
    for at in (0, 1):
        assert eventually(lambda at=at: anna.get("/workspaces/shared/runs/", at=at).body.count("A task") >= 5)  # type: ignore[misc]


def a_run_under_way_is_followed_through_any_server(site: Site) -> None:
    begun = datetime.now(UTC) - timedelta(minutes=2)
    (execution,) = simulate(site.workspace, [Run("Under way", begun, state="running", dice="live")])
    anna = site.person("anna")
    page = f"/workspaces/shared/runs/{execution}/"
    for at in (0, 1):
        assert eventually(lambda at=at: anna.get(page, at=at).status == 200)  # type: ignore[misc]
    request = urllib.request.Request(site.base + page, headers={"HX-Request": "true", "HX-Target": "live"})
    answers = [site.ask(request, at, anna.cookies) for at in (0, 1)]
    assert [answer.status for answer in answers] == [200, 200]
    assert "hx-get" in answers[0].body


def the_work_of_a_server_that_is_killed_is_taken_over(site: Site) -> None:
    """Comes last: one server is not there any more."""
    before = set(site.database.examined())
    simulate(site.workspace, runs(60, datetime.now(UTC) - timedelta(hours=12)))
    holder = site.database.wait_for_examiner()
    os.kill(holder, signal.SIGKILL)
    killed_at = time.monotonic()
    assert eventually(lambda: site.database.examiner() not in (None, holder), 60), "nobody took it over"
    print(f"\ntaken over after {time.monotonic() - killed_at:.1f} s")
    assert eventually(lambda: len(site.database.examined()) >= len(before) + 60, 90)
    examined, told = site.database.examined(), site.database.told()
    assert sorted(set(told)) == sorted(told) and set(told) <= set(examined)
    anna_sees = [site.api("GET", "sets/prompts").status for _ in range(6)]
    assert anna_sees == [200] * 6
    if not site.apart:
        assert eventually(lambda: len(children(site.studios[0].process.pid)) == 3)


@pytest.mark.parametrize("start", [two_servers, two_processes])
def test_several_servers_behave_as_one(
    start: Callable[[Path], AbstractContextManager[Site]], tmp_path: Path
) -> None:
    with start(tmp_path) as site:
        for holds in (
            the_proxy_takes_turns_and_one_session_is_good_at_each_server,
            a_link_is_good_once_at_any_server,
            signing_out_everywhere_holds_at_once_at_each_server,
            a_draft_is_the_same_at_each_server_and_two_tabs_conflict,
            of_two_saves_of_one_version_one_is_the_next_and_one_a_conflict,
            a_label_that_moves_at_one_server_shows_at_once_at_the_other,
            both_servers_export_to_one_file_and_no_write_is_lost_or_torn,
            each_run_is_examined_once_and_shown_by_all,
            a_run_under_way_is_followed_through_any_server,
            the_work_of_a_server_that_is_killed_is_taken_over,
        ):
            holds(site)
        for studio in site.studios:
            assert "Traceback" not in studio.output, studio.output
