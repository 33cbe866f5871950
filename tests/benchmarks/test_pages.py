"""What the most visited pages cost a real server: CPU of its process, and time, at 500 sets × 20 versions.

Run with ``-s`` for the table.
"""

import http.client
import statistics
import time
from urllib.parse import urlsplit

import pytest

from tests.benchmarks.test_api import REQUESTS, cpu, served
from tests.studio_process import Studio

__all__ = ["served"]  # the fixture
pytestmark = pytest.mark.slow


def test_pages(served: tuple[Studio, str]) -> None:
    studio, _key = served
    link = urlsplit(studio.fresh_link())
    connection = http.client.HTTPConnection(link.netloc)
    connection.request("GET", link.path)
    answer = connection.getresponse()
    answer.read()
    cookies = [value.partition(";")[0] for name, value in answer.getheaders() if name == "Set-Cookie"]

    def get(path: str) -> int:
        connection.request("GET", path, headers={"Cookie": "; ".join(cookies)})
        answer = connection.getresponse()
        content = answer.read()
        assert answer.status == 200, content
        return len(content)

    rows = {
        "list of 100 sets": lambda number: "/prompts/",
        "a set": lambda number: f"/prompts/bench-{number:03}/",
        "a version": lambda number: f"/prompts/bench-{number:03}/versions/{1 + number % 20}/",
        "home": lambda number: "/",
        "help": lambda number: "/help/",
    }
    print(f"\n{'page':24} {'bytes':>8} {'p50 ms':>8} {'p95 ms':>8} {'CPU ms':>8}")
    for name, address in rows.items():
        for number in range(20):
            get(address(number))
        took, sizes, before = [], [], cpu(studio.process.pid)
        for number in range(REQUESTS):
            start = time.perf_counter()
            sizes.append(get(address(number)))
            took.append((time.perf_counter() - start) * 1000)
        spent = (cpu(studio.process.pid) - before) / REQUESTS
        p95 = statistics.quantiles(took, n=20)[-1]
        size = statistics.median(sizes)
        print(f"{name:24} {size:8.0f} {statistics.median(took):8.2f} {p95:8.2f} {spent:8.2f}")
