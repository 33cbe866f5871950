"""An edit is overwritten knowingly and brought back, with scripts and without."""

import re

from playwright.sync_api import Page, expect

from studio.models import Export, PromptSet, Workspace
from tests.studio.workspaces.exports.confirming import prompt_file

PLAN = "/prompts/research-team/export/?version=3&workspace=research-lab"


def overwrite_and_undo(page: Page) -> None:
    file = prompt_file(Workspace.objects.get(slug="research-lab").folder)
    edit = file.read_bytes()
    known = PromptSet.objects.get(slug="research-team").revision
    page.goto(PLAN)
    page.get_by_label(re.compile("Overwrite; the edit is first saved as a version")).check()
    page.get_by_role("button", name="Export v3", exact=True).click()
    receipt = page.locator(".export-receipt")
    expect(receipt).to_contain_text("This version was written to the file.")
    assert file.read_bytes() != edit
    receipt.get_by_role("link", name="Undo…").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Undo an export")
    expect(page.locator("table.diff ins").first).to_be_visible()
    page.get_by_role("button", name="Undo the export").click()
    expect(page.locator(".export-receipt")).to_contain_text("restored exactly as it was before")
    assert file.read_bytes() == edit
    kept = Export.objects.filter(undoes=None).latest("pk").kept_as
    assert kept is not None and kept.number >= known


def test_an_edit_is_overwritten_knowingly_and_brought_back(page: Page) -> None:
    overwrite_and_undo(page)
    # The edit is a version by now, so that nothing has to be ticked any more; lines unfold where they are.
    page.goto(PLAN)
    expect(page.locator("#research-lab .panel-head")).to_contain_text("Will change")
    rows = page.locator("#research-lab table.diff tr")
    before = rows.count()
    page.locator("#research-lab .held a").first.click()
    expect(page.locator("#research-lab table.diff td.n").first).to_have_text("1")
    expect(rows).not_to_have_count(before)


def test_the_same_without_scripts(plain: Page) -> None:
    file = prompt_file(Workspace.objects.get(slug="research-lab").folder)
    file.write_text(file.read_text().replace("# ラウンド", "# ROUND"))
    overwrite_and_undo(plain)
    plain.goto(PLAN)
    plain.locator("#research-lab .held a").first.click()
    expect(plain.locator("#research-lab table.diff td.n").first).to_have_text("1")
