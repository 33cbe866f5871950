"""What the jail costs: a render through it and without, batches and singles, attackers beside people."""

import itertools
import statistics
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from builder.errors import CoolingDown, LimitExceeded
from builder.jail import JailPool
from builder.template.defaults import DEFAULT_TEAM_USER_PROMPT
from builder.template.dialect import MIXSEEK
from builder.template.render import render
from builder.template.variables import sample_values
from tests.builder.jail.attacks import GREEDY
from tests.hanging import HANGS

VALUES = sample_values("team")
GROWS = GREEDY["large texts"][0]


@pytest.fixture(scope="module")
def pool() -> Iterator[JailPool]:
    with JailPool() as pool:
        pool.start()
        while pool.stats().lanes["preview"].idle < 2:
            time.sleep(0.01)
        yield pool


def milliseconds(action: Callable[[], object], times: int) -> list[float]:
    found = []
    for _ in range(times):
        began = time.perf_counter()
        action()
        found.append((time.perf_counter() - began) * 1000)
    return found


def p50_p95(times: list[float]) -> tuple[float, float]:
    return statistics.median(times), sorted(times)[int(len(times) * 0.95)]


def report(title: str, sides: dict[str, list[float]]) -> None:
    print(f"\n{title}")
    for name, times in sides.items():
        print("  {:28} p50 {:7.3f} ms   p95 {:7.3f} ms".format(name, *p50_p95(times)))
    (first, *_), (second, *_) = (p50_p95(times) for times in list(sides.values())[:2])
    print(f"  p50 ratio {second / first:.2f}, difference {second - first:.3f} ms")


def test_known_text(benchmark: BenchmarkFixture, pool: JailPool) -> None:
    text = DEFAULT_TEAM_USER_PROMPT
    alone = milliseconds(lambda: render("team", text, VALUES, MIXSEEK), 500)
    jailed = milliseconds(lambda: pool.render("team", text, VALUES, MIXSEEK, owner="a"), 500)
    report("a render of known text", {"in-process": alone, "through the jail": jailed})
    benchmark(pool.render, "team", text, VALUES, MIXSEEK, owner="a")


def test_new_text(benchmark: BenchmarkFixture, pool: JailPool) -> None:
    numbers = itertools.count()

    def text() -> str:
        return f"{DEFAULT_TEAM_USER_PROMPT}{next(numbers)}"

    alone = milliseconds(lambda: render("team", text(), VALUES, MIXSEEK), 200)
    jailed = milliseconds(lambda: pool.render("team", text(), VALUES, MIXSEEK, owner="a"), 200)
    examined = milliseconds(lambda: pool.examine("team", text(), VALUES, MIXSEEK, owner="a"), 200)
    report(
        "a render of new text",
        {"in-process": alone, "through the jail": jailed, "checked too, jailed": examined},
    )
    benchmark(lambda: pool.examine("team", text(), VALUES, MIXSEEK, owner="a"))


@pytest.mark.parametrize("known", [True, False], ids=["known texts", "new texts"])
def test_batch(benchmark: BenchmarkFixture, pool: JailPool, known: bool) -> None:
    def texts(mark: str) -> list[str]:
        numbers = range(2000)
        return [f"{{{{ user_prompt }}}} {mark}{number % 100 if known else number}" for number in numbers]

    pool.render_many("team", texts("a"), VALUES, MIXSEEK)
    for text in set(texts("b")) if known else ():
        pool.render("team", text, VALUES, MIXSEEK)
    began = time.perf_counter()
    for text in texts("b"):
        pool.render("team", text, VALUES, MIXSEEK)
    singly = 2000 / (time.perf_counter() - began)
    began = time.perf_counter()
    pool.render_many("team", texts("a" if known else "c"), VALUES, MIXSEEK)
    together = 2000 / (time.perf_counter() - began)
    print(f"\n2,000 renders: one by one {singly:,.0f}/s, as a batch {together:,.0f}/s", end="")
    print(f", ratio {together / singly:.2f}")
    benchmark.pedantic(pool.render_many, ("team", texts("a"), VALUES, MIXSEEK), rounds=3)


def preview_for(seconds: float, pool: JailPool, attackers: int) -> list[float]:
    """Four people who preview while they type, and so many others who attack."""
    over = threading.Event()
    found: list[float] = []

    def attack(owner: str) -> None:
        for text in itertools.cycle([HANGS, GROWS]):
            if over.is_set():
                return
            try:
                pool.render("team", text, VALUES, MIXSEEK, owner=owner)
            except LimitExceeded:
                pass
            except CoolingDown:
                over.wait(0.02)

    def type_(owner: str) -> None:
        for number in itertools.count():
            if over.wait(0.03):
                return
            text = f"{DEFAULT_TEAM_USER_PROMPT}{number}"
            found.extend(milliseconds(lambda text=text: pool.examine("team", text, VALUES, owner=owner), 1))  # type: ignore[misc]

    threads = [threading.Thread(target=attack, args=(f"attacker {number}",)) for number in range(attackers)]
    threads += [threading.Thread(target=type_, args=(f"person {number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    time.sleep(seconds)
    over.set()
    for thread in threads:
        thread.join()
    return found


def test_attackers(benchmark: BenchmarkFixture, pool: JailPool) -> None:
    alone = preview_for(12, pool, attackers=0)
    before = pool.stats()
    attacked = benchmark.pedantic(preview_for, (12, pool), {"attackers": 2}, rounds=1)
    after = pool.stats()
    report("previews of four people", {"by themselves": alone, "beside two attackers": attacked})
    (_, quiet), (_, loud) = p50_p95(alone), p50_p95(attacked)
    print(f"  p95 ratio {loud / quiet:.2f}; {after.stops - before.stops} stops, ", end="")
    print(f"{after.cooling_down - before.cooling_down} refusals, CPU of the workers", end="")
    print(f" {after.worker_cpu_seconds - before.worker_cpu_seconds:.1f} s")
