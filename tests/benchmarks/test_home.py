"""What the home page costs beside a bare view with the same middleware and session.

CPU time of this process; the demo, once it is examined. Run with ``-s`` for the ratio.
"""

import statistics
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path
from pytest_benchmark.fixture import BenchmarkFixture

from studio.home.demo import load_demo
from studio.operations.watching import Watch
from studio.urls import urlpatterns as of_the_studio

ROUNDS = 30


def bare(request: HttpRequest) -> HttpResponse:
    return HttpResponse(str(request.user))


urlpatterns = [path("bare/", bare), *of_the_studio]


def cpu(*actions: Callable[[], object]) -> list[float]:
    """Milliseconds of each; they take turns, so that a busy machine is busy for all of them."""
    found: list[list[float]] = [[] for _ in actions]
    for turn in range(ROUNDS + 2):
        for action, times in zip(actions, found, strict=True):
            began = time.process_time()
            action()
            if turn >= 2:
                times.append(time.process_time() - began)
    return [statistics.median(times) * 1000 for times in found]


@pytest.mark.urls(__name__)
def test_home(benchmark: BenchmarkFixture, db: None, client: Client, tmp_path: Path) -> None:
    load_demo(tmp_path)
    Watch().look()
    client.force_login(User.objects.create_user("yuki"))

    def get(address: str) -> None:
        assert client.get(address).status_code == 200

    home, least = cpu(lambda: get("/"), lambda: get("/bare/"))
    print(f"\nhome {home:.1f} ms, bare view {least:.1f} ms, ratio {home / least:.1f}", end="")
    benchmark(lambda: get("/"))
