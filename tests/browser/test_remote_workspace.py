"""A workspace on another machine, from its registration to a run's page: studio and agent are processes that
share nothing but http."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from builder.simulation import Run, simulate
from tests.browser.patience import PATIENCE
from tests.studio.clock import NOW
from tests.studio.operations.test_client import SET, Machine
from tests.studio_process import Studio

PICTURES = os.environ.get("REMOTE_PICTURES")
"""A folder for pictures of each step, to be looked at."""


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    studio = Studio(tmp_path / "data", "--port", "0")
    yield studio
    studio.process.send_signal(signal.SIGTERM)
    studio.process.wait()


@pytest.fixture
def visitor(browser: Browser, studio: Studio) -> Iterator[Page]:
    context = browser.new_context(base_url=studio.base, viewport={"width": 1400, "height": 900}, locale="en")
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda line: complaints.append(line.text) if line.type == "error" else None)
    page.goto(studio.link)
    yield page
    context.close()
    assert complaints == []


@contextmanager
def agent(machine: Machine) -> Iterator[None]:
    """`prompt-studio agent`, running beside MixSeek."""
    command = [sys.executable, "-m", "builder", "agent", "--every", "1", "--machine", "gpu-1"]
    process = subprocess.Popen(command, cwd=machine.home, env=machine.environ, stderr=subprocess.PIPE)
    try:
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        said = process.communicate()[1].decode()
    assert process.returncode == 0 and "Traceback" not in said, said


def look(page: Page, name: str) -> None:
    if PICTURES:
        for width in (1400, 420):
            page.set_viewport_size({"width": width, "height": 900})
            page.screenshot(path=f"{PICTURES}/{name}-{width}.png", full_page=True)
        page.set_viewport_size({"width": 1400, "height": 900})


def reload_until(page: Page, text: str | re.Pattern[str], *, gone: bool = False) -> None:
    """As somebody does who waits for the machine: its agent reports once in a while."""

    def arrived() -> bool:
        page.reload()
        return (page.locator("main").get_by_text(text).count() > 0) is not gone

    for _ in range(PATIENCE // 250):
        if arrived():
            return
        page.wait_for_timeout(250)
    raise AssertionError(f"{text} did not come, or did not go")


@pytest.mark.slow
def test_a_remote_workspace_from_registration_to_a_runs_page(
    visitor: Page, studio: Studio, tmp_path: Path
) -> None:
    page, machine = visitor, Machine(tmp_path / "machine")
    # A token for the machine, made by an administrator and pasted there.
    page.goto("/account/tokens/")
    page.get_by_label("Name").fill("gpu-1")
    page.get_by_role("checkbox", name=re.compile("^Machine")).check()
    page.get_by_role("button", name="Create a token").click()
    expect(page.locator("main")).to_contain_text("pst_")
    made = re.search(r"pst_[\w-]+", page.content())
    assert made
    login = machine.run("login", studio.base, stdin=made[0] + "\n")
    assert login.returncode == 0, login.stderr

    with agent(machine):
        page.goto("/workspaces/")
        reload_until(page, "workspace (gpu-1)")
        look(page, "1-list")
        page.get_by_role("link", name="workspace (gpu-1)").click()
        expect(page.locator("main")).to_contain_text("machine last heard of")
        expect(page.locator("main")).to_contain_text(f"gpu-1:{machine.workspace}")
        look(page, "2-workspace")
        address = page.url

    # While the machine is away an export waits for it.
    plan = f"/prompts/{SET}/export/?source=v4&workspace=workspace-gpu-1&chosen=1"
    page.goto(plan)
    look(page, "3-plan")
    page.get_by_role("button", name=re.compile("^Export")).last.click()
    expect(page).to_have_url(re.compile("/exports/[0-9a-f-]{36}/"))
    expect(page.locator("main")).to_contain_text("Waiting for the machine")
    look(page, "4-waiting")
    before = machine.file.read_bytes()
    page.reload()
    expect(page.locator("main")).to_contain_text("Waiting for the machine")
    with agent(machine):
        reload_until(page, "Waiting for the machine", gone=True)
        expect(page.locator("main")).to_contain_text("Written")
        assert machine.file.read_bytes() != before
        look(page, "5-written")

        # Somebody edits the file there, and the edit is adopted here.
        machine.file.write_text(machine.file.read_text().replace('"""', '"""Mind the gap. ', 1))
        page.goto(address)
        reload_until(page, "Edited by hand")
        look(page, "6-edited")
        page.goto(plan)
        expect(page.locator("main")).to_contain_text("Mind the gap.")
        look(page, "7-adopt")
        page.get_by_role("button", name="Adopt it as a version").click()
        expect(page.locator("body")).to_contain_text("Adopted: the file of workspace (gpu-1) is now v6")

        # What runs there is seen here.
        (execution,) = simulate(machine.workspace, [Run("count the apples", NOW)])
        page.goto(f"{address}runs/")
        reload_until(page, "count the apples")
        page.get_by_role("link", name="count the apples").first.click()
        expect(page).to_have_url(re.compile(execution))
        expect(page.get_by_role("heading", level=1)).to_contain_text("count the apples")
        look(page, "8-run")

        # An administrator wants scores alone: the texts are deleted, and say so.
        page.goto(f"{address}settings/")
        look(page, "9-settings")
        page.get_by_role("radio", name=re.compile("^Scores without texts")).check()
        page.locator("section", has=page.get_by_role("heading", name="Machine")).get_by_role(
            "button", name="Save", exact=True
        ).click()
        page.goto(f"{address}runs/{execution}/")
        reload_until(page, "count the apples", gone=True)
        expect(page.locator("main")).to_contain_text("Texts not sent")
        look(page, "10-withheld")
        page.goto(f"{address}runs/{execution}/teams/team-001/rounds/2/")
        expect(page.locator("main")).to_contain_text("Not sent")
        look(page, "11-round")
        page.goto(f"{address}system/")
        expect(page.locator("main")).to_contain_text("Texts not sent")
        look(page, "12-system")
