"""Lines not covered by any sample context, in the editor's gutter and on the page of suggestions."""

import re

import pytest
from playwright.sync_api import Locator, Page, Request, Route, expect

from studio.models import PromptSet, SampleContext
from tests.browser.audit import findings
from tests.browser.editor_page import EDIT, SLUG, EditorPage, forget_drafts
from tests.browser.patience import eventually
from tests.studio.editing import make_context

LATE = "{{ user_prompt }}\n{% if round_number > 6 %}\nlate\n{% endif %}\n"
SUGGESTIONS = f"/prompts/{SLUG}/suggestions/"


@pytest.fixture
def editor(page: Page) -> EditorPage:
    forget_drafts()
    SampleContext.objects.filter(slug="seventh").delete()
    return EditorPage(page)


def marks(editor: EditorPage) -> Locator:
    return editor.page.locator(".editor-panel:visible .coverage-mark")


def switch(editor: EditorPage) -> Locator:
    return editor.page.locator("[data-coverage]")


def top(element: Locator) -> float:
    box = element.bounding_box()
    return box["y"] if box else float("nan")


def come_back(page: Page) -> None:
    """From another tab of the browser."""
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


def test_a_line_is_hatched_until_a_context_reaches_it(editor: EditorPage) -> None:
    expect(switch(editor)).to_have_text("All lines covered by samples")
    editor.write(LATE)
    expect(marks(editor)).to_have_count(1)
    expect(marks(editor)).to_have_attribute("title", "Not covered by any sample context")
    expect(switch(editor)).to_have_text("1 line not covered by samples")
    expect(switch(editor)).to_have_attribute("title", "Lines not covered by any sample context: 3")
    # The hatching stands on the line that it is about.
    line = editor.page.locator(".cm-line:visible", has_text=re.compile("^late$"))
    eventually(editor.page, lambda: abs(top(line) - top(marks(editor))) < 3, True)
    assert findings(editor.page) == []
    make_context("seventh", rounds=7, prompt_set=PromptSet.objects.get(slug=SLUG))
    come_back(editor.page)
    expect(marks(editor)).to_have_count(0)
    expect(switch(editor)).to_have_text("All lines covered by samples")


def test_marks_move_with_the_text_and_each_template_has_its_own(editor: EditorPage) -> None:
    editor.write(LATE)
    expect(marks(editor)).to_have_count(1)
    editor.press("Control+Home")
    editor.page.keyboard.type("# Task\n")
    expect(switch(editor)).to_have_attribute("title", re.compile(": 4$"))
    editor.page.get_by_role("tab", name="Evaluator").click()
    expect(switch(editor)).to_have_text("All lines covered by samples")
    expect(marks(editor)).to_have_count(0)
    editor.page.get_by_role("tab", name="Team").click()
    expect(marks(editor)).to_have_count(1)
    editor.write("{% if %}")
    expect(switch(editor)).to_have_text("Coverage unknown")


def test_switched_off_it_stays_off_and_asks_nothing(editor: EditorPage) -> None:
    editor.write(LATE)
    expect(marks(editor)).to_have_count(1)
    switch(editor).click()
    expect(marks(editor)).to_have_count(0)
    expect(switch(editor)).to_have_attribute("aria-pressed", "false")
    asked: list[Request] = []
    editor.page.on("request", lambda request: asked.append(request))
    editor.expect_kept()
    editor.page.reload()
    editor.wait_until_ready()
    editor.type_at_end("more")
    expect(editor.prompt).to_contain_text("more")
    editor.page.wait_for_timeout(1_000)
    assert not [request for request in asked if "/coverage/" in request.url]
    switch(editor).click()
    expect(marks(editor)).to_have_count(1)


def test_previews_do_not_wait_for_it(editor: EditorPage) -> None:
    """However long the answer takes, typing and previews go on; then the newest text is asked about."""
    expect(switch(editor)).to_have_text(
        "All lines covered by samples"
    )  # the question that the page itself asks
    held: list[Route] = []
    editor.page.route("**/coverage/", lambda route: route.fallback() if held else held.append(route))
    asked: list[Request] = []
    editor.page.on("request", lambda request: asked.append(request) if "/coverage/" in request.url else None)
    editor.write(LATE)
    expect(editor.prompt).not_to_contain_text("late")
    eventually(editor.page, lambda: len(held), 1)
    editor.press("Control+Home")
    editor.page.keyboard.type("above\n")
    expect(editor.prompt).to_contain_text("above")
    editor.page.wait_for_timeout(1_000)
    assert len(asked) == 1
    held[0].fallback()
    expect(switch(editor)).to_have_attribute("title", re.compile(": 4$"))


def test_the_sets_page_leads_to_the_suggestions_and_they_to_the_editor(page: Page) -> None:
    forget_drafts()
    SampleContext.objects.filter(slug="seventh").delete()
    editor = EditorPage(page, EDIT)
    editor.write(LATE)
    editor.expect_kept()
    editor.save("Late rounds")
    expect(editor.state).to_contain_text("Saved as")
    page.goto(f"/prompts/{SLUG}/")
    page.get_by_role("link", name="1 line not covered").click()
    expect(page).to_have_url(re.compile(f"{SUGGESTIONS}$"))
    expect(page.locator(".unreached li")).to_have_text(["3 late"])
    expect(page.get_by_role("cell", name="{{ ranking_table }}").first).to_be_visible()
    assert findings(page) == []
    page.get_by_role("link", name="Show in the editor").click()
    expect(page.locator(".coverage-mark:visible")).to_have_count(1)
