"""What the system sees of us: plain reads of the original, no lock on it, no DuckDB at it, no extension."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.builder.leaderboard.conftest import Played

ROOT = Path(__file__).resolve().parents[3]

READ_EVERYTHING = """
import sys
from pathlib import Path
from builder.leaderboard import AggregationStore

with AggregationStore(Path(sys.argv[1]), cache_folder=Path(sys.argv[2])) as store:
    for found in store.executions("", limit=50):
        store.execution(found.execution_id)
        for place in store.standings(found.execution_id):
            store.scores(found.execution_id, place.team_id)
            store.rounds(found.execution_id, place.team_id)
            store.delivered(found.execution_id, place.team_id, 1)
    store.count_executions("a")
    store.across.teams()
    store.across.team_history("team-001")
    store.across.distribution()
    store.across.compare(*[found.execution_id for found in store.executions(limit=2)])
    store.activity()
    store.progress()
"""


def _run(before: list[str], played: Played, cache: Path, **environ: str) -> None:
    ended = subprocess.run(
        [*before, sys.executable, "-c", READ_EVERYTHING, str(played.path), str(cache)],
        cwd=ROOT,
        env={**os.environ, **environ},
        timeout=300,
        check=False,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr


@pytest.mark.slow
def test_a_trace_shows_no_lock_and_no_duckdb_at_the_original(played: Played, cache: Path) -> None:
    if shutil.which("strace") is None:
        # Without the tool there is nothing to see; where changes are judged it is there.
        assert re.search(r"command -v strace .*missing\+=\(strace\)", (ROOT / ".ci" / "run").read_text())
        return
    log = cache.parent / "trace.log"
    calls = (
        "trace=open,openat,openat2,creat,fcntl,flock,rename,renameat,renameat2,unlink,unlinkat,mmap,connect"
    )
    _run(["strace", "-f", "-y", "-o", str(log), "-e", calls], played, cache)
    original = str(played.path / "mixseek.db")
    lines = log.read_text(errors="replace").splitlines()
    about = [line for line in lines if original in line]
    opens = [line for line in about if re.search(r"\bopen(at2?)?\(", line)]
    assert opens, "the copy was made from somewhere"
    assert [line for line in opens if "O_RDONLY" not in line] == []
    # What DuckDB does to a file that it opens can be seen on the copy: a lock, set with fcntl.
    ours = [line for line in lines if f"{cache}/" in line]
    assert any("F_SETLK" in line for line in ours)
    assert any("O_RDWR" in line for line in ours)
    assert [
        line for line in about if re.search(r"F_(OFD_)?[SG]ETLKW?|flock\(|mmap\(|unlink|rename", line)
    ] == []


@pytest.mark.slow
def test_nothing_is_installed_or_loaded_that_the_wheel_lacks(played: Played, cache: Path) -> None:
    home = cache.parent / "home"
    home.mkdir()
    _run([], played, cache, HOME=str(home))
    assert [*home.rglob("*")] == []
