"""Pages beside a MixSeek that is writing: they show what is there, and it never notices."""

import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from builder.leaderboard import AggregationStore
from studio.models import Workspace
from studio.workspaces.stores import store_of
from tests.builder.leaderboard.live_writer import EXECUTION
from tests.builder.leaderboard.test_snapshot import writing
from tests.builder.workspaces import play_small_workspace
from tests.studio.page_reader import pages

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def workspace(db: None, tmp_path: Path, settings: Any) -> Workspace:
    # As in real life: no page waits for a file that changes all the time.
    settings.STUDIO_COPY_PATIENCE = 0.3
    folder = play_small_workspace(tmp_path / "workspace")
    return Workspace.objects.create(slug="w", name="W", path=str(folder), created_at=timezone.now())


@pytest.mark.slow
def test_pages_show_what_another_process_is_writing_and_it_never_fails(
    workspace: Workspace, signed_in: Client
) -> None:
    seen: list[int] = []
    url = f"/workspaces/w/runs/{EXECUTION}/"
    assert store_of(workspace).refresh(wait=60).state == "idle"
    with writing(workspace.folder / "mixseek.db", pause=0.2) as writer:
        writer.wait_for(1)
        until = time.monotonic() + 120
        while len(set(seen)) < 4 and time.monotonic() < until:
            answer = signed_in.get(url, {"format": "json", "table": "scores"})
            if answer.status_code == 404:
                # The copy from before the run is still shown.
                continue
            assert answer.status_code == 200
            text = (
                b"".join(answer.streaming_content) if answer.streaming else answer.content  # type: ignore[attr-defined]
            ).decode()
            scores = [float(found) for found in re.findall(r'"score": ?(-?[\d.]+)', text)]
            # A round's score is its number: a half copied state would not add up.
            assert scores == [float(number) for number in range(1, len(scores) + 1)]
            seen.append(len(scores))
        for page in pages(EXECUTION, "team-001"):
            assert signed_in.get(page).status_code == 200, page
        assert writer.stop() == 0, "the writer must never notice us"
    assert seen == sorted(seen)
    assert len(set(seen)) >= 4


@pytest.mark.slow
def test_a_run_starts_while_pages_are_read(workspace: Workspace, signed_in: Client) -> None:
    url = "/workspaces/w/runs/"
    database = workspace.folder / "mixseek.db"
    before = database.read_bytes()
    assert signed_in.get(url).status_code == 200
    for _ in range(3):
        with writing(database) as writer:
            assert writer.started, "a reader of ours kept a run from starting"
            assert signed_in.get(url).status_code == 200
            writer.wait_for(2)
            assert writer.stop() == 0
        # The writer's rounds begin at 1 each time.
        database.write_bytes(before)


@pytest.mark.slow
def test_a_trace_of_page_reads_shows_no_lock_and_no_duckdb_at_the_original(tmp_path: Path) -> None:
    if shutil.which("strace") is None:
        # Without the tool there is nothing to see; where changes are judged it is there.
        assert "missing+=(strace)" in (ROOT / ".ci" / "run").read_text()
        return
    folder = play_small_workspace(tmp_path / "workspace")
    with AggregationStore(folder, cache_folder=tmp_path / "cache") as store:
        finished = store.executions(state="completed")[0].execution_id
    log = tmp_path / "trace.log"
    calls = "trace=open,openat,openat2,creat,fcntl,flock,mmap,unlink,unlinkat,rename,renameat,renameat2"
    command = ["strace", "-f", "-y", "-o", str(log), "-e", calls]
    command += [sys.executable, "-m", "tests.studio.page_reader", str(folder), finished, "team-001"]
    ended = subprocess.run(command, cwd=ROOT, timeout=300, check=False, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    lines = log.read_text(errors="replace").splitlines()
    about = [line for line in lines if str(folder / "mixseek.db") in line]
    opens = [line for line in about if re.search(r"\bopen(at2?)?\(", line)]
    assert opens and [line for line in opens if "O_RDONLY" not in line] == []
    forbidden = re.compile(r"F_(OFD_)?[SG]ETLKW?|flock\(|mmap\(|unlink|rename")
    assert [line for line in about if forbidden.search(line)] == []
    # What DuckDB does to a file that it opens can be seen on the copy.
    assert any("F_SETLK" in line and "/copies/" in line for line in lines)
