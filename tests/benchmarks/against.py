"""Attribution, previews, comparisons and pages of the leaderboard beside those of an older checkout: CPU
time of the server with its workers and its reader, both sides in turns, and the ratio of the
least that each took.

Run with: .venv/bin/python -m tests.benchmarks.against CHECKOUT [JOB …] [--turns N]; jobs are
attribution, preview, compare and pages.
The other checkout needs its ``.venv``, which its ``manage.py check`` makes.
"""

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

SIDE = Path(__file__).with_name("one_side.py")
TURNS = {"attribution": 3, "again": 100, "preview": 100, "compare": 40, "pages": 40}
KINDS = ("attribution", "preview", "compare", "pages")


class Side:
    """One checkout at work: it does a job when told to, and answers what that took."""

    def __init__(self, checkout: Path, folder: Path, jobs: list[str]) -> None:
        folder.mkdir()
        self._process = subprocess.Popen(
            [checkout / ".venv" / "bin" / "python", SIDE, *jobs],
            cwd=checkout,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(folder),
                "PYTHONPATH": str(checkout),
                "STUDIO_DATA": str(folder / "data"),
                "STUDIO_WORKSPACE_ROOTS": str(folder),
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, job: str) -> Any:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(f"{job}\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def end(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("jobs", nargs="*", choices=[*KINDS, []], metavar="job")
    parser.add_argument("--turns", type=int)
    asked = parser.parse_args()
    jobs = asked.jobs or [*KINDS]
    with tempfile.TemporaryDirectory() as folder:
        checkouts = {"other": asked.checkout.resolve(), "this": SIDE.parents[2]}
        sides = {name: Side(checkout, Path(folder) / name, jobs) for name, checkout in checkouts.items()}
        listed = {name: side.ask("jobs") for name, side in sides.items()}
        print("milliseconds of CPU; by the clock in brackets")
        for job, kind in listed["this"].items():
            if job in listed["other"]:
                compare(job, sides, asked.turns or TURNS[kind])
        for side in sides.values():
            side.end()


def compare(job: str, sides: dict[str, Side], turns: int) -> None:
    """In turns, so that a busy machine is busy for both."""
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in sides}
    for _ in range(turns):
        for name, side in sides.items():
            spent[name].append(side.ask(job))
    least = {name: [min(times) * 1000 for times in zip(*took, strict=True)] for name, took in spent.items()}
    (cpu, wall), (our_cpu, our_wall) = least["other"], least["this"]
    print(
        f"{job:28} {cpu:9.2f} → {our_cpu:9.2f} ({our_cpu / cpu:.2f} ×)"
        f"   ({wall:.2f} → {our_wall:.2f}, {our_wall / wall:.2f} ×)",
        flush=True,
    )


if __name__ == "__main__":
    main()
