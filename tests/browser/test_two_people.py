"""Two people in two browsers: drafts stay private, and one approves what the other proposes."""

import re
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect

from studio.access.accounts import Account, Role
from studio.models import Label, PromptSet, Workspace
from studio.results.attribution import attribute_workspace
from tests.browser.editor_page import EDIT, SLUG, EditorPage, forget_drafts
from tests.browser.watch import Watch

PASSWORD = "correct horse battery"
SET = f"/prompts/{SLUG}/"


@pytest.fixture
def other(browser: Browser, server: str, page: Page, watch: Watch) -> Iterator[Page]:
    """A page of Ken, a releaser, in a browser of his own."""
    # The tests of a file share one studio.
    ken = User.objects.filter(username="ken-r").first() or User.objects.create_user(
        "ken-r", password=PASSWORD
    )
    Account.objects.filter(user=ken).update(role=Role.RELEASER)
    PromptSet.objects.filter(slug=SLUG).update(needs_approval=True)
    for workspace in Workspace.objects.all():
        attribute_workspace(workspace, timezone.now())
    context = browser.new_context(base_url=server, locale="en-US")
    watch.attach(context)
    own = context.new_page()
    own.goto("/signin/")
    own.get_by_label("Name").fill("ken-r")
    own.get_by_label("Password").fill(PASSWORD)
    own.get_by_role("button", name="Sign in").click()
    expect(own.get_by_role("heading", level=1)).to_be_visible()
    yield own
    context.close()


def points() -> int:
    return Label.objects.get(prompt_set__slug=SLUG, name="production").version.number


def propose(page: Page, number: int, why: str) -> str:
    page.goto(f"{SET}versions/{number}/")
    page.get_by_text("Move a label here").click()
    page.get_by_label("Why production shall move here").fill(why)
    page.get_by_role("button", name=f"Propose production to v{number}").click()
    expect(page.get_by_text("Another releaser has to approve it.")).to_be_visible()
    return page.url


def test_a_draft_is_private_a_proposal_is_approved_by_the_other_and_a_newer_version_voids_one(
    page: Page, other: Page, watch: Watch
) -> None:
    forget_drafts()
    editor = EditorPage(page)
    editor.write("only for my eyes {{ user_prompt }}")
    editor.expect_kept_text("only for my eyes {{ user_prompt }}")
    for address in (SET, EDIT, "/", "/audit/", f"{SET}matrix/"):
        other.goto(address)
        expect(other.locator("main")).to_be_visible()
        assert "only for my eyes" not in other.content()

    before = points()
    address = propose(page, 3, "The third one did better")
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)
    other.goto(SET)
    other.get_by_role("link", name="Proposal: production to v3").click()
    expect(other).to_have_url(address)
    expect(other.get_by_text("The third one did better")).to_be_visible()
    expect(other.locator("#team")).to_be_visible()
    contexts = other.locator("#contexts details")
    expect(contexts.first.locator(".diff-panel").first).to_be_visible()
    expect(contexts.nth(1).locator(".diff-panel")).to_have_count(0)
    contexts.nth(1).locator("summary").click()
    expect(contexts.nth(1).locator(".diff-panel").first).to_be_visible()
    other.get_by_role("link", name="Rendered prompts", exact=True).first.click()
    expect(other.get_by_role("table", name="Which prompts change in which round")).to_be_visible()
    expect(other.locator("#scores")).to_be_attached()
    assert points() == before
    other.get_by_label("Answer").fill("agreed")
    other.get_by_role("button", name="Approve and move production to v3").click()
    expect(other.get_by_text("Approved: production now points to v3.")).to_be_visible()
    assert points() == 3
    page.goto(address)
    expect(page.get_by_text("agreed")).to_be_visible()

    address = propose(page, 2, "Back to the second one")
    other.goto(address)
    EditorPage(page).save("a newer one")
    expect(page.get_by_text("Saved as v6.")).to_be_visible()
    watch.expect(409)
    other.get_by_role("button", name="Approve and move production to v2").click()
    expect(other.get_by_text("This proposal is void: nothing was moved.")).to_be_visible()
    other.goto(address)
    expect(other.get_by_text("It can no longer be approved.")).to_be_visible()
    expect(other.get_by_role("button", name="Approve")).to_have_count(0)
    assert points() == 3


def test_a_release_from_the_editor_is_proposed_approved_by_the_other_and_exported(
    page: Page, other: Page
) -> None:
    forget_drafts()
    editor = EditorPage(page)
    editor.write("Be brief. {{ user_prompt }}")
    editor.expect_kept_text("Be brief. {{ user_prompt }}")
    before, new = points(), f"v{PromptSet.objects.get(slug=SLUG).revision + 1}"
    page.goto(f"{SET}export/?source=draft&move=production")
    page.get_by_label("Message").fill("Ask for brevity")
    page.get_by_label("Why production shall move here").fill("Shorter answers")
    page.get_by_role("button", name=f"Save {new} and propose production").click()
    expect(page.get_by_text(f"Saved as {new}.")).to_be_visible()
    expect(page.get_by_text("Another releaser has to approve it.")).to_be_visible()
    assert points() == before
    other.goto(page.url)
    expect(other.get_by_text("Shorter answers")).to_be_visible()
    other.get_by_role("button", name=f"Approve and move production to {new}").click()
    expect(other.get_by_text(f"Approved: production now points to {new}.")).to_be_visible()
    other.get_by_role("button", name=f"Export {new}").click()
    expect(other).to_have_url(re.compile("/exports/"))
    expect(other.get_by_text("Written", exact=True).first).to_be_visible()
