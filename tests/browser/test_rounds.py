"""From the list of runs to a comparison, and from a round that was played to a sample context."""

import re

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from studio.models import SampleContext, Workspace
from studio.workspaces.stores import store_of
from tests.browser.audit import findings
from tests.browser.clipboard import copied
from tests.browser.readiness import press


@pytest.fixture
def executions(server: str) -> list[str]:
    """Of finished runs, the newest first."""
    store = store_of(Workspace.objects.get(slug="research"))
    return [run.execution_id for run in store.executions(state="completed")]


def test_two_runs_are_checked_and_compared(page: Page, executions: list[str]) -> None:
    newer, older = executions[:2]
    page.goto("/workspaces/research/runs/")
    for each in (newer, older):
        page.get_by_label(f"Compare {each[:8]}").check()
    page.get_by_role("button", name="Compare two runs").click()
    expect(page).to_have_url(re.compile(re.escape(f"/runs/{older}...{newer}/") + "$"))
    assert findings(page) == []
    page.get_by_role("link", name="Beta Analysts").click()
    expect(page.get_by_role("heading", name="Round by round: Beta Analysts")).to_be_visible()
    press(page, "s")
    expect(page).to_have_url(re.compile(re.escape(f"/runs/{newer}...{older}/?team=team-002")))


def test_a_round_becomes_a_sample_context(page: Page, executions: list[str]) -> None:
    page.goto("/contexts/")
    page.get_by_role("link", name="From a run").click()
    page.get_by_role("link", name="調査 · research").click()
    page.locator(f"a[href*='execution={executions[0]}']").click()
    page.get_by_role("link", name="Beta Analysts, round 2").click()
    expect(page.get_by_text("exactly the prompt that was sent")).to_be_visible()
    assert findings(page) == []
    page.get_by_label("Name", exact=True).fill("From life")
    page.get_by_role("button", name="Save as a sample context").click()
    expect(page.get_by_role("heading", name="From life")).to_be_visible()
    SampleContext.objects.get(name="From life").delete()


def test_a_rounds_page_leads_on_and_copies_its_prompt(page: Page, executions: list[str]) -> None:
    page.goto(reverse("run-round", args=["research", executions[0], "team-002", 1]))
    press(page, "n")
    expect(page.get_by_role("heading", name="Beta Analysts · Round 2")).to_be_visible()
    assert findings(page) == []
    section = page.get_by_role("region", name="The prompt that was sent")
    store = store_of(Workspace.objects.get(slug="research"))
    sent = store.delivered(executions[0], "team-002", 2).text
    assert copied(section.get_by_role("button", name="Copy")) == sent
    page.get_by_role("link", name="As written").click()
    expect(page.locator("#submission-text")).to_be_visible()
    assert findings(page) == []
