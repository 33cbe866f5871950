"""The first minute from the sign-in link by clicks: change a word, see it, save, compare, export."""

import re

from django.urls import reverse
from playwright.sync_api import Locator, Page, expect

from studio.access.signin import issue_link_token
from studio.models import Export
from tests.browser.readiness import READY, press

MOST_CLICKS = 5


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


def test_first_minute_takes_five_clicks_and_no_scrolling(stranger: Page, server: str) -> None:
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
    click.on(page.get_by_role("button", name="Save and export…"))
    # One page says what the save checks, which label moves, and what becomes of each file.
    expect(page.get_by_label("Message")).to_be_focused()
    page.keyboard.type("Say that it is now")
    expect(page.locator(".export-steps li")).to_have_text(
        ["Save as v6", re.compile(r"production\s+v5 →\s+v6"), re.compile("Briefing")]
    )
    click.on(page.get_by_role("button", name="Save and export v6"))
    expect(page).to_have_url(re.compile("/exports/"))
    expect(page.locator(".export-done li").first).to_contain_text("Saved as v6. Say that it is now")
    newest = Export.objects.select_related("version", "receipt").first()
    assert newest and newest.version and (newest.version.number, newest.receipt.outcome) == (6, "written")
    assert newest.label_name == "production"
    click.on(page.get_by_role("link", name="Compare with v5"))
    expect(page).to_have_url(re.compile(r"compare/5\.\.\.6"))
    expect(page.locator("ins, .is-new, [class*=added]").first).to_be_visible()
    assert click.count <= MOST_CLICKS
