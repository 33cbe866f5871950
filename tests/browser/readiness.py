"""Words are on the screen before the scripts that answer keys and clicks; tests wait for both."""

from playwright.sync_api import Page, expect

READY = "html[data-ready]"


def wait_until_ready(page: Page) -> None:
    """The scripts are in place. Of which page, a test says before: the one that is left was ready, too."""
    expect(page.locator(READY)).to_be_attached()


def press(page: Page, *keys: str) -> None:
    """One key after the other, once somebody listens; Playwright itself waits for nothing here."""
    wait_until_ready(page)
    for key in keys:
        page.keyboard.press(key)


def act_when_ready(page: Page) -> None:
    """From now on whatever is clicked, ticked or filled in waits, as it does for what covers it."""
    page.add_locator_handler(page.locator("html:not([data-ready])"), lambda: None)
