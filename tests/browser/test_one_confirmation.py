"""One release from the editor to two workspaces: one confirmation, one receipt; with scripts and without."""

import re

import pytest
from playwright.sync_api import Page, expect

from studio.models import Export, Label, PromptSet, Workspace
from tests.browser.editor_page import EDIT, SLUG, EditorPage, forget_drafts
from tests.studio.workspaces.exports.confirming import prompt_file

FOLLOWERS = ("research", "research-lab")


@pytest.fixture(autouse=True)
def start_without_drafts(server: str) -> None:
    forget_drafts()


def texts() -> list[str]:
    return [prompt_file(Workspace.objects.get(slug=slug).folder).read_text() for slug in FOLLOWERS]


def confirm(page: Page, number: int, word: str) -> None:
    """The page after «Save and export…»: both followers are ticked, the edited one says so."""
    expect(page.locator(".export-where input:checked")).to_have_count(2)
    edited = page.locator("#research-lab")
    if edited.get_by_text("Edited by hand").count():
        expect(edited.get_by_role("button", name="Adopt it as a version")).to_be_visible()
        edited.get_by_label(re.compile("Overwrite; the edit is first saved")).check()
    assert word not in "".join(texts()), "nothing is written before the confirmation"
    page.get_by_label("Message").fill(f"Ask for {word}")
    page.get_by_role("button", name=f"Save and export v{number}").click()
    steps = page.locator(".export-done li")
    expect(steps).to_have_text(
        [
            re.compile(rf"Saved as v{number}\.\s+Ask for {word}"),
            re.compile(rf"production\s+v\d+ →\s+v{number}"),
            "Files written: 2 of 2",
        ]
    )
    expect(page.locator(".export-receipt")).to_have_count(2)
    assert all(word in text for text in texts())
    assert Label.objects.get(prompt_set__slug=SLUG, name="production").version.number == number
    assert Export.objects.filter(version__number=number, version__prompt_set__slug=SLUG).count() == 2


def test_one_release_from_the_editor_to_two_workspaces(page: Page) -> None:
    number = PromptSet.objects.get(slug=SLUG).revision + 1
    editor = EditorPage(page)
    editor.type_at_end("Answer briefly.")
    page.get_by_role("button", name="Save and export…").click()
    confirm(page, number, "Answer briefly")


def test_the_same_without_scripts(plain: Page) -> None:
    number = PromptSet.objects.get(slug=SLUG).revision + 1
    plain.goto(EDIT)
    text = plain.get_by_label("team_user_prompt")
    text.fill(text.input_value() + "Name your sources.")
    plain.get_by_role("button", name="Save and export…").click()
    # A choice made without scripts is looked at first, and what was typed stays.
    plain.get_by_label("Message").fill("Ask for sources")
    plain.get_by_label("Move a label").select_option("")
    plain.get_by_role("button", name="Show what would change").click()
    expect(plain.get_by_label("Message")).to_have_value("Ask for sources")
    expect(plain.locator(".export-where input:checked")).to_have_count(0)
    plain.get_by_label("Move a label").select_option("production")
    plain.get_by_role("button", name="Show what would change").click()
    confirm(plain, number, "Name your sources")
