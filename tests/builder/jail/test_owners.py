"""Several people at one pool: nobody takes more than a turn, and nobody waits for an attacker."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from builder.errors import CoolingDown, JailUnavailable, LimitExceeded, Superseded
from builder.jail import JailPool, Limits

# Everybody here waits for somebody: seconds each, so the inner loop leaves them to CI.
pytestmark = pytest.mark.slow

Values = dict[str, str | int]
HANGS = "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}"


def until(happened: Callable[[], object]) -> None:
    """Wait for it; what was missed fails the test instead of hanging it."""
    for _ in range(20_000):
        if happened():
            return
        time.sleep(0.001)
    raise AssertionError("it did not happen")


def running(pool: JailPool, lane: str = "preview") -> None:
    """Wait until a job is under way."""
    until(lambda: pool.stats().lanes[lane].busy)


def waiting(pool: JailPool, owner: str, count: int) -> None:
    until(lambda: len(pool._jobs._turns[False]._lines.get(owner, ())) >= count)


def test_of_the_previews_that_wait_only_the_newest_is_made(values: Values) -> None:
    limits = Limits(time=0.5)
    with JailPool(size=2, spares=0, limits=limits) as pool, ThreadPoolExecutor(4) as threads:

        def preview(text: str) -> Future[str]:
            return threads.submit(pool.render, "team", text, values, owner="a", topic="draft")

        slow = preview(HANGS)
        running(pool)
        older = preview("older")
        waiting(pool, "a", 1)
        newer = preview("newer")
        with pytest.raises(Superseded):
            older.result()
        with pytest.raises(LimitExceeded):
            slow.result()
        assert newer.result() == "newer"
        assert pool.stats().superseded == 1


def test_one_owner_never_has_two_jobs_under_way(values: Values) -> None:
    with JailPool(size=3, spares=0, limits=Limits(time=0.2)) as pool, ThreadPoolExecutor(3) as threads:
        jobs = [threads.submit(pool.render, "team", HANGS, values, owner="a") for _ in range(3)]
        busy = 0
        while not all(job.done() for job in jobs):
            busy = max(busy, sum(lane.busy for lane in pool.stats().lanes.values()))
            time.sleep(0.001)
        assert busy == 1


def test_after_one_stop_the_owner_goes_on_slowly_and_after_two_has_to_wait(values: Values) -> None:
    with JailPool(size=1, spares=1, limits=Limits(time=0.2)) as pool:
        for _ in range(2):
            with pytest.raises(LimitExceeded):
                pool.render("team", HANGS, values, owner="a")
            # A slip of the pen is mended at once, though on the worker that yields to others.
            if pool.stats().kills == 1:
                assert pool.render("team", "mended", values, owner="a") == "mended"
        with pytest.raises(CoolingDown) as refusal:
            pool.render("team", "anything", values, owner="a")
        assert 1 <= refusal.value.seconds <= 10
        assert str(refusal.value.seconds) in refusal.value.text("ja")
        assert pool.render("team", "other", values, owner="b") == "other"
        assert pool.render("team", "nobody's", values) == "nobody's"
        stats = pool.stats()
        assert stats.cooling_down == 1 and stats.kills == 2 and stats.lanes["slow"].size == 1


def test_a_batch_never_delays_a_preview(values: Values) -> None:
    limits = Limits(time=0.5)
    with JailPool(size=1, spares=0, limits=limits, batch_size=1) as pool, ThreadPoolExecutor(1) as threads:
        pool.render("team", "a", values)
        batch = threads.submit(pool.render_many, "team", [HANGS] * 2, values)
        running(pool, "batch")
        for _ in range(20):
            assert pool.render("team", "{{ round_number }}", values, owner="a") == "2"
        assert not batch.done()
        assert len(batch.result()) == 2


@pytest.mark.slow
def test_normal_people_get_every_preview_while_others_attack(values: Values) -> None:
    errors: list[Exception] = []
    made = [0] * 4
    over = threading.Event()

    with JailPool(size=4, spares=2) as pool:

        def attack(owner: str) -> None:
            while not over.is_set():
                try:
                    pool.render("team", HANGS, values, owner=owner)
                except LimitExceeded:
                    pass
                except CoolingDown:
                    over.wait(0.01)

        def preview(number: int) -> None:
            try:
                for step in range(150):
                    text = f"{step} {{{{ user_prompt }}}}"
                    found = pool.examine("team", text, values, owner=f"n{number}", topic="draft")
                    assert found.text == f"{step} {values['user_prompt']}"
                    made[number] += 1
            except Exception as error:
                errors.append(error)

        attackers = [threading.Thread(target=attack, args=(f"x{number}",)) for number in range(2)]
        normal = [threading.Thread(target=preview, args=(number,)) for number in range(4)]
        for thread in attackers + normal:
            thread.start()
        for thread in normal:
            thread.join()
        over.set()
        for thread in attackers:
            thread.join()
        assert errors == [] and made == [150] * 4
        assert pool.stats().stops >= 2


def test_a_job_that_finds_no_worker_in_time_says_so(values: Values) -> None:
    limits = Limits(time=0.5, wait=0.1)
    with JailPool(size=1, spares=0, limits=limits) as pool, ThreadPoolExecutor(1) as threads:
        while True:
            try:
                pool.render("team", "a", values)
                break
            except JailUnavailable:
                pass
        slow = threads.submit(pool.render, "team", HANGS, values)
        running(pool)
        before = pool.stats().unavailable
        with pytest.raises(JailUnavailable) as refusal:
            pool.render("team", "a", values)
        assert "0.1" in str(refusal.value) and pool.stats().unavailable == before + 1
        with pytest.raises(LimitExceeded):
            slow.result()
