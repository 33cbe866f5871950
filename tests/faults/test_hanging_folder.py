"""A workspace in a network folder that hangs: nobody but whoever looks at that workspace notices.

The folder is a real file system whose server takes requests and never answers them.
"""

import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from builder.files.answering import HOLDS_SECONDS
from tests.builder.workspaces import play_small_workspace
from tests.faults.hanging_folder import hanging
from tests.faults.scene import SET, Scene

pytestmark = pytest.mark.slow

OTHER_PAGES = ("/", "/workspaces/", "/workspaces/b/", "/workspaces/b/runs/", f"/prompts/{SET}/", "/runs/")
OTHER_PAGES += (f"/prompts/{SET}/export/", "/workspaces/new/", "/healthz")


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    made = Scene(tmp_path / "data", tmp_path / "workspaces")
    yield made
    made.studio.process.kill()
    made.studio.process.wait()


def test_a_folder_that_hangs_holds_up_only_its_own_pages(scene: Scene) -> None:
    person = scene.prepare()
    for name in ("a", "b"):
        play_small_workspace(scene.folder / name)
    for page in (*OTHER_PAGES, "/workspaces/a/", "/workspaces/a/runs/"):
        assert person.get(page).status == 200, page
    time.sleep(2 * HOLDS_SECONDS)
    with hanging(scene.folder / "a"):
        with ThreadPoolExecutor(24) as threads:
            # More requests for it than the server has threads, and all the while others.
            own = [threads.submit(person.get, "/workspaces/a/") for _ in range(20)]
            for _ in range(3):
                for page in OTHER_PAGES:
                    answer = person.get(page)
                    assert answer.status == 200, (page, answer.body[:2000])
                assert "does not respond" in person.get("/workspaces/").body
            for answer in [job.result() for job in own]:
                assert answer.status == 200 and "does not respond" in answer.body
        for page in ("/workspaces/a/runs/", "/workspaces/a/system/", "/workspaces/a/preview/"):
            answer = person.get(page)
            assert answer.status in (200, 503) and "does not respond" in answer.body, (page, answer.body)
        status, listed, _ = scene.ask("GET", "workspaces")
        assert status == 200 and {each["slug"] for each in listed["items"]} == {"a", "b"}
        assert sum("folder" in line for line in threads_of(scene)) <= 4, "one thread hangs, not one for each"
    until = time.monotonic() + 60
    while "does not respond" in person.get("/workspaces/a/").body:
        assert time.monotonic() < until, "it is well again, and the page does not show it"
    assert scene.studio.end(signal.SIGTERM) == 0
    assert "Traceback" not in scene.studio.output


def threads_of(scene: Scene) -> list[str]:
    return [
        path.read_text(encoding="utf-8").strip()
        for path in Path(f"/proc/{scene.studio.process.pid}/task").glob("*/comm")
    ]
