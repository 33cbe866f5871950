"""Ways through workspaces: a file comes in, is edited, goes out, drifts away, and is adopted again."""

import re
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from playwright.sync_api import Page, expect

from studio.models import Label, PromptSet, PromptVersion, Workspace
from studio.prompts.models import Origin
from tests.browser.editor_page import EDIT, SLUG, EditorPage, forget_drafts
from tests.browser.readiness import wait_until_ready


@pytest.fixture(autouse=True)
def start_without_drafts(server: str) -> None:
    forget_drafts()


def prompt_file(slug: str) -> Path:
    return Workspace.objects.get(slug=slug).folder / "configs" / "prompt_builder.toml"


def edit_by_hand(slug: str, old: str, new: str) -> None:
    """As with a text editor in the workspace."""
    path = prompt_file(slug)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def newest() -> PromptVersion:
    found = PromptSet.objects.get(slug=SLUG).latest
    assert found is not None
    return found


def in_step(*workspaces: str) -> bool:
    """What a pipeline would hear from `manage.py drift`."""
    try:
        call_command("drift", *workspaces, stdout=StringIO())
    except SystemExit as ended:
        assert ended.code == 1
        return False
    return True


def choose(page: Page, *slugs: str) -> None:
    """Tick these workspaces on the export's page, and no other."""
    show = page.get_by_role("button", name="Show what would change")
    expect(show).to_be_visible()
    wait_until_ready(page)  # so that all of the boxes are there
    for box in page.locator(".export-where input").all():
        box.set_checked(box.get_attribute("value") in slugs)
    show.click()


def test_ship_it_a_moved_label_reaches_both_workspaces_and_a_hand_edit_is_adopted_first(page: Page) -> None:
    number = newest().number
    page.goto(f"/prompts/{SLUG}/versions/{number}/")
    page.get_by_text("Move a label here").click()
    page.get_by_label("Label", exact=True).fill("production")
    page.get_by_role("button", name=f"Move to v{number}").click()
    expect(page.get_by_text("2 workspaces follow production")).to_be_visible()
    page.get_by_role("link", name="See what would change").click()
    lab = page.locator("#research-lab")
    expect(page.locator("#research .panel-head")).to_contain_text("Will change")
    expect(lab).to_contain_text("This file was edited by hand and matches no version.")
    expect(lab.locator(".change-rows")).to_contain_text("冒頭に五行の要約")
    expect(page.get_by_role("button", name=f"Export v{number} to 1 workspace")).to_be_visible()
    lab.get_by_role("button", name="Adopt it as a version").click()
    expect(page.get_by_text(f"v{number + 1} of «調査チーム».")).to_be_visible()
    assert (newest().number, newest().origin) == (number + 1, Origin.ADOPTED)
    # The page goes on with what was adopted, and nothing would write over it.
    expect(lab.locator(".panel-head")).to_contain_text("No change")
    page.get_by_role("button", name=f"Move production and export v{number + 1}").click()
    expect(page.locator(".export-receipt")).to_have_count(1)
    expect(page.locator(".export-receipt .panel-head .badge.ok")).to_have_text(["Written"])
    assert in_step("research", "research-lab")
    assert "冒頭に五行の要約" in prompt_file("research-lab").read_text()
    assert "冒頭に五行の要約" in prompt_file("research").read_text()


def test_a_file_is_imported_edited_exported_drifts_and_is_adopted(page: Page) -> None:
    # Import: a colleague's file, looked at first.
    number = newest().number
    text = re.sub("冒頭に.行の要約", "冒頭に一行の要約", prompt_file("research").read_text())
    page.goto(f"/prompts/{SLUG}/")
    page.get_by_role("link", name="Import").click()
    file = {"name": "colleague.toml", "mimeType": "text/plain", "buffer": text.encode()}
    page.get_by_label("File").set_input_files(file)
    page.get_by_role("button", name="Review").click()
    expect(page.locator("#team ins").first).to_contain_text("一行")
    page.get_by_label("Message").fill("A shorter summary")
    page.get_by_role("button", name=f"Import as v{number + 1}").click()
    expect(page.get_by_text(f"Imported as v{number + 1}.")).to_be_visible()
    assert newest().origin == Origin.IMPORTED
    # Edit.
    page.get_by_role("link", name="Edit", exact=True).click()
    expect(page).to_have_url(re.compile(EDIT))
    editor = EditorPage(page, EDIT)
    editor.type_at_end("短く書いてください。")
    editor.save("Ask for short answers")
    expect(editor.state).to_have_text(f"Saved as v{number + 2}.")
    # Export, to one workspace.
    page.goto(f"/prompts/{SLUG}/")
    page.get_by_role("link", name="Export", exact=True).click()
    page.get_by_label("Version", exact=True).select_option(f"v{number + 2}")
    choose(page, "research")
    target = page.locator("#research")
    expect(target).to_contain_text("短く書いてください。")
    page.get_by_role("button", name=f"Export v{number + 2} to 1 workspace").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(f"v{number + 2}")
    expect(page.locator(".export-receipt")).to_contain_text("Written")
    expect(page.locator(".export-receipt")).to_contain_text("This version was written to the file.")
    assert "短く書いてください。" in prompt_file("research").read_text()
    Label.objects.move("production", newest(), by=newest().author, at=newest().created_at)
    assert in_step("research")
    # Drift: somebody edits the file where MixSeek runs.
    edit_by_hand("research", "短く書いてください。", "短く、箇条書きで書いてください。")
    assert not in_step("research")
    page.goto("/workspaces/")
    row = page.get_by_role("row", name=re.compile("調査 · research"))
    expect(row).to_contain_text("Edited by hand")
    row.get_by_role("link", name="調査 · research").click()
    page.get_by_role("link", name="See the edit").click()
    expect(page.locator("#team ins").first).to_contain_text("箇条書き")
    page.go_back()
    # Adopt: one click.
    page.get_by_role("button", name="Adopt as a version of").click()
    expect(page.get_by_text(f"v{number + 3} of «調査チーム».")).to_be_visible()
    adopted = newest()
    assert (adopted.number, adopted.origin) == (number + 3, Origin.ADOPTED)
    assert "短く、箇条書きで書いてください。" in adopted.team_user_prompt
    Label.objects.move("production", adopted, by=adopted.author, at=adopted.created_at)
    assert in_step("research")
