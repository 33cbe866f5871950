"""Everything can be reached without a mouse."""

from playwright.sync_api import Page, expect

from tests.browser.readiness import press


def test_the_first_tab_skips_to_the_content(page: Page) -> None:
    page.goto("/prompts/")
    press(page, "Tab")
    skip = page.get_by_role("link", name="Skip to the content")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    press(page, "Enter")
    expect(page.get_by_role("main")).to_be_focused()


def test_two_keys_go_to_each_section(page: Page, server: str) -> None:
    page.goto("/prompts/")
    for keys, path in {"gc": "/contexts/", "gw": "/workspaces/", "gr": "/runs/", "g?": "/help/"}.items():
        press(page, *keys)
        expect(page).to_have_url(server + path)


def test_a_slash_searches_and_keys_typed_there_are_text(page: Page, server: str) -> None:
    page.goto("/prompts/")
    press(page, "/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("g c?")
    expect(page.get_by_role("searchbox")).to_have_value("g c?")
    assert page.url.startswith(f"{server}/prompts/")


def test_rows_are_walked_and_opened(page: Page, server: str) -> None:
    page.goto("/prompts/")
    links = page.locator(".row-link")
    press(page, "j")
    expect(links.nth(0)).to_be_focused()
    press(page, "j")
    expect(links.nth(1)).to_be_focused()
    press(page, "j")
    expect(links.nth(1)).to_be_focused()
    press(page, "k", "Enter")
    expect(page).to_have_url(f"{server}/prompts/research-team/")


def test_the_shortcuts_can_be_switched_off(page: Page, server: str) -> None:
    page.goto("/shortcuts/")
    page.get_by_role("button", name="Turn shortcuts off").click()
    expect(page.get_by_text("Shortcuts are off")).to_be_visible()
    press(page, "g", "c")
    expect(page).to_have_url(f"{server}/shortcuts/")
    page.get_by_role("button", name="Turn shortcuts on").click()
    expect(page.get_by_role("button", name="Turn shortcuts off")).to_be_visible()
    press(page, "g", "c")
    expect(page).to_have_url(f"{server}/contexts/")


def test_escape_closes_the_menu_and_gives_the_focus_back(page: Page) -> None:
    page.goto("/prompts/")
    summary = page.locator("summary", has_text="operator")
    summary.focus()
    press(page, "Enter")
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    press(page, "Escape")
    expect(page.get_by_role("button", name="Sign out")).to_be_hidden()
    expect(summary).to_be_focused()
