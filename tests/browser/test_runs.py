"""Watching a run: ranking and chart move while MixSeek writes, and MixSeek does not notice."""

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Locator, Page, expect

from studio.models import Workspace
from tests.browser import live_run
from tests.browser.audit import findings, sideways
from tests.browser.patience import eventually
from tests.browser.watch import Watch

ROOT = Path(__file__).resolve().parents[2]
WAIT = 20_000


@dataclass
class Writer:
    """The process that plays MixSeek."""

    process: subprocess.Popen[str]
    url: str

    def say(self, command: str) -> None:
        assert self.process.poll() is None and self.process.stdin is not None, "the writer died"
        self.process.stdin.write(f"{command}\n")
        self.process.stdin.flush()


# Of every test, so that a page that still watches the run is closed before the run is gone.
@pytest.fixture(autouse=True)
def writer(server: str, tmp_path: Path) -> Iterator[Writer]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.browser.live_run", str(tmp_path)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    execution = process.stdout.readline().strip()
    workspace = Workspace.objects.create(
        slug="watched", name="Watched", path=str(tmp_path), created_at=timezone.now()
    )
    yield Writer(process, reverse("run-detail", args=["watched", execution]))
    workspace.delete()
    process.kill()
    process.communicate()


def leader(page: Page) -> Locator:
    return page.locator("#run-ranking .row-link").first


def test_watch_a_run_from_its_second_round_to_its_end(page: Page, writer: Writer) -> None:
    page.goto("/workspaces/watched/runs/")
    expect(page.get_by_text("Running", exact=True).last).to_be_visible()
    page.locator("a.row-link").click()
    expect(leader(page)).to_have_text("Alpha")
    expect(page.locator("#live")).to_contain_text("Running for")
    expect(page.locator("#run-progress")).to_contain_text("1 of 9")
    expect(page.locator("#run-scores .series circle")).to_have_count(1)
    # Somebody has moved on the page: neither their place nor their focus may be lost.
    page.locator("#order-contract").focus()
    page.evaluate("window.scrollTo(0, 120)")
    page.evaluate("window.here = true")
    writer.say("round")
    expect(leader(page)).to_have_text("深掘り班", timeout=WAIT)
    expect(page.locator("#run-scores .series circle")).to_have_count(2)
    expect(page.get_by_role("columnheader", name="Round 2")).to_be_visible()
    expect(page.locator("#run-progress")).to_contain_text("2 of 9")
    assert page.evaluate("[document.activeElement.id, window.scrollY, window.here]") == [
        "order-contract",
        120,
        True,
    ]
    writer.say("end")
    expect(page.locator("#run-head .badge").first).to_have_text("Completed", timeout=WAIT)
    expect(page.locator("h1")).to_contain_text(live_run.TASK)
    expect(page.locator("[data-live]")).to_have_count(0)
    assert writer.process.wait(timeout=20) == 0
    page.locator("#run-ranking .row-link").first.click()
    expect(page.locator(".markdown strong").first).to_have_text("深掘り班")
    expect(page.locator("img")).to_have_count(0)


def test_a_hidden_tab_rests_and_asks_at_once_when_it_is_seen(page: Page, writer: Writer) -> None:
    page.add_init_script("Object.defineProperty(document, 'hidden', { get: () => window.away === true })")
    page.goto(writer.url)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "have=" in request.url else None)
    page.evaluate("window.away = true")
    asked.clear()
    page.evaluate("htmx.trigger('#live', 'live')")
    page.wait_for_timeout(300)
    assert asked == []
    with page.expect_response(lambda answer: "have=" in answer.url):
        page.evaluate("window.away = false; document.dispatchEvent(new Event('visibilitychange'))")


def test_a_studio_that_is_away_is_told_and_the_page_stays(page: Page, writer: Writer, watch: Watch) -> None:
    watch.expect(503)
    page.goto(writer.url)
    page.route("**/*have=*", lambda route: route.fulfill(status=503, body="<p>busy</p>"))
    page.evaluate("htmx.trigger('#live', 'live')")
    expect(page.locator("#live .stale")).to_have_text("The studio is not responding. Retrying…")
    expect(page.get_by_text("busy")).to_have_count(0)
    page.unroute("**/*have=*")
    page.evaluate("htmx.trigger('#live', 'live')")
    expect(page.locator("#live .stale")).to_have_count(0)
    expect(leader(page)).to_have_text("Alpha")


def test_everything_is_there_without_scripts(plain: Page, writer: Writer) -> None:
    plain.goto("/runs/")
    plain.get_by_label("Search runs").fill("Alpha")
    plain.get_by_role("button", name="Search").click()
    expect(plain).to_have_url(re.compile("q=Alpha"))
    plain.locator("#runs a.row-link").first.click()
    plain.get_by_role("link", name="Specification ranking").click()
    expect(plain).to_have_url(re.compile("order=contract"))
    expect(leader(plain)).to_have_text("Alpha")
    writer.say("round")
    eventually(plain, lambda: leader_after_a_reload(plain), "深掘り班")


def leader_after_a_reload(page: Page) -> str:
    """By the page's own link, for want of scripts."""
    with page.expect_navigation():
        page.locator("#live-reload").click()
    return leader(page).inner_text()


def test_a_run_and_a_team_have_no_findings_and_do_not_scroll_sideways(page: Page, writer: Writer) -> None:
    found: list[str] = []
    for url in (
        writer.url,
        f"{writer.url}teams/team-b/",
        f"{writer.url}teams/team-b/?raw=1",
        "/workspaces/watched/runs/",
        "/runs/",
    ):
        page.goto(url)
        found += findings(page) + sideways(page)
    assert found == []
