"""A system prompt's settings: written, marked where wrong, saved, compared, exported, brought back."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from studio.models import PromptSet, Workspace
from tests.browser.audit import findings
from tests.browser.editor_page import EditorPage
from tests.browser.readiness import press
from tests.browser.watch import Watch

LAB = "research-lab"
NAME = "Agents of the lab"


def file_in(slug: str) -> Path:
    return Workspace.objects.get(slug=slug).folder / "configs" / "system_prompt.toml"


@pytest.fixture
def before() -> bytes | None:
    """What the demo's workspace has there."""
    file = file_in(LAB)
    return file.read_bytes() if file.exists() else None


def test_settings_are_edited_saved_compared_exported_and_brought_back(
    page: Page, watch: Watch, before: bytes | None
) -> None:
    watch.expect(422)
    page.goto("/prompts/new/")
    page.get_by_label("Name", exact=True).fill(NAME)
    page.get_by_role("radio", name=re.compile("System prompt")).check()
    page.get_by_role("button", name="Create the set").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(NAME)
    slug = PromptSet.objects.get(name=NAME).slug
    editor = EditorPage(page, f"/prompts/{slug}/edit/")
    expect(page.get_by_role("tab")).to_have_text(re.compile("system_prompt.toml"))
    expect(page.get_by_role("table", name="Effective settings")).to_contain_text("Asia/Tokyo")
    expect(page.locator(".jinja-keyword").first).to_have_text("[system_prompt]")
    # A slip of the hand is marked on its line, with what was meant.
    page.locator(".cm-line", has_text="docs_path").click()
    press(page, "Home", "ArrowRight", "Delete")
    expect(editor.errors).to_have_count(1)
    expect(editor.errors).to_contain_text("dcs_path")
    expect(page.locator(".cm-lint-marker-error")).to_have_count(1)
    page.get_by_label("Message").fill("Docs elsewhere")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Not saved: fix the problems below.")).to_be_visible()
    assert findings(page) == []
    # One press mends it.
    editor.errors.get_by_role("button", name="Replace with docs_path").click()
    expect(editor.errors).to_have_count(0)
    page.locator(".cm-line", has_text="docs_path").click()
    press(page, "End", "ArrowLeft", "s")
    expect(page.get_by_role("table", name="Effective settings")).to_contain_text("docss")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("check it, then save")).to_be_visible()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Saved as v2.")).to_be_visible()
    assert findings(page) == []
    # Compared, change by change.
    page.goto(f"/prompts/{slug}/")
    assert findings(page) == []
    page.get_by_role("button", name="Compare selected").click()
    expect(page.locator("table.diff ins").first).to_have_text(re.compile("s"))
    assert findings(page) == []
    press(page, "n")
    expect(page.locator("[data-changes] output")).to_contain_text("1")
    # Exported, and undone.
    page.goto(f"/prompts/{slug}/export/?version=2&workspace={LAB}")
    assert findings(page) == []
    if before is not None:
        page.get_by_label(re.compile("Overwrite")).check()
    page.get_by_role("button", name=re.compile("^Export v2")).click()
    receipt = page.locator(".export-receipt")
    expect(receipt).to_contain_text(re.compile("was written to the file|was created"))
    assert b'docs_path = "docss"' in file_in(LAB).read_bytes()
    page.goto(f"/workspaces/{LAB}/")
    expect(page.locator("section", has=page.locator("#system-file-title")).first).to_contain_text("v2")
    assert findings(page) == []
    page.go_back()
    receipt.get_by_role("link", name="Undo…").click()
    page.get_by_role("button", name="Undo the export").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Undo of an export")
    file = file_in(LAB)
    assert (file.read_bytes() if file.exists() else None) == before


def test_preview_builds_the_text_for_the_chosen_workspace(page: Page, plain: Page) -> None:
    page.goto("/prompts/new/")
    page.get_by_label("Name", exact=True).fill("Built beside")
    page.get_by_role("radio", name=re.compile("System prompt")).check()
    page.get_by_role("button", name="Create the set").click()
    slug = PromptSet.objects.get(name="Built beside").slug
    editor = EditorPage(page, f"/prompts/{slug}/edit/")
    lab = Workspace.objects.get(slug=LAB)
    page.get_by_label("Workspace", exact=True).select_option(LAB)
    expect(page.get_by_role("region", name=f"Built for {lab.name}")).to_be_visible()
    expect(page).to_have_url(re.compile(f"workspace={LAB}"))
    # The text follows what is typed, and does not jump while somebody reads it.
    text = page.locator("#preview .system-text")
    text.evaluate("element => (element.scrollTop = 90)")
    editor.content.click()
    press(page, "Control+End", "Enter")
    page.keyboard.insert_text('[[system_prompt.tools]]\nname = "look"\nsummary = "Looks around"\n')
    expect(text).to_contain_text("Looks around")
    expect(page.locator(".system-cache")).to_contain_text("first difference in")
    expect(text).to_have_js_property("scrollTop", 90)
    assert findings(page) == []
    page.reload()
    editor.wait_until_ready()
    expect(page.get_by_label("Workspace", exact=True)).to_have_value(LAB)
    expect(text).to_contain_text("Looks around")
    # Without scripts the button of the form asks for it.
    plain.goto(f"/prompts/{slug}/edit/")
    plain.get_by_label("Workspace", exact=True).select_option(LAB)
    plain.get_by_role("button", name="Preview").click()
    expect(plain.get_by_role("region", name=f"Built for {lab.name}")).to_be_visible()
