"""What requests of the API cost a real server: CPU of its process and of its jail, and time, at 500 sets × 20
versions. Run with ``-s`` for the table.
"""

import http.client
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from studio.access.tokens import ApiToken, Scope
from studio.editor.sets import create_set
from studio.models import Label
from studio.prompts.texts import Templates
from tests.benchmarks.peers import TEXT
from tests.process_memory import descendants
from tests.studio_process import ROOT, Studio

pytestmark = pytest.mark.slow

SETS, VERSIONS = 500, 20
REQUESTS = 300
TICK = 1000 / os.sysconf("SC_CLK_TCK")


def seed() -> None:
    """Into the studio whose environment this runs in; prints a token."""
    now, person = timezone.now(), User.objects.create_superuser("bench")
    with transaction.atomic():
        for number in range(SETS):
            made = create_set(f"Bench {number:03}", tags=["bench"], dialect="mixseek", by=person, at=now)
            for base in range(VERSIONS):
                texts = Templates(f"{TEXT}{number} {base}", "{{ submission }}", "{{ user_prompt }}")
                version = made.save_version(texts, base=base, message=f"Change {base}", author=person, at=now)
            Label.objects.move("production", version, by=person, at=now)
    _token, key = ApiToken.objects.make(person, "bench", scopes=list(Scope), days=1, at=now)
    print(key)


def cpu(pid: int) -> float:
    """Milliseconds that a process, and those below it, have used."""
    spent = 0.0
    for each in descendants(pid):
        fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
        spent += (int(fields[11]) + int(fields[12])) * TICK
    return spent


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Studio, str]]:
    data = tmp_path_factory.mktemp("api") / "data"
    studio = Studio(data, "--port", "0", "--no-demo", STUDIO_API_RATE="1000000")
    code = "from tests.benchmarks.test_api import seed; seed()"
    done = subprocess.run(
        [sys.executable, "-c", f"import django; django.setup(); {code}"],
        cwd=ROOT,
        env={**studio.environment, "STUDIO_DATA": str(data), "DJANGO_SETTINGS_MODULE": "studio.settings"},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    found = re.search(r"pst_\S+", done.stdout)
    assert found
    yield studio, found[0]
    studio.end(signal.SIGINT)


def test_requests(served: tuple[Studio, str]) -> None:
    studio, key = served
    address = studio.base.removeprefix("http://")
    connection = http.client.HTTPConnection(address)

    def ask(method: str, path: str, body: Any = None) -> Any:
        sent = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        connection.request(method, f"/api/v1/{path}", json.dumps(body) if body else None, sent)
        answer = connection.getresponse()
        content = answer.read()
        assert answer.status in (200, 201), content
        return json.loads(content)

    def make(number: int) -> None:
        slug = f"bench-{number % SETS:03}"
        texts = {
            "team_user_prompt": f"{TEXT}{number}",
            "evaluator_user_prompt": "{{ submission }}",
            "judgment_user_prompt": "{{ user_prompt }}",
        }
        ask("POST", f"sets/{slug}/versions", {"base": VERSIONS, "message": "Bench", "texts": texts})

    rows: dict[str, Callable[[int], object]] = {
        "fetch by label": lambda number: ask("GET", f"sets/bench-{number % SETS:03}/versions/production"),
        "fetch latest": lambda number: ask("GET", f"sets/bench-{number % SETS:03}/versions/latest"),
        "list 100": lambda number: ask("GET", "sets?limit=100"),
        "search": lambda number: ask("GET", f"sets?q=Bench+{number % SETS:03}"),
        "list versions": lambda number: ask("GET", f"sets/bench-{number % SETS:03}/versions"),
        "create a version": make,
        "health, for comparison": lambda number: studio.get("/healthz"),
    }
    print(f"\n{'operation':24} {'p50 ms':>8} {'p95 ms':>8} {'CPU ms':>8}")
    for name, request in rows.items():
        for number in range(20):
            request(SETS - 1 - number)
        took, before = [], cpu(studio.process.pid)
        for number in range(REQUESTS):
            start = time.perf_counter()
            request(number)
            took.append((time.perf_counter() - start) * 1000)
        spent = (cpu(studio.process.pid) - before) / REQUESTS
        cuts = statistics.quantiles(took, n=20)
        print(f"{name:24} {statistics.median(took):8.2f} {cuts[-1]:8.2f} {spent:8.2f}")
