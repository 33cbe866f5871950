"""Why did the team do that? From a leaderboard row to the prompt really sent, its version, and a replay."""

import re
from collections.abc import Iterator

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from studio.models import Workspace
from studio.results.attribution import attribute_workspace
from studio.workspaces.stores import store_of
from tests.browser.audit import findings
from tests.browser.editor_page import EditorPage, forget_drafts
from tests.browser.readiness import press


@pytest.fixture
def execution(server: str) -> Iterator[str]:
    """The newest finished run of the demo; nobody has a draft before or after."""
    forget_drafts()
    workspace = Workspace.objects.get(slug="research")
    attribute_workspace(workspace, timezone.now())
    yield next(iter(store_of(workspace).executions(state="completed"))).execution_id
    forget_drafts()


def test_from_a_row_of_the_leaderboard_to_a_replay_with_the_draft(page: Page, execution: str) -> None:
    page.goto(f"/workspaces/research/runs/{execution}/")
    made_with = page.get_by_role("region", name="Made with")
    expect(made_with.get_by_text("exact", exact=True)).to_be_visible()
    assert findings(page) == []
    rows = page.get_by_role("row", name="Beta Analysts")
    rows.get_by_title("Prompt and details").first.click()
    expect(page.get_by_role("heading", name=re.compile("Beta Analysts · Round"))).to_be_visible()
    round_page = page.url
    sent = page.get_by_role("region", name="The prompt that was sent")
    version = sent.locator(".version-link").first
    number = re.search(r"v(\d+)", version.inner_text())
    assert number and findings(page) == []
    version.click()
    expect(page).to_have_url(re.compile(rf"/versions/{number[1]}/$"))

    editor = EditorPage(page, "/prompts/research-team/edit/")
    editor.content.click()
    press(page, "Control+Home")
    page.keyboard.type("REPLAYED LINE\n")
    expect(editor.state).to_have_attribute("data-is", "saved")
    page.goto(round_page)
    page.get_by_role("link", name="Re-render with your draft").click()
    expect(page.get_by_text("Differs from what was sent")).to_be_visible()
    expect(page.locator("table.diff .added .new, table.diff .changed .new").first).to_contain_text(
        "REPLAYED LINE"
    )
    assert findings(page) == []
    press(page, "n")
    expect(page.locator("table.diff [aria-current]")).to_have_count(1)

    page.get_by_role("link", name=re.compile(rf"^v{number[1]}\b.*sent")).click()
    expect(page.get_by_text("Identical to what was sent")).to_be_visible()
    press(page, "d")
    expect(page.get_by_text("Differs from what was sent")).to_be_visible()
    page.get_by_role("link", name="Judgment").click()
    expect(page.get_by_text("MixSeek stores only the prompts of teams")).to_be_visible()
    page.get_by_role("link", name="The whole run").click()
    expect(page.get_by_text("0 of 12 prompts are the same")).to_be_visible()
    assert findings(page) == []
    page.locator("table.matrix a.cell-in").first.click()
    expect(page.get_by_text("Differs from what was sent")).to_be_visible()
    page.get_by_role("link", name="Save as a sample context").click()
    expect(page.get_by_text("exactly the prompt that was sent")).to_be_visible()


def test_another_version_is_chosen_in_the_form(page: Page, execution: str) -> None:
    page.goto(f"/workspaces/research/runs/{execution}/replay/")
    page.get_by_label("Version", exact=True).select_option("1")
    page.get_by_role("button", name="Show").click()
    expect(page).to_have_url(re.compile(r"set=research-team&version=1$"))
    expect(page.get_by_text("of 12 prompts are the same")).to_be_visible()
