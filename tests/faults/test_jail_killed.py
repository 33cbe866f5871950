"""Processes of the jail killed at any moment while previews run: each preview comes, or says to try again.

`manage.py test -m slow --thorough tests/faults/test_jail_killed.py` kills 400.
"""

import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from tests.faults.scene import descendants
from tests.fuzzing import share_of
from tests.studio.besieged import Person, add_accounts
from tests.studio_process import Studio

pytestmark = pytest.mark.slow

KILLS = share_of(400, one_in=20)


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    started = Studio(tmp_path / "data", "--port", "0")
    yield started
    started.process.kill()
    started.process.wait()


def test_a_preview_comes_or_says_to_try_again(studio: Studio) -> None:
    names = ["anna", "ben", "carla", "dora"]
    add_accounts(studio, names)
    people = [Person(studio, name) for name in names]
    over, states, odd = threading.Event(), Counter[str](), list[object]()

    def look(person: Person) -> None:
        while not over.is_set():
            answer = person.preview()
            if answer.status == 200 and 'data-state="text"' in answer.body:
                states["text"] += 1
            elif answer.status in (200, 429, 503) and "ry again" in answer.body:
                states[f"{answer.status}, try again"] += 1
            else:
                odd.append((answer.status, answer.body))

    chance = random.Random(19)
    with ThreadPoolExecutor(len(people)) as threads:
        jobs = [threads.submit(look, person) for person in people]
        try:
            for _ in range(KILLS):
                before, until = states.total(), time.monotonic() + 60
                while states.total() == before and not odd and time.monotonic() < until:
                    time.sleep(0.001)
                time.sleep(chance.uniform(0, 0.02))
                with suppress(ProcessLookupError, IndexError):
                    os.kill(chance.choice(descendants(studio.process.pid)), signal.SIGKILL)
        finally:
            over.set()
        for job in jobs:
            job.result()
    print(f"\n{KILLS} kills: {dict(states)}")
    assert odd == []
    until = time.monotonic() + 60
    while 'data-state="text"' not in people[0].preview().body:
        assert time.monotonic() < until, "no preview comes any more"
    assert studio.end(signal.SIGTERM) == 0
    assert "Traceback" not in studio.output
