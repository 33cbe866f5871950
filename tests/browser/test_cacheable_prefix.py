"""What a cache can keep: shaded in the template and in the prompt, with hints whose order can be taken."""

import re

import pytest
from playwright.sync_api import Locator, Page, Request, Route, expect

from studio.models import Draft, DraftCopy
from studio.prompts.drafts import CopyReason
from tests.browser.audit import findings
from tests.browser.editor_page import SLUG, EditorPage, forget_drafts
from tests.browser.patience import eventually

CLOCK = "Now: {{ current_datetime }}\n# Task\n{{ user_prompt }}\nAnswer in Japanese, in a few words.\n"
CALM = "# Task\n{{ user_prompt }}\nRound {{ round_number }} of this, at {{ current_datetime }}\n"


@pytest.fixture
def editor(page: Page) -> EditorPage:
    forget_drafts()
    opened = EditorPage(page)
    opened.open_drawer()
    return opened


def block(editor: EditorPage) -> Locator:
    return editor.page.locator("#cacheable-prefix")


def shaded(editor: EditorPage, name: str) -> Locator:
    """The part of the prompt that is the same for one task or one round."""
    return editor.prompt.locator(f".stable.{name}")


def expect_shaded(editor: EditorPage, name: str, text: str) -> None:
    """That part is this, whatever pieces the marks of changed lines make of it."""

    def matches() -> bool:
        return re.search(text, "".join(shaded(editor, name).all_text_contents()), re.DOTALL) is not None

    eventually(editor.page, matches, True)


def source(editor: EditorPage, name: str) -> str:
    """The part of the template, whatever pieces the editor makes of it."""
    return "".join(editor.page.locator(f".cm-content:visible .cm-stable-{name}").all_text_contents())


def test_both_shades_follow_the_text(editor: EditorPage) -> None:
    editor.write(CALM)
    expect_shaded(editor, "task", "^# Task\n.*\nRound $")
    expect_shaded(editor, "round", "^2 of this, at $")
    eventually(editor.page, lambda: source(editor, "round"), "{{ round_number }} of this, at ")
    eventually(editor.page, lambda: source(editor, "task"), "# Task{{ user_prompt }}Round ")
    expect(editor.page.locator(".cm-stable-end.task")).to_have_attribute(
        "title", "Same up to here in all prompts of the task"
    )
    assert findings(editor.page) == []
    editor.press("Control+Home")
    editor.page.keyboard.type("Please: ")
    # Moved along at once, before anything is answered.
    assert source(editor, "task").endswith("# Task{{ user_prompt }}Round ")
    expect_shaded(editor, "task", "^Please: # Task")
    editor.page.keyboard.type("{{ round_number }} ")
    expect_shaded(editor, "task", "^Please: $")
    expect(block(editor)).to_contain_text("Same task")


def test_another_round_and_another_template_have_their_own(editor: EditorPage) -> None:
    editor.write(CALM)
    expect_shaded(editor, "round", "^2 of this, at $")
    expect(block(editor)).to_contain_text("Observed, rounds 2 and 3")
    editor.page.get_by_role("group", name="Round").get_by_role("button", name="5").click()
    expect_shaded(editor, "round", "^5 of this, at $")
    expect(block(editor)).to_contain_text("Observed, rounds 4 and 5")
    editor.page.get_by_label("Sample context").select_option("round-1")
    expect(block(editor)).to_contain_text("there is no second round to compare with")
    editor.page.get_by_role("tab", name="Evaluator").click()
    expect(block(editor)).to_have_attribute("data-kind", "evaluator")


def test_switched_off_nothing_is_shaded_and_it_stays_off(editor: EditorPage) -> None:
    editor.write(CALM)
    expect(shaded(editor, "task").first).to_be_visible()
    switch = editor.page.get_by_label("Highlight cacheable text")
    switch.uncheck()
    expect(editor.page.locator(".stable, .cm-stable-task, .cm-stable-end")).to_have_count(0)
    editor.expect_kept()
    editor.page.reload()
    editor.wait_until_ready()
    # The drawer is open, as it was left.
    expect(block(editor)).to_contain_text("Same round")
    expect(switch).not_to_be_checked()
    expect(editor.page.locator(".stable, .cm-stable-task")).to_have_count(0)
    switch.check()
    expect(shaded(editor, "task").first).to_be_visible()


def test_with_the_drawer_closed_nothing_is_shaded_and_nothing_asked(editor: EditorPage) -> None:
    expect(shaded(editor, "task").first).to_be_visible()
    editor.open_drawer()  # once more: it closes
    expect(editor.page.locator(".stable, .cm-stable-task")).to_have_count(0)
    editor.page.reload()
    editor.wait_until_ready()
    expect(block(editor)).to_be_hidden()
    asked: list[Request] = []
    editor.page.on("request", lambda request: asked.append(request) if "/stability/" in request.url else None)
    editor.write(CALM)
    expect(editor.prompt).to_contain_text("Round 2 of this")
    editor.page.wait_for_timeout(500)
    assert asked == []


def test_of_a_text_with_errors_nothing_is_shaded(editor: EditorPage) -> None:
    editor.write(CALM)
    expect(shaded(editor, "task").first).to_be_visible()
    editor.type_at_end("{% if %}")
    expect(editor.errors).to_have_count(1)
    expect(editor.page.locator(".cm-stable-task")).to_have_count(0)


def test_previews_do_not_wait_for_it(editor: EditorPage) -> None:
    expect(shaded(editor, "task").first).to_be_visible()  # what the page itself asked is answered
    held: list[Route] = []
    asked: list[Request] = []
    editor.page.route("**/stability/", lambda route: route.fallback() if held else held.append(route))
    editor.page.on("request", lambda request: asked.append(request) if "/stability/" in request.url else None)
    editor.write(CALM)
    expect(editor.prompt).to_contain_text("Round 2 of this")
    eventually(editor.page, lambda: len(held), 1)
    editor.press("Control+Home")
    editor.page.keyboard.type("above ")
    expect(editor.prompt).to_contain_text("above # Task")
    editor.page.wait_for_timeout(500)
    assert len(asked) == 1
    held[0].fallback()
    expect_shaded(editor, "task", "^above # Task")


def test_a_hint_leads_to_its_line_and_its_order_is_taken_and_undone(editor: EditorPage) -> None:
    editor.write(CLOCK)
    hint = block(editor).locator(".cache-hints > li").filter(has_text="C001")
    expect(hint).to_contain_text("costs")
    hint.get_by_role("link", name="Line 1").click()
    expect(editor.content).to_be_focused()
    expect(editor.page.locator(".cm-activeLine:visible")).to_contain_text("Now:")
    hint.get_by_text("Suggested order").click()
    expect(hint.locator(".row.removed")).to_contain_text("current_datetime")
    expect(hint.locator(".row.added").last).to_contain_text("current_datetime")
    assert findings(editor.page) == []
    # It stays open, and is about the text as it is now.
    editor.type_at_end("Be brief.")
    expect(hint.locator(".change-rows")).to_contain_text("Be brief.")
    editor.expect_kept()
    hint.get_by_role("button", name="Apply to the draft").click()
    expect_shaded(editor, "task", "Answer in Japanese, in a few words.")
    taken = editor.text()
    assert taken.index("user_prompt") < taken.index("current_datetime")
    expect(editor.state).to_contain_text(re.compile("Draft updated|Draft saved"))
    editor.expect_kept_text(taken)
    copy = DraftCopy.objects.get()
    assert (copy.team_user_prompt, copy.reason) == (CLOCK + "Be brief.", CopyReason.REORDERED)
    expect(editor.page.locator("#draft-notices")).to_contain_text("1 saved draft")
    # As if it had been typed.
    expect(editor.content).to_be_focused()
    editor.press("Control+z")
    editor.expect_kept_text(CLOCK + "Be brief.")
    assert Draft.objects.count() == 1


def test_versions_and_comparisons_tell_what_changed(editor: EditorPage) -> None:
    page = editor.page
    page.goto(f"/prompts/{SLUG}/versions/5/")
    expect(page.get_by_role("heading", name="Cacheable prefix")).to_be_visible()
    expect(page.locator("#prefixes tbody tr")).to_have_count(3)
    assert findings(page) == []
    page.goto(f"/prompts/{SLUG}/compare/1...5?rendered=on&context=round-5-first&round=2")
    page.locator("#prefixes").scroll_into_view_if_needed()
    page.locator("#prefixes summary").click()
    team = page.locator("#prefixes tr[data-kind=team]")
    expect(team).to_contain_text(re.compile(r"[\d,]+\s+→\s+[\d,]+\s+bytes\s+\([+−][\d,]+\)"))
    expect(page.locator("#prefixes")).to_contain_text("round 2")
    assert findings(page) == []
