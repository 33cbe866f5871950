"""A studio under load: people who edit, save and watch runs, first all of them well-meaning, then some with
attack templates, in turns.

Run with: .venv/bin/python -m tests.load.run [--short] [--seconds N] [--turns N]. It prints what was asked and
answered, how long previews took with and without attackers, and the memory of the studio turn by turn (the
long form is ten minutes of that). It ends with 1 where an answer was wrong, a draft or a version was lost, or
a database was locked.
"""

import argparse
import asyncio
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.load.http_client import Browser
from tests.load.people import Person, Record
from tests.load.seeding import Size, beside, seeded
from tests.process_memory import MEBIBYTE, memory_of, total
from tests.studio_process import Studio

EDITING, SAVING, WATCHING = 50, 8, 4
LOOK_EVERY = 2.0
ATTACKING = 3
"""Of those who edit: 5 % and a little more."""


@dataclass(frozen=True)
class Plan:
    size: Size = field(default_factory=Size)
    seconds: float = 40.0
    turns: int = 6
    settle: float = 60.0


SHORT = Plan(replace(Size(), sets=70, versions=3, rows=100_000), seconds=8.0, turns=1, settle=10.0)


@dataclass(frozen=True)
class Outcome:
    """What is wrong; empty where everything held."""

    problems: Sequence[str]
    record: Record


def run(plan: Plan, folder: Path) -> Outcome:
    workspaces = folder / "workspaces"
    workspaces.mkdir()
    studio = Studio(folder / "data", "--port", "0", "--no-demo", STUDIO_WORKSPACE_ROOTS=str(workspaces))
    try:
        began = time.perf_counter()
        seeds = seeded(studio, plan.size, workspaces)
        print(f"seeded in {time.perf_counter() - began:.0f} s: {plan.size}", flush=True)
        # What it said before is about the seeding, which held the database in one long transaction.
        before = len(studio.output)
        record = asyncio.run(_load(plan, studio, seeds["sessions"], seeds["pages"]))
        problems = [*record.problems, *_lost(record, beside(studio, "stored"))]
        problems += [line for line in studio.output[before:].splitlines() if "locked" in line]
        _show(record)
        return Outcome(problems, record)
    finally:
        studio.end(signal.SIGTERM)


async def _load(plan: Plan, studio: Studio, sessions: dict[str, str], pages: Sequence[str]) -> Record:
    host, _, port = studio.base.removeprefix("http://").partition(":")
    record = Record()
    people = [Person(name, Browser(host, int(port), session), record) for name, session in sessions.items()]
    for number, person in enumerate(people):
        await person.open(f"load-{number:03}")
    editing, others = people[:EDITING], people[EDITING:]
    work = [person.edit(is_attacker=number < ATTACKING) for number, person in enumerate(editing)]
    work += [person.save() for person in others[:SAVING]]
    work += [
        person.watch(pages[number::WATCHING])
        for number, person in enumerate(others[SAVING : SAVING + WATCHING])
    ]
    tasks = [asyncio.create_task(_staggered(each, number / len(work))) for number, each in enumerate(work)]
    try:
        await asyncio.sleep(plan.settle)
        for _ in range(plan.turns):
            for phase in ("calm", "attack"):
                record.phase = phase
                record.memory.append(await _memory_over(tasks, studio, plan.seconds))
                print(f"{phase:8} {record.memory[-1]}", flush=True)
            # Jobs of attackers that are under way, and their pauses, are no part of the next phase.
            record.phase = "pause"
            await _watched(tasks, min(plan.seconds, 12.0))
    finally:
        record.over.set()
        await asyncio.gather(*tasks, return_exceptions=True)
    return record


async def _staggered(work: Coroutine[None, None, None], share: float) -> None:
    """Not all in the same instant."""
    await asyncio.sleep(2.0 * share)
    await work


async def _watched(tasks: Sequence["asyncio.Task[None]"], seconds: float) -> None:
    """Wait; whoever failed ends all of it."""
    done, _ = await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
    for task in done:
        task.result()


async def _memory_over(
    tasks: Sequence["asyncio.Task[None]"], studio: Studio, seconds: float
) -> tuple[int, int, int]:
    """The median of the megabytes of the server, of those of all processes, and of how many these are."""
    looks = []
    for _ in range(max(1, int(seconds / LOOK_EVERY))):
        await _watched(tasks, min(seconds, LOOK_EVERY))
        held = memory_of(studio.process.pid)
        looks.append((held[0].pss // MEBIBYTE, total(held) // MEBIBYTE, len(held)))
    server, everything, processes = (int(statistics.median(column)) for column in zip(*looks, strict=True))
    return server, everything, processes


def _lost(record: Record, stored: dict[str, dict[str, object]]) -> list[str]:
    """Acknowledged drafts and versions that are not there."""
    lost = [
        f"lost draft of {key}" for key, text in record.drafts.items() if stored["drafts"].get(key) != text
    ]
    for slug, messages in record.versions.items():
        kept = stored["versions"][slug]
        assert isinstance(kept, list)
        lost += [f"lost version «{message}» of {slug}" for message in messages if message not in kept]
    return lost


def _show(record: Record) -> None:
    print(f"\n{'memory':10} MB of the server in each turn | with all processes | processes")
    for place, phase in enumerate(("calm", "attack")):
        columns = list(zip(*record.memory[place::2], strict=True))
        listed = " | ".join(" ".join(map(str, column)) for column in columns)
        flat = ", ".join(f"{100 * column[-1] / column[0] - 100:+.0f} %" for column in columns[:2])
        print(f"{phase:10} {listed}   last against first: {flat}")
    print(f"\n{'requests':12} answers")
    for what, statuses in sorted(record.statuses.items()):
        print(f"{what:12} {', '.join(f'{count} × {status}' for status, count in sorted(statuses.items()))}")
    print(f"{len(record.drafts)} drafts and {sum(map(len, record.versions.values()))} versions acknowledged")
    print(f"\n{'previews':10} {'number':>7} {'p50 ms':>8} {'p95 ms':>8} {'p99 ms':>8}")
    figures = {}
    for phase in ("calm", "attack"):
        seconds = record.previews[phase]
        cuts = statistics.quantiles(seconds, n=100)
        figures[phase] = [1000 * cuts[place - 1] for place in (50, 95, 99)]
        print(f"{phase:10} {len(seconds):7}" + "".join(f" {figure:8.1f}" for figure in figures[phase]))
    ratios = [during / before for before, during in zip(figures["calm"], figures["attack"], strict=True)]
    print(f"{'ratio':10} {'':7}" + "".join(f" {ratio:8.2f}" for ratio in ratios) + "   goal: p95 within 2")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--short", action="store_true", help="less of everything, in half a minute")
    parser.add_argument("--seconds", type=float, help="of each phase")
    parser.add_argument("--turns", type=int, help="of both phases")
    asked = parser.parse_args()
    plan = SHORT if asked.short else Plan()
    plan = replace(plan, seconds=asked.seconds or plan.seconds, turns=asked.turns or plan.turns)
    with tempfile.TemporaryDirectory() as folder:
        outcome = run(plan, Path(folder))
    for problem in outcome.problems[:20]:
        print(f"WRONG: {problem}")
    print(f"{len(outcome.problems)} problems")
    return 1 if outcome.problems else 0


if __name__ == "__main__":
    sys.exit(main())
