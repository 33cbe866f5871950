"""Help without leaving the page: terms, the overlay of shortcuts, the way into the editor."""

from playwright.sync_api import Page, expect

from studio.help.glossary import TERMS
from tests.browser.audit import findings
from tests.browser.readiness import press
from tests.browser.test_accessibility import PAGES


def test_from_a_term_to_the_glossary_and_back(page: Page, server: str) -> None:
    page.goto("/prompts/")
    question = page.get_by_role("button", name="What is this: Prompt set")
    question.focus()
    press(page, "Enter")
    entry = page.locator("#term-prompt-set")
    expect(entry).to_be_visible()
    expect(entry).to_contain_text("Three templates that belong together")
    assert findings(page) == []
    press(page, "Escape")
    expect(entry).to_be_hidden()
    expect(question).to_be_focused()
    question.click()
    entry.get_by_role("link", name="In the glossary").click()
    expect(page).to_have_url(f"{server}/help/#prompt-set")
    expect(page.locator("#prompt-set")).to_be_in_viewport()
    page.locator("#prompt-set").get_by_role("link", name="How it is used").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("The first minute")
    expect(page.locator("figure img")).to_have_js_property("complete", True)
    assert page.locator("figure img").evaluate("picture => picture.naturalWidth") > 500
    page.go_back()
    page.go_back()
    expect(page).to_have_url(f"{server}/prompts/")


def test_a_term_is_explained_without_scripts(plain: Page) -> None:
    plain.goto("/workspaces/")
    plain.get_by_role("button", name="日本語").click()
    plain.get_by_role("button", name="用語の説明：ワークスペース").click()
    expect(plain.locator("#term-workspace")).to_be_visible()


def test_a_question_mark_shows_the_shortcuts_above_the_page(page: Page, server: str) -> None:
    page.goto("/prompts/")
    press(page, "?")
    overlay = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(overlay.get_by_role("heading", level=1)).to_be_visible()
    assert findings(page) == []
    press(page, "n")
    expect(page).to_have_url(f"{server}/prompts/")
    press(page, "?")
    expect(overlay).to_be_hidden()
    press(page, "?")
    expect(overlay).to_be_visible()
    press(page, "Escape")
    expect(overlay).to_be_hidden()
    press(page, "?")
    overlay.get_by_role("link", name="As a page").click()
    expect(page.get_by_role("button", name="Turn shortcuts off")).to_be_visible()


def test_three_tabs_lead_from_the_top_into_the_editor(page: Page) -> None:
    page.goto("/prompts/research-team/edit/")
    text = page.locator(".cm-content").first
    expect(text).to_be_focused()  # so at first no Tab is needed at all
    page.get_by_role("link", name="Skip to the content").focus()  # where the first Tab leads
    press(page, "Tab")
    expect(page.get_by_role("link", name="Skip to the editor")).to_be_in_viewport()
    press(page, "Enter", "Tab")
    expect(text).to_be_focused()


def test_the_palette_offers_what_a_page_does_and_not_its_terms(page: Page) -> None:
    page.goto("/prompts/")
    press(page, "Control+k")
    options = page.get_by_role("option")
    expect(options.filter(has_text="New set").first).to_be_visible()
    expect(options.filter(has_text="What is this")).to_have_count(0)


LISTS_OF_NAMES = ("/api/", "/help/", "/shortcuts/", "/audit/")
"""Pages whose headings and fields name kinds of things, and say nothing about them."""
SHOWN_HEADINGS = """
() => [...document.querySelectorAll("main :is(h1, h2, th[scope=col], dt)")]
  .filter(each => !each.closest(".visually-hidden") && !each.querySelector(".visually-hidden, .sort"))
  .map(each => {
    const bare = each.cloneNode(true);
    bare.querySelectorAll(".term").forEach(term => term.remove());
    return bare.textContent.trim().toLowerCase();
  })
"""


def test_every_heading_that_is_a_term_of_the_glossary_has_its_question_mark(page: Page) -> None:
    slugs = {str(term.title).lower(): term.slug for term in TERMS.values()}
    slugs |= {f"{title}s": slug for title, slug in slugs.items()}
    missing = []
    for path, status in PAGES.items():
        if status == 200 and not path.startswith(LISTS_OF_NAMES):
            page.goto(path)
            used = {slugs[words] for words in page.evaluate(SHOWN_HEADINGS) if words in slugs}
            missing += [f"{path}: {slug}" for slug in used if not page.locator(f"#term-{slug}").count()]
    assert missing == []
