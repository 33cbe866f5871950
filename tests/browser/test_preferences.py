"""Language and theme: switched with one click, remembered, right from the first paint."""

from playwright.sync_api import Browser, Page, expect

DARK_PAPER = "rgb(21, 24, 30)"
WHITE = "rgb(255, 255, 255)"


def test_the_language_switches_and_stays(page: Page) -> None:
    page.goto("/prompts/")
    page.get_by_role("button", name="日本語").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("プロンプト")
    page.goto("/workspaces/")
    expect(page.locator("html")).to_have_attribute("lang", "ja")
    page.get_by_role("button", name="English").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Workspaces")


def test_the_theme_switches_without_a_reload_and_stays(page: Page) -> None:
    page.goto("/prompts/")
    page.evaluate("window.sameDocument = true")
    with page.expect_response("**/theme/"):
        page.get_by_role("button", name="Dark").click()
    expect(page.get_by_role("main")).to_have_css("background-color", DARK_PAPER)
    expect(page.get_by_role("button", name="Dark")).to_have_attribute("aria-pressed", "true")
    assert page.evaluate("window.sameDocument")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.get_by_role("main")).to_have_css("background-color", DARK_PAPER)


def test_without_a_choice_the_system_decides_and_a_choice_wins_over_it(page: Page) -> None:
    page.goto("/prompts/")
    page.emulate_media(color_scheme="light")
    expect(page.get_by_role("main")).to_have_css("background-color", WHITE)
    page.emulate_media(color_scheme="dark")
    expect(page.get_by_role("main")).to_have_css("background-color", DARK_PAPER)
    with page.expect_response("**/theme/"):
        page.get_by_role("button", name="Light").click()
    expect(page.get_by_role("main")).to_have_css("background-color", WHITE)


def test_a_japanese_browser_is_greeted_in_japanese(browser: Browser, server: str) -> None:
    page = browser.new_page(base_url=server, locale="ja-JP")
    page.goto("/signin/")
    expect(page.get_by_role("heading", level=1)).to_have_text("サインイン")
    page.close()
