"""Around the text: the cursor, the variables, the header, and a message from before."""

import re

import pytest
from playwright.sync_api import Page, expect

from studio.models import PromptVersion
from tests.browser.conftest import Watch
from tests.browser.editor_page import EditorPage, forget_drafts
from tests.browser.patience import eventually


@pytest.fixture
def editor(page: Page) -> EditorPage:
    forget_drafts()
    return EditorPage(page)


def test_it_opens_with_the_cursor_in_the_text(editor: EditorPage) -> None:
    expect(editor.content).to_be_focused()
    editor.page.keyboard.type("First words. ")
    expect(editor.prompt).to_contain_text("First words.")


def test_variables_have_the_values_of_the_context_and_a_click_inserts_one(editor: EditorPage) -> None:
    rows = editor.page.locator("#variables li")
    row = rows.filter(has_text="round_number")
    expect(row).to_contain_text(re.compile(r"int\s+The current round, counted from 1\s+2"))
    editor.page.get_by_role("group", name="Round").get_by_role("button", name="3").click()
    expect(row.locator(".variable-value")).to_have_text("3")
    editor.page.get_by_label("Sample context").select_option("round-1")
    expect(row.locator(".variable-value")).to_have_text("1")
    editor.write("Round ")
    row.get_by_role("button", name="round_number").click()
    editor.expect_text("Round {{ round_number }}")
    expect(editor.content).to_be_focused()
    editor.page.get_by_role("tab", name="Evaluator").click()
    expect(rows.locator(".variable-name")).to_have_text(["user_prompt", "submission", "current_datetime"])


def test_over_a_name_in_the_text_its_meaning_and_value_are_shown(editor: EditorPage) -> None:
    editor.write("Go on: {{ round_number }}")
    editor.page.locator(".jinja-name:visible").hover()
    tip = editor.page.locator(".variable-tip")
    expect(tip).to_contain_text("The current round, counted from 1")
    expect(tip.locator("pre")).to_have_text("2")


def test_panels_stay_as_they_were_left(editor: EditorPage) -> None:
    variables = editor.page.locator("#variables")
    expect(variables).to_be_visible()
    editor.page.get_by_text("Variables", exact=True).click()
    expect(variables).to_be_hidden()
    editor.page.reload()
    editor.wait_until_ready()
    expect(variables).to_be_hidden()


@pytest.mark.parametrize("width", [1400, 1100, 1000])
def test_the_header_stays_in_words(editor: EditorPage, width: int) -> None:
    editor.page.set_viewport_size({"width": width, "height": 800})
    editor.write("Changed: {{ user_prompt }}")
    editor.expect_kept()
    parts = editor.page.locator(".editor-head :is(h1, output, .page-facts > *):visible")
    for text, box in [(each.inner_text(), each.bounding_box()) for each in parts.all()]:
        # One line each: a word that is broken into letters is high and narrow.
        assert box and box["height"] < 40 and box["width"] > 5 * len(text), text
    assert editor.page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0


def test_a_message_of_a_save_that_failed_is_looked_at_before_it_is_used(
    editor: EditorPage, watch: Watch
) -> None:
    watch.expect(422)
    message = editor.page.get_by_label("Message")
    editor.write("{{ nobody }}")
    editor.save("A message for something else")
    expect(editor.page.locator("main > .notices")).to_contain_text("Not saved")
    editor.write("Fine now: {{ user_prompt }}")
    expect(editor.prompt).to_contain_text("Fine now")
    editor.press("Control+s")
    # Not yet: the message is selected, to be read or written over.
    expect(message).to_be_focused()
    expect(editor.page.get_by_text("Message of the failed save: check it, then save.")).to_be_visible()
    assert not PromptVersion.objects.filter(message="A message for something else").exists()
    editor.page.keyboard.type("What it really is")
    editor.press("Control+s")
    expect(editor.state).to_contain_text("Saved as")
    eventually(editor.page, lambda: PromptVersion.objects.filter(message="What it really is").count(), 1)
    # And one that was looked at is used as it is.
    editor.write("Once more: {{ user_prompt }}")
    message.fill("Once more")
    editor.expect_kept()
    editor.page.reload()
    editor.wait_until_ready()
    editor.press("Control+s")
    expect(message).to_be_focused()
    editor.press("Control+s")
    expect(editor.state).to_contain_text("Saved as")
