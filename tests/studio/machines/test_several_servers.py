"""Two servers of one studio: each makes its own copy of a remote workspace from the same batches."""

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from builder.client.agent import Agent
from builder.errors import StudioRefused
from tests.postgresql_cluster import cluster
from tests.studio.machines.test_agent import SLUG, Person, connected, played
from tests.studio.machines.test_same_pages import words
from tests.studio.operations.test_client import Machine, make_token
from tests.studio_process import Studio

pytestmark = pytest.mark.slow

WITH_FOLDER = pytest.mark.parametrize("shared", [False, True], ids=["database", "folder"])


@pytest.fixture
def servers(shared: bool, tmp_path: Path) -> Iterator[tuple[Studio, Studio]]:
    """Two studios with data folders of their own, on one database and one secret key."""
    with cluster() as database:
        more = {"STUDIO_BATCH_FOLDER": str(tmp_path / "batches")} if shared else {}
        started: list[Studio] = []
        try:
            for name in ("one", "two"):
                started.append(
                    Studio(
                        tmp_path / name / "data",
                        *("--port", "0", "--no-demo"),
                        DATABASE_URL=database.url,
                        STUDIO_SECRET_KEY="the same on both servers, and long enough to be one",
                        **more,
                    )
                )
            yield started[0], started[1]
        finally:
            for studio in started:
                studio.process.kill()
                studio.process.wait()


def same(pages: tuple[Person, Person], path: str) -> None:
    """Both servers show the same at an address, once neither is at its copy any more."""
    end = time.monotonic() + 60
    while True:
        one, two = (words(page.see(path)) for page in pages)
        if one == two:
            return
        assert time.monotonic() < end, (path, set(one) ^ set(two))
        time.sleep(0.3)


@WITH_FOLDER
def test_two_servers_show_the_same_from_the_same_batches(
    servers: tuple[Studio, Studio], shared: bool, tmp_path: Path
) -> None:
    one, two = servers
    machine = Machine(tmp_path / "machine")
    token = make_token(one, "read", "machine")
    pages = Person(one), Person(two)
    # Reports go to one, then to the other: behind a balancer nobody chooses.
    agent = Agent(connected(one, token), machine.workspace, "gpu-1")
    agent.once()
    first = played(machine, "reported to the first server")
    agent.once()
    agent.connection = connected(two, token)
    second = played(machine, "reported to the second server")
    assert agent.once().executions == 1
    for page in pages:
        page.see_run(first, "reported to the first server")
        page.see_run(second, "reported to the second server")
    for address in ("runs/", "scores/", "teams/", f"runs/{second}/teams/team-001/", "system/"):
        same(pages, f"/workspaces/{SLUG}/{address}")
    # A second agent is refused by either server.
    for studio in servers:
        with pytest.raises(StudioRefused, match="409"):
            Agent(connected(studio, token), machine.workspace, "gpu-1").once()
    if shared:
        assert len([*(tmp_path / "batches").iterdir()]) > 4
    # Texts are deleted on one, and gone from the other.
    pages[0].post(f"/workspaces/{SLUG}/machine/texts/", texts="no")
    for page in pages:
        page.see_run(second, "reported to the second server", not_any_more=True)
    agent.once()
    same(pages, f"/workspaces/{SLUG}/runs/{second}/")
    # A server that comes back after its disk was lost builds its copy anew.
    port = two.base.rpartition(":")[2]
    two.end(signal.SIGTERM)
    (moved := tmp_path / "two" / "data" / "machines").rename(moved.with_name("lost"))
    settings = {name: two.environment[name] for name in two.environment.keys() - {"PATH", "HOME"}}
    back = Studio(tmp_path / "two" / "data", "--port", port, "--no-demo", **settings)
    try:
        third = played(machine, "withheld")
        agent.connection = connected(back, token)
        assert agent.once().executions == 1
        pages = pages[0], Person(back)
        for page in pages:
            page.see_run(third, "Texts not sent")
        same(pages, f"/workspaces/{SLUG}/runs/{third}/")
    finally:
        back.process.kill()
        back.process.wait()
