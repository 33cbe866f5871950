"""What a preview costs beside a bare view with the same middleware, session and one query.

CPU time of the server and of the jail's workers together. Run with ``-s`` for the ratios.
"""

import io
import itertools
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.core.handlers.wsgi import WSGIHandler
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.test import override_settings
from django.urls import path
from pytest_benchmark.fixture import BenchmarkFixture
from pytest_django.plugin import DjangoDbBlocker

from studio.access.sessions import SessionStore
from studio.home.demo import load_demo
from studio.models import PromptSet
from studio.shell.jail import pool
from studio.urls import urlpatterns as studio_urls
from tests.builder.jail.attacks import GREEDY

ROUNDS = 300
CSRF = "a" * 32
PREVIEW = "/prompts/research-team/preview/"


def bare(request: HttpRequest) -> HttpResponse:
    """One query and a line of text."""
    return HttpResponse(PromptSet.objects.get(slug="research-team").name)


urlpatterns = [*studio_urls, path("bare/", bare)]

Ask = Callable[[dict[str, Any]], int]


@pytest.fixture(scope="module")
def db(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """In place of pytest-django's: rows are committed, and requests make their own transactions."""
    with django_db_blocker.unblock():
        yield


@pytest.fixture(scope="module")
def people(db: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """The demo, with six people signed in: their session keys."""
    with override_settings(ROOT_URLCONF=__name__):
        load_demo(tmp_path_factory.mktemp("data"))
        yield [_session(User.objects.create_user(f"person-{number}")) for number in range(6)]


def _session(person: User) -> str:
    store = SessionStore()
    store[SESSION_KEY] = str(person.pk)
    store[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    store[HASH_SESSION_KEY] = person.get_session_auth_hash()
    store.save()
    return str(store.session_key)


def form(team: str | None = None) -> dict[str, Any]:
    """What the editor sends at a pause: the template that is shown, and where."""
    saved = PromptSet.objects.get(slug="research-team").latest
    assert saved
    where = {"kind": "team", "context": "round-5-first", "round": 5, "tab": "t", "seq": 1}
    text = saved.team_user_prompt if team is None else team
    return {"base": saved.number, "revision": 0, "message": "", "team_user_prompt": text, **where}


def environ(url: str, data: dict[str, Any], session: str) -> dict[str, Any]:
    body = urlencode(data).encode()
    return {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": url,
        "SCRIPT_NAME": "",
        "QUERY_STRING": "",
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "80",
        "HTTP_HOST": "127.0.0.1",
        "HTTP_COOKIE": f"{settings.SESSION_COOKIE_NAME}={session}; {settings.CSRF_COOKIE_NAME}={CSRF}",
        "HTTP_X_CSRFTOKEN": CSRF,
        "HTTP_HX_REQUEST": "true",
        "CONTENT_TYPE": "application/x-www-form-urlencoded",
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": io.BytesIO(body),
        "wsgi.url_scheme": "http",
        "wsgi.errors": io.StringIO(),
        "wsgi.version": (1, 0),
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }


class Server:
    """The application without a socket."""

    def __init__(self) -> None:
        self.handler = WSGIHandler()

    def ask(self, request: dict[str, Any]) -> int:
        status = ""

        def start(line: str, headers: Any, exc_info: Any = None) -> Any:
            nonlocal status
            status = line

        answer = self.handler(request, start)
        for _ in answer:
            pass
        # Not close(): it would end the database connection, which a server's thread keeps.
        return int(status[:3])


def cpu() -> float:
    return time.process_time() + pool().stats().worker_cpu_seconds


def kinds(session: str) -> dict[str, Callable[[], dict[str, Any]]]:
    """A request of each kind, made anew for every turn."""
    saved = form()["team_user_prompt"]
    changed = f"{saved}\n前回の評価を読み、低かった観点を一つ選んで直してください。"
    numbers = itertools.count()
    return {
        "bare": lambda: environ("/bare/", form(saved), session),
        "known, as saved": lambda: environ(PREVIEW, form(saved), session),
        "known, changed": lambda: environ(PREVIEW, form(changed), session),
        "new": lambda: environ(PREVIEW, form(f"{saved}\n変更 {next(numbers)}"), session),
    }


def test_known_and_new_text_against_a_bare_view(benchmark: BenchmarkFixture, people: list[str]) -> None:
    server, requests = Server(), kinds(people[0])
    spent: dict[str, list[float]] = {name: [] for name in requests}
    # They take turns, so that a busy machine is busy for all of them.
    for turn in range(ROUNDS + 10):
        for name, make in requests.items():
            request = make()
            began = cpu()
            assert server.ask(request) == 200
            if turn >= 10:
                spent[name].append((cpu() - began) * 1000)
    floor = statistics.median(spent["bare"])
    print("\nCPU of a request, server and worker together: median, mean")
    for name, times in spent.items():
        median = statistics.median(times)
        print(
            f"  {name:18} {median:6.2f} ms   {median / floor:.2f} × bare"
            f"   (mean {statistics.mean(times) / statistics.mean(spent['bare']):.2f} ×)"
        )
    benchmark.pedantic(server.ask, setup=lambda: ((requests["new"](),), {}), rounds=50)


def test_four_people_while_two_attack(benchmark: BenchmarkFixture, people: list[str]) -> None:
    quiet: list[float] = []
    beside: list[float] = []
    for _ in range(3):  # in turns: a machine that is busy with something else is busy for both
        quiet += in_parallel(people[:4], ())
        beside += in_parallel(people[:4], people[4:])
    print("\nfour people previewing, p50 / p95 by the clock")
    for name, times in (("nobody else", quiet), ("two attackers", beside)):
        print(f"  {name:14} {statistics.median(times):6.2f} / {p95(times):6.2f} ms")
    print(f"  p95 ratio {p95(beside) / p95(quiet):.2f}")
    server = Server()
    again = form()
    benchmark.pedantic(
        server.ask,
        setup=lambda: ((environ(PREVIEW, again, people[0]),), {}),
        rounds=20,
    )


def p95(times: list[float]) -> float:
    return sorted(times)[int(len(times) * 0.95)]


def in_parallel(normal: list[str], attackers: list[str] | tuple[()], seconds: float = 5.0) -> list[float]:
    """Each person previews a text, looks at it for a moment, and goes on."""
    base = form()["team_user_prompt"]
    times: list[float] = []
    over = threading.Event()

    def look(session: str) -> None:
        server = Server()
        for number in itertools.count():
            if over.is_set():
                break
            request = environ(PREVIEW, form(f"{base}\n{session} {number}"), session)
            began = time.perf_counter()
            assert server.ask(request) == 200
            times.append((time.perf_counter() - began) * 1000)
            time.sleep(0.05)
        connection.close()

    def attack(session: str) -> None:
        server = Server()
        for text, _ in itertools.cycle(GREEDY.values()):
            if over.is_set():
                break
            server.ask(environ(PREVIEW, form(text), session))
            time.sleep(0.05)
        connection.close()

    threads = [threading.Thread(target=look, args=(each,)) for each in normal]
    threads += [threading.Thread(target=attack, args=(each,)) for each in attackers]
    for thread in threads:
        thread.start()
    time.sleep(seconds)
    over.set()
    for thread in threads:
        thread.join()
    return times
