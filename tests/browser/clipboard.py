"""Buttons that copy, and what they leave in the clipboard."""

from datetime import datetime, timedelta

from playwright.sync_api import Locator, expect


def copied(button: Locator) -> str:
    """The text in the clipboard after a click that was confirmed in words."""
    page = button.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    # «Copied» goes after a moment: time stands still, lest nobody has looked until then.
    page.clock.install()
    page.clock.pause_at(datetime.now() + timedelta(minutes=1))
    button.click()
    expect(page.get_by_role("status").get_by_text("Copied", exact=True)).to_be_attached()
    text: str = page.evaluate("navigator.clipboard.readText()")
    page.clock.resume()
    return text
