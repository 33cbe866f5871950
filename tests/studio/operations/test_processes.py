"""`manage.py studio --workers N`: servers and a background worker under one parent, and every way to end."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.process_memory import children
from tests.studio.operations.test_start import eventually, manage
from tests.studio_process import Studio

pytestmark = pytest.mark.slow


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    started = Studio(tmp_path / "data", "--port", "0", "--no-demo", "--workers", "2")
    yield started
    started.process.kill()
    started.process.wait()


def descendants(process: int) -> set[int]:
    direct = children(process)
    return direct.union(*(descendants(child) for child in direct))


def gone(processes: set[int]) -> Callable[[], bool]:
    """Whether none of them is left; one that its new parent has not looked at yet has no program any more."""
    return lambda: not any(os.path.exists(f"/proc/{process}/exe") for process in processes)


def test_sigterm_and_ctrl_c_end_all_of_them(studio: Studio) -> None:
    assert eventually(lambda: len(children(studio.process.pid)) == 3)
    assert studio.get("/healthz")[0] == 200
    all_of_them = descendants(studio.process.pid)
    assert studio.end(signal.SIGTERM) == 0
    assert studio.output.endswith("Stopped.\n") and "Traceback" not in studio.output
    assert eventually(gone(all_of_them))

    again = Studio(studio.data, "--port", "0", "--no-demo", "--workers", "1")
    assert again.end(signal.SIGINT) == 0
    assert again.output.endswith("Stopped.\n")


def test_a_child_that_is_killed_is_started_again_while_the_others_answer(studio: Studio) -> None:
    assert eventually(lambda: len(children(studio.process.pid)) == 3)
    before = children(studio.process.pid)
    for child in before:
        os.kill(child, signal.SIGKILL)
        assert eventually(lambda child=child: child not in children(studio.process.pid))  # type: ignore[misc]
        assert studio.get("/healthz")[0] == 200
    assert eventually(lambda: len(children(studio.process.pid)) == 3)
    assert not before & children(studio.process.pid)
    assert studio.output.count("ended by signal 9; another one starts.") == 3


def test_children_of_a_killed_parent_end(studio: Studio) -> None:
    assert eventually(lambda: len(children(studio.process.pid)) == 3)
    all_of_them = descendants(studio.process.pid)
    assert studio.end(signal.SIGKILL) == -signal.SIGKILL
    assert eventually(gone(all_of_them))
    again = Studio(studio.data, "--port", studio.base.rpartition(":")[2], "--no-demo")
    assert again.end(signal.SIGTERM) == 0


def test_a_start_that_fails_in_its_own_process_is_one_sentence(tmp_path: Path) -> None:
    options = ("studio", "--data", str(tmp_path / "data"), "--workers")
    done = manage(*options, "2", "--port", "0", "--workspaces", "/nowhere")
    assert done.returncode == 1
    assert done.stderr.startswith("CommandError: ") and done.stderr.count("\n") == 1
    done = manage(*options, "many")
    assert "'many' is no number of processes: write one from 0 to 64." in done.stderr
    done = manage(*options, "0", "--no-background")
    assert done.stderr == (
        "CommandError: --workers 0 is the background work alone: leave --no-background out.\n"
    )


def test_background_work_alone_has_no_port(tmp_path: Path) -> None:
    studio = Studio(tmp_path / "data", "--workers", "0", "--no-demo")
    try:
        assert not any(
            os.readlink(file).startswith("socket:")
            for file in Path(f"/proc/{studio.process.pid}/fd").iterdir()
        )
    finally:
        assert studio.end(signal.SIGTERM) == 0
    assert studio.link == ""
