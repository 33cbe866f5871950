"""Finding things by keyboard, in both languages: the palette over any page, and the search page."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.audit import findings, findings_when_narrow
from tests.browser.readiness import press


def box(page: Page) -> Locator:
    return page.get_by_role("combobox", name="Search or jump to…")


def options(page: Page) -> Locator:
    return page.locator("#palette").get_by_role("option")


def test_ctrl_k_finds_a_version_and_enter_goes_there(page: Page, server: str) -> None:
    page.goto("/runs/")
    press(page, "Control+k")
    expect(box(page)).to_be_focused()
    expect(options(page).first).to_have_attribute("aria-selected", "true")
    assert findings(page) + findings_when_narrow(page) == []
    # Enter at once, before the server has answered, means what was typed.
    page.keyboard.type("research team v3")
    press(page, "Enter")
    expect(page).to_have_url(f"{server}/prompts/research-team/versions/3/")


def test_arrows_choose_and_escape_gives_the_focus_back(page: Page, server: str) -> None:
    page.goto("/prompts/")
    page.get_by_role("searchbox").focus()
    press(page, "Control+k")
    page.keyboard.type("research")
    expect(options(page).last).to_contain_text("Search texts for “research”")
    press(page, "ArrowUp")
    expect(options(page).last).to_have_attribute("aria-selected", "true")
    expect(box(page)).to_have_attribute("aria-activedescendant", "palette-search")
    press(page, "ArrowDown")
    expect(options(page).first).to_have_attribute("aria-selected", "true")
    press(page, "Tab")
    assert page.evaluate("document.activeElement.closest('#palette, body').id || 'page'") in (
        "palette",
        "page",
    )
    expect(page.get_by_role("searchbox")).not_to_be_focused()
    press(page, "Escape")
    expect(page.locator("#palette")).to_be_hidden()
    expect(page.get_by_role("searchbox")).to_be_focused()
    assert page.url == f"{server}/prompts/"


def test_actions_of_the_page_are_found_in_english_on_a_japanese_page(page: Page, server: str) -> None:
    page.context.add_cookies([{"name": "studio-language", "value": "ja", "url": server}])
    page.goto("/prompts/research-team/")
    press(page, "Control+k")
    page.keyboard.type("edit")
    expect(options(page).first).to_contain_text("編集")
    press(page, "Enter")
    expect(page).to_have_url(re.compile("/prompts/research-team/edit/"))
    # From inside the editor, too; in Japanese.
    page.locator(".cm-content").first.focus()
    press(page, "Control+k")
    page.keyboard.insert_text("ワークスペース")
    press(page, "Enter")
    expect(page).to_have_url(f"{server}/workspaces/")


def test_enter_of_an_input_method_only_ends_the_word(page: Page, server: str) -> None:
    page.goto("/prompts/")
    press(page, "Control+k")
    expect(options(page).first).to_be_visible()
    session = page.context.new_cdp_session(page)
    session.send("Input.imeSetComposition", {"text": "じゅんい", "selectionStart": 4, "selectionEnd": 4})
    composing = (
        "new KeyboardEvent('keydown', {key: 'Enter', isComposing: true, bubbles: true, cancelable: true})"
    )
    page.evaluate(f"document.activeElement.dispatchEvent({composing})")
    expect(page.locator("#palette")).to_be_visible()
    session.send("Input.insertText", {"text": "順位"})
    expect(box(page)).to_have_value("順位")
    expect(page.locator("#palette-search")).to_contain_text("順位")
    press(page, "ArrowUp", "Enter")
    expect(page).to_have_url(f"{server}/search/?q=%E9%A0%86%E4%BD%8D")
    expect(page.locator("mark", has_text="順位").first).to_be_visible()


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_search_page_leads_to_the_line(plain: Page, server: str, language: str) -> None:
    plain.context.add_cookies([{"name": "studio-language", "value": language, "url": server}])
    plain.goto("/contexts/")
    plain.locator("#find").fill("順位")
    plain.locator("#find").press("Enter")
    expect(plain).to_have_url(f"{server}/search/?q=%E9%A0%86%E4%BD%8D")
    line = plain.locator(".excerpt a").first
    words = plain.locator(".excerpt code").first.inner_text()
    line.click()
    expect(plain.locator(".line:target")).to_be_in_viewport()
    expect(plain.locator(".line:target")).to_contain_text(words.strip("…"))
