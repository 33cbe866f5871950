"""Whole ways through the studio, as the people it is for take them."""

import re

import pytest
from playwright.sync_api import Page, expect

from studio.models import Draft, PromptSet
from tests.browser.editor_page import EDIT, SLUG, EditorPage, forget_drafts
from tests.browser.readiness import press
from tests.browser.watch import Watch


@pytest.fixture(autouse=True)
def start_without_drafts(server: str) -> None:
    forget_drafts()


def newest() -> str:
    latest = PromptSet.objects.get(slug=SLUG).latest
    assert latest is not None
    return latest.team_user_prompt


def test_first_minute_change_a_word_see_it_move_save_and_find_it_in_the_history(
    page: Page, server: str
) -> None:
    page.goto("/prompts/")
    number = PromptSet.objects.get(slug=SLUG).revision
    page.get_by_role("link", name="調査チーム").click()
    page.get_by_role("link", name="Edit", exact=True).click()
    expect(page).to_have_url(re.compile(EDIT))
    editor = EditorPage(page, EDIT)
    editor.type_at_end("Answer briefly.")
    expect(editor.prompt).to_contain_text("Answer briefly.")
    expect(page.locator("#changes summary")).to_contain_text(f"Since v{number}")
    editor.save("Ask for short answers")
    expect(editor.state).to_have_text(f"Saved as v{number + 1}.")
    expect(page.get_by_label("Message")).to_have_value("")
    expect(page.locator(".page-facts")).to_contain_text(f"from v{number + 1}")
    assert newest().endswith("Answer briefly.")
    # The page goes on: what is written next starts from the version just saved.
    editor.type_at_end(" In English.")
    editor.save("Say the language")
    expect(page.get_by_text(f"Saved as v{number + 2}.")).to_be_visible()
    page.get_by_role("link", name="Compare", exact=True).click()
    expect(page).to_have_url(f"{server}/prompts/{SLUG}/compare/{number + 1}...{number + 2}")
    page.get_by_role("link", name="History", exact=True).click()
    expect(page.get_by_text("Ask for short answers")).to_be_visible()
    expect(page.get_by_text("Say the language")).to_be_visible()


def test_saving_without_a_message_asks_for_one(page: Page) -> None:
    editor = EditorPage(page)
    editor.type_at_end("more")
    press(page, "Control+s")
    expect(page.get_by_label("Message")).to_be_focused()
    expect(page.locator("#message-error")).to_contain_text("Describe the change briefly")
    page.keyboard.type("Some words")
    expect(page.locator("#message-error")).to_have_count(0)


def test_typo_refused_with_the_same_words_and_the_draft_is_safe(page: Page, watch: Watch) -> None:
    watch.expect(422)
    editor = EditorPage(page)
    version = PromptSet.objects.get(slug=SLUG).revision
    editor.write("# History\n{{ submision_history }}\n")
    words = "not a variable of this template. Did you mean submission_history?"
    expect(editor.errors).to_contain_text(words)
    editor.save("With a typo")
    expect(page.get_by_text("Not saved: fix the problems below.")).to_be_visible()
    expect(editor.errors).to_contain_text(words)
    assert (editor.stored(), PromptSet.objects.get(slug=SLUG).revision) == (
        "# History\n{{ submision_history }}\n",
        version,
    )
    # The cursor is where the problem is, and what was asked for goes when it is done.
    press(page, "Control+.")
    expect(editor.errors).to_have_count(0)
    expect(page.get_by_text("Not saved: fix the problems below.")).to_have_count(0)
    press(page, "Control+s")  # the message is from the save that failed: a look at it,
    expect(page.get_by_label("Message")).to_be_focused()
    press(page, "Control+s")  # then it is used
    expect(page.get_by_text(f"Saved as v{version + 1}.")).to_be_visible()
    assert newest() == "# History\n{{ submission_history }}\n"


def test_an_error_in_another_template_turns_to_it(page: Page, watch: Watch) -> None:
    watch.expect(422)
    editor = EditorPage(page)
    press(page, "Alt+2")
    editor.write("{{ round_number }}\n")
    expect(page.get_by_role("tab", name="Evaluator")).to_contain_text("1")
    press(page, "Alt+1")
    expect(editor.content).to_have_attribute("aria-label", "team_user_prompt")
    editor.save("Half done")
    expect(page.get_by_role("tab", name="Evaluator")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#panel-evaluator .cm-lintRange-error")).to_have_text("round_number")


def test_somebody_was_faster_both_texts_are_kept(page: Page, watch: Watch) -> None:
    watch.expect(409)
    editor = EditorPage(page)
    editor.write("my line\n")
    editor.expect_kept()
    prompt_set = PromptSet.objects.get(slug=SLUG)
    assert prompt_set.latest is not None
    templates, author = prompt_set.latest.templates, prompt_set.latest.author
    theirs = type(templates)("their line\n", templates.evaluator_user_prompt, templates.judgment_user_prompt)
    prompt_set.save_version(
        theirs, base=prompt_set.revision, message="Faster", author=author, at=prompt_set.changed_at
    )
    editor.save("Mine")
    expect(page.get_by_role("heading", name="Someone else saved first: v")).to_be_visible()
    page.get_by_role("button", name="Use as my draft").click()
    editor.wait_until_ready()
    editor.expect_text("my line\ntheir line\n")


def test_all_of_it_without_javascript(plain: Page, watch: Watch) -> None:
    watch.expect(409, 422)
    plain.goto(f"{EDIT}?context=round-5-first&round=2")
    text = plain.get_by_label("team_user_prompt")
    text.fill("# History\n{{ submision_history }}\n")
    plain.get_by_role("button", name="Preview").click()
    expect(plain.locator("#preview")).to_contain_text("Did you mean submission_history?")
    plain.get_by_label("Message").fill("By hand")
    plain.get_by_role("button", name="Save", exact=True).click()
    expect(plain.get_by_text("Not saved: fix the problems below.")).to_be_visible()
    text.fill("# Round {{ round_number }}\n{{ submission_history }}\n")
    plain.get_by_role("button", name="Preview").click()
    expect(plain.locator("#preview .prompt")).to_contain_text("# Round 2")
    plain.get_by_role("group", name="Round").get_by_role("button", name="3").click()
    expect(plain.locator("#preview .prompt")).to_contain_text("# Round 3")
    plain.get_by_role("tab", name="Judgment").click()
    expect(plain.get_by_label("judgment_user_prompt")).to_be_visible()
    other = plain.context.new_page()
    other.goto(EDIT)
    plain.get_by_role("button", name="Save", exact=True).click()
    expect(plain.get_by_text(re.compile(r"Saved as v\d+\."))).to_be_visible()
    assert newest() == "# Round {{ round_number }}\n{{ submission_history }}\n"
    other.get_by_label("team_user_prompt").fill("# Another\n{{ submission_history }}\n")
    other.get_by_label("Message").fill("At the same time")
    other.get_by_role("button", name="Save", exact=True).click()
    expect(other.get_by_role("button", name="Use as my draft")).to_be_visible()
    expect(other.locator(".three-way")).to_contain_text("# Another")
    expect(other.locator(".three-way")).to_contain_text("# Round {{ round_number }}")
    other.get_by_role("button", name="Use as my draft").click()
    expect(other).to_have_url(re.compile(EDIT))
    kept = other.get_by_label("team_user_prompt").input_value()
    assert "# Another\n" in kept and "# Round {{ round_number }}\n" in kept
    assert Draft.objects.get(prompt_set__slug=SLUG).team_user_prompt == kept
