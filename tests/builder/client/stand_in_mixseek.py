"""A stand-in for the command `mixseek`: finds and reads its prompt file as MixSeek does, and leaves a run in
the database of its workspace. `stand_in_mixseek.py exec TASK --config FILE`; other words change its end."""

import os
import signal
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from builder.orchestrators.finder import RunSurroundings, find
from builder.simulation import Run, simulate
from builder.template.variables import KINDS, field_name


def main(words: list[str]) -> int:
    workspace = Path(os.environ["MIXSEEK_WORKSPACE"])
    if "wait" in words:
        return wait(workspace)
    config = words[words.index("--config") + 1]
    found = find(workspace, config, RunSurroundings(os.environ, Path.cwd()), roots=[Path.cwd()])
    templates = {kind: found.templates[field_name(kind)] for kind in KINDS}
    prompt_file = (workspace / "configs" / "prompt_builder.toml").read_bytes()
    runs = [
        Run(f"{words[1]} {number}", datetime.now(UTC), templates=templates)
        for number in range(words.count("twice") + 1)
    ]
    simulate(workspace, runs)
    # The simulation writes a prompt file only where there is none.
    assert (workspace / "configs" / "prompt_builder.toml").read_bytes() == prompt_file
    print("this is its output", *sorted(name for name in os.environ if "PROMPT_BUILDER" in name.upper()))
    return 3 if "fail" in words else 0


def wait(workspace: Path) -> int:
    """Until a signal comes; says which one by its exit code."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _frame: os._exit(40 + number))
    (workspace / "ready").touch()
    time.sleep(60)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
