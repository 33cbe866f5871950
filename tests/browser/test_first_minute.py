"""The first minute from the sign-in link by clicks: change a word, see it, save, compare, export."""

import re

from django.urls import reverse
from playwright.sync_api import Locator, Page, expect

from studio.access.signin import issue_link_token
from studio.models import Export
from tests.browser.readiness import READY, press

MOST_CLICKS = 9


class Clicks:
    """Clicks of a person who never scrolls: each is counted, and what is clicked lies in view."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.count = 0

    def on(self, target: Locator) -> None:
        expect(target).to_be_visible()
        assert self.page.evaluate("scrollY") == 0
        box = target.bounding_box()
        assert box and box["y"] >= 0 and box["y"] + box["height"] <= 800, f"below the edge: {target}"
        assert box["x"] >= 0 and box["x"] + box["width"] <= 1280, f"beside the edge: {target}"
        self.count += 1
        target.click()


def test_first_minute_takes_nine_clicks_and_no_scrolling(stranger: Page, server: str) -> None:
    page = stranger
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(reverse("signin-link", args=[issue_link_token()]))
    expect(page.get_by_role("heading", name="This is demo data")).to_be_visible()
    click = Clicks(page)
    click.on(page.get_by_role("link", name="Start here"))
    expect(page.locator(f"{READY} form[data-ready]")).to_be_attached()
    click.on(page.locator(".cm-line", has_text="Now:").first)
    press(page, "Home")
    page.keyboard.type("Right ")
    expect(page.locator("#preview .prompt")).to_contain_text("Right Now:")
    click.on(page.get_by_label("Message"))
    page.keyboard.type("Say that it is now")
    click.on(page.get_by_role("button", name="Save"))
    expect(page.get_by_text("Saved as v6.")).to_be_visible()
    click.on(page.get_by_role("link", name="Compare", exact=True))
    expect(page).to_have_url(re.compile(r"compare/5\.\.\.6"))
    expect(page.locator("ins, .is-new, [class*=added]").first).to_be_visible()
    click.on(page.get_by_role("link", name="Export v6"))
    click.on(page.locator("input[name=workspace][value=briefing]"))
    click.on(page.get_by_role("button", name="Show what would change"))
    click.on(page.get_by_role("button", name=re.compile("^Export v6")))
    expect(page).to_have_url(re.compile("/exports/"))
    newest = Export.objects.select_related("version", "receipt").first()
    assert newest and newest.version and (newest.version.number, newest.receipt.outcome) == (6, "written")
    assert click.count <= MOST_CLICKS
