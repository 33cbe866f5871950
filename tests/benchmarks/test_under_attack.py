"""How long health checks and previews take while a studio is attacked, beside the same studio in quiet, and
what memory and disk it takes meanwhile.

Run with ``-s`` for the table; twice the quiet time is the goal. Quiet and attack alternate, so that what else
the machine does meets both. The attackers are a process of their own at a low priority, for they would not be
on the studio's machine.
"""

import multiprocessing
import os
import signal
import statistics
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from tests.studio.attacks import ATTACKS, Attack, add_workspaces, make_workspaces
from tests.studio.besieged import Person, Usage, Watch, add_accounts, half_sent_headers, watch
from tests.studio_process import Studio

pytestmark = pytest.mark.slow

TURNS = 4
SAMPLES = 100
PAUSE = 0.01
MEBIBYTE = 1024 * 1024


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A data folder and the workspaces beside it."""
    folder = tmp_path_factory.mktemp("attacked")
    return folder / "data", make_workspaces(folder / "workspaces")


@pytest.fixture
def studio(places: tuple[Path, Path]) -> Iterator[Studio]:
    """Started anew for each attack, on what the one before left when it was killed."""
    data, workspaces = places
    is_first = not data.exists()
    started = Studio(data, "--port", "0", STUDIO_WORKSPACE_ROOTS=str(workspaces))
    if is_first:
        add_accounts(started, ["anna", "ben", "carla"])
        add_workspaces(started, workspaces)
    yield started
    started.end(signal.SIGKILL)


@pytest.mark.parametrize("name", ["110 half-sent headers", *ATTACKS])
def test_previews_while_others_attack(studio: Studio, places: tuple[Path, Path], name: str) -> None:
    carla = Person(studio, "carla")
    watch(carla, lambda: False, at_least=30)
    quiet, under_attack = Watch([], []), Watch([], [])
    calm, usage = Usage(studio), Usage(studio)
    with (
        half_sent_headers_on_demand(studio)
        if name not in ATTACKS
        else attacked(ATTACKS[name], studio, places[1]) as attack
    ):
        for _ in range(TURNS):
            quiet.add(watch(carla, lambda: False, at_least=SAMPLES, usage=calm, pause=PAUSE))
            attack(True)
            under_attack.add(watch(carla, lambda: False, at_least=SAMPLES, usage=usage, pause=PAUSE))
            attack(False)
    before, peak = calm.peak, usage.peak
    print(f"\n{name}")
    for what in ("health", "previews"):
        told(what, getattr(quiet, what), getattr(under_attack, what))
    print(
        f"  memory of the server {before.server // MEBIBYTE} → {peak.server // MEBIBYTE} MB,"
        f" with its {peak.processes} processes {before.all // MEBIBYTE} → {peak.all // MEBIBYTE} MB;"
        f" disk {before.disk // MEBIBYTE} → {peak.disk // MEBIBYTE} MB"
    )


def told(what: str, quiet: list[float], under_attack: list[float]) -> None:
    figures = []
    for name, figure in (
        ("p50", statistics.median),
        ("p95", lambda times: statistics.quantiles(times, n=20)[-1]),
    ):
        before, during = figure(quiet) * 1000, figure(under_attack) * 1000
        figures.append(f"{name} {before:6.1f} → {during:6.1f} ms ({during / before:.2f}×)")
    print(f"  {what:8} {', '.join(figures)}, {len(under_attack)} answers")


@contextmanager
def half_sent_headers_on_demand(studio: Studio) -> Iterator[Callable[[bool], None]]:
    with ExitStack() as held:

        def attack(on: bool) -> None:
            held.enter_context(half_sent_headers(studio)) if on else held.close()

        yield attack


@contextmanager
def attacked(attack: Attack, studio: Studio, workspaces: Path) -> Iterator[Callable[[bool], None]]:
    """What this yields begins to attack again and again, in another process, or lets it rest; in the end,
    whatever it was answered must be one of its usual answers."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(
        target=attack_on, args=(attack, studio, workspaces, theirs)
    )
    process.start()

    def switch(on: bool) -> None:
        ours.send(on)
        ours.recv()

    yield switch
    ours.send(None)
    statuses, rounds = ours.recv()
    process.join()
    print(f"\n{rounds} rounds of attack, answered {statuses}, load {os.getloadavg()[0]:.1f}", end="")
    assert set(statuses) <= attack.statuses, statuses


def attack_on(attack: Attack, studio: Studio, workspaces: Path, pipe: Connection) -> None:
    os.nice(10)
    people = [Person(studio, "anna"), Person(studio, "ben")]
    statuses: dict[int, int] = {}
    rounds = 0
    while (on := pipe.recv()) is not None:
        pipe.send(on)
        while on and not pipe.poll():
            rounds += 1
            for answer in attack.once(people, workspaces):
                statuses[answer.status] = statuses.get(answer.status, 0) + 1
    pipe.send((statuses, rounds))
