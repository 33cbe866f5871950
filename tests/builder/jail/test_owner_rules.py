"""One job at a time for each owner, and a pause after stops."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from builder.jail.owners import CoolDown, LineFull, Turns, TurnSuperseded, TurnTimeout


def soon() -> float:
    return time.monotonic() + 10


def in_line(turns: Turns, owner: str, count: int) -> None:
    """Wait until so many jobs of the owner wait."""
    while len(turns._lines.get(owner, ())) < count:
        time.sleep(0.001)


def test_owners_do_not_wait_for_each_other() -> None:
    turns = Turns(8)
    turns.take("a", None, soon())
    turns.take("b", None, soon())
    turns.take(None, None, soon())
    turns.take(None, None, soon())
    turns.pass_on("a")
    turns.pass_on("b")
    assert turns._lines == {}


def test_jobs_of_one_owner_go_one_after_the_other_in_order() -> None:
    turns = Turns(8)
    done: list[int] = []

    def job(number: int) -> None:
        turns.take("a", None, soon())
        done.append(number)
        turns.pass_on("a")

    turns.take("a", None, soon())
    with ThreadPoolExecutor(5) as threads:
        for number in range(5):
            threads.submit(job, number)
            in_line(turns, "a", number + 1)
        assert done == []
        turns.pass_on("a")
    assert done == [0, 1, 2, 3, 4]
    assert turns._lines == {}


def test_a_newer_job_of_the_same_topic_takes_the_place_of_the_waiting_one() -> None:
    turns = Turns(8)
    turns.take("a", "draft", soon())
    with ThreadPoolExecutor(3) as threads:
        older = threads.submit(turns.take, "a", "draft", soon())
        in_line(turns, "a", 1)
        other = threads.submit(turns.take, "a", "another draft", soon())
        in_line(turns, "a", 2)
        newer = threads.submit(turns.take, "a", "draft", soon())
        with pytest.raises(TurnSuperseded):
            older.result()
        turns.pass_on("a")
        other.result()
        turns.pass_on("a")
        newer.result()
    turns.pass_on("a")
    assert turns._lines == {}


def test_without_a_topic_nothing_is_superseded() -> None:
    turns = Turns(8)
    turns.take("a", None, soon())
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(turns.take, "a", None, soon())
        in_line(turns, "a", 1)
        second = threads.submit(turns.take, "a", None, soon())
        in_line(turns, "a", 2)
        turns.pass_on("a")
        first.result()
        turns.pass_on("a")
        second.result()


def test_past_its_deadline_a_job_leaves_the_line() -> None:
    turns = Turns(8)
    turns.take("a", None, soon())
    with pytest.raises(TurnTimeout):
        turns.take("a", None, time.monotonic())
    turns.pass_on("a")
    turns.take("a", None, time.monotonic())


def test_only_so_many_jobs_of_one_owner_wait() -> None:
    turns = Turns(1)
    turns.take("a", None, soon())
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(turns.take, "a", None, soon())
        in_line(turns, "a", 1)
        with pytest.raises(LineFull):
            turns.take("a", None, soon())
        turns.pass_on("a")
        waiting.result()


def test_turns_are_never_lost_among_many_threads() -> None:
    turns, lock, busy, most = Turns(100), threading.Lock(), [0], [0]

    def job(_: int) -> None:
        turns.take("a", None, soon())
        with lock:
            busy[0] += 1
            most[0] = max(most[0], busy[0])
        with lock:
            busy[0] -= 1
        turns.pass_on("a")

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(job, range(400)))
    assert most == [1]
    assert turns._lines == {}


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_the_first_stop_only_slows_its_owner() -> None:
    clock = Clock()
    cool_down = CoolDown(10, clock)
    cool_down.stopped("a")
    assert cool_down.is_slow("a") and cool_down.refused_for("a") == 0
    assert not cool_down.is_slow("b")
    clock.now += 10
    assert not cool_down.is_slow("a")


def test_a_stop_while_slow_refuses_and_then_is_slow_again() -> None:
    clock = Clock()
    cool_down = CoolDown(10, clock)
    cool_down.stopped("a")
    clock.now += 2
    cool_down.stopped("a")
    assert cool_down.refused_for("a") == 10
    clock.now += 10
    assert cool_down.refused_for("a") == 0 and cool_down.is_slow("a")
    cool_down.stopped("a")
    assert cool_down.refused_for("a") == 10


def test_what_is_over_is_forgotten() -> None:
    clock = Clock()
    cool_down = CoolDown(10, clock)
    cool_down.stopped("a")
    clock.now += 5
    cool_down.stopped("b")
    clock.now += 6
    cool_down.tidy()
    assert len(cool_down) == 1 and cool_down.is_slow("b")


def test_work_without_an_owner_never_cools_down() -> None:
    cool_down = CoolDown(10)
    cool_down.stopped(None)
    cool_down.stopped(None)
    assert not cool_down.is_slow(None) and cool_down.refused_for(None) == 0
