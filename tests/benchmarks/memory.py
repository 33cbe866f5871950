"""Memory of an idle studio with the demo, after somebody opened the editor, made a preview and looked at a
run: PSS of the server and of each process that it started.

Run with: .venv/bin/python -m tests.benchmarks.memory [--settle SECONDS]. The goal is 220 MB for all together.
"""

import argparse
import re
import signal
import tempfile
import time
from pathlib import Path

from tests.process_memory import MEBIBYTE, ProcessMemory, memory_of, total
from tests.studio.besieged import SET, Person, add_accounts
from tests.studio_process import Studio

GOAL = 220 * MEBIBYTE


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--settle", type=float, default=90.0, help="seconds without a request before the look"
    )
    settle = parser.parse_args().settle
    with tempfile.TemporaryDirectory() as folder:
        studio = Studio(Path(folder) / "data", "--port", "0")
        try:
            pid = studio.process.pid
            show("started", memory_of(pid))
            add_accounts(studio, ["anna"])
            use(Person(studio, "anna"))
            show("right after use", memory_of(pid))
            time.sleep(settle)
            show(f"idle for {settle:g} s", memory_of(pid))
        finally:
            studio.end(signal.SIGTERM)


def use(person: Person) -> None:
    """What somebody does in the first minute."""
    for path in ("/", "/prompts/", f"/prompts/{SET}/", f"/prompts/{SET}/edit/"):
        assert person.get(path).status == 200
    assert person.preview().status == 200
    run = re.search(r'href="(/workspaces/[^"/]+/runs/[^"/]+/)"', person.get("/runs/").body)
    assert run
    assert person.get(run[1]).status == 200


def show(when: str, processes: list[ProcessMemory]) -> None:
    print(f"\n{when}\n  {'process':28} {'PSS':>8} {'its own':>8}")
    for process in processes:
        print(f"  {process.name:28} {_megabytes(process.pss)} {_megabytes(process.own)}")
    print(f"  {f'{len(processes)} processes':28} {_megabytes(total(processes))}   goal {GOAL // MEBIBYTE} MB")


def _megabytes(size: int) -> str:
    return f"{size / MEBIBYTE:5.1f} MB"


if __name__ == "__main__":
    main()
