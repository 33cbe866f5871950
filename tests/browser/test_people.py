"""People in two browsers: an invitation is followed; a switched-off account loses its page, but no draft."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.audit import findings, sideways
from tests.browser.editor_page import EDIT, EditorPage
from tests.browser.watch import Watch

PASSWORD = "correct horse battery"


@pytest.fixture
def other(browser: Browser, server: str, watch: Watch) -> Iterator[Page]:
    """The browser of a second person."""
    context = browser.new_context(base_url=server, locale="en", reduced_motion="reduce")
    watch.attach(context)
    yield context.new_page()
    context.close()


def test_somebody_is_invited_writes_is_switched_off_and_finds_the_draft_again(
    page: Page, other: Page, server: str, watch: Watch
) -> None:
    watch.expect(401, 403)
    page.goto("/people/")
    page.get_by_label("For whom").fill("Aoi")
    page.get_by_role("button", name="Create a link").click()
    other.goto(page.locator("#invitation-link").inner_text())
    assert findings(other) + sideways(other) == []
    other.get_by_label("Username").fill("aoi")
    other.get_by_label("Password", exact=True).fill(PASSWORD)
    other.get_by_label("Password, again").fill(PASSWORD)
    other.get_by_role("button", name="Create the account").click()
    expect(other).to_have_url(f"{server}/")
    # An editor: no workspaces to register, and the editor to write in.
    other.goto("/workspaces/")
    expect(other.get_by_role("link", name="Register a workspace")).to_have_count(0)
    expect(other.get_by_text("remove the demo: Administrator.")).to_be_visible()
    editor = EditorPage(other)
    editor.type_at_end("Words that were kept. ")
    editor.expect_kept()
    page.goto("/people/")
    page.get_by_role("link", name="aoi").click()
    assert findings(page) + sideways(page) == []
    page.goto("/people/")
    page.get_by_role("row", name=re.compile("aoi")).get_by_role("button", name="Disable").click()
    expect(page.get_by_text("aoi is disabled")).to_be_visible()
    # The open page goes on writing, asks for a preview, and is taken to the sign-in page.
    other.keyboard.type("Words after that. ")
    expect(other).to_have_url(re.compile("/signin/"))
    page.get_by_role("row", name=re.compile("aoi")).get_by_role("button", name="Enable").click()
    other.get_by_label("Username").fill("aoi")
    other.get_by_label("Password").fill(PASSWORD)
    other.get_by_role("button", name="Sign in").click()
    expect(other).to_have_url(re.compile(EDIT))
    editor.wait_until_ready()
    expect(editor.content).to_contain_text("Words that were kept. Words after that.")
    # Nobody else sees it.
    mine = EditorPage(page)
    expect(mine.content).not_to_contain_text("Words that were kept")
