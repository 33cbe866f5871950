"""In by link or password, out by the menu."""

from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Page, expect

from studio.access.signin import issue_link_token
from tests.browser.watch import Watch


def test_a_link_leads_straight_home(stranger: Page, server: str) -> None:
    stranger.goto(reverse("signin-link", args=[issue_link_token()]))
    expect(stranger).to_have_url(f"{server}/")
    expect(stranger.get_by_role("heading", level=1)).to_have_text("Home")


def test_a_used_link_says_how_to_get_a_fresh_one(stranger: Page, watch: Watch) -> None:
    watch.expect(410)
    stranger.goto("/signin/used-already/")
    expect(stranger.get_by_role("alert")).to_contain_text("manage.py link")


def test_a_wrong_password_is_told_and_the_right_one_leads(stranger: Page, server: str, watch: Watch) -> None:
    User.objects.create_user("mei", password="correct horse battery")
    watch.expect(401)
    stranger.goto("/contexts/")
    stranger.get_by_label("Username").fill("mei")
    stranger.get_by_label("Password").fill("wrong")
    stranger.get_by_role("button", name="Sign in").click()
    expect(stranger.get_by_role("alert")).to_be_visible()
    stranger.get_by_label("Password").fill("correct horse battery")
    stranger.get_by_role("button", name="Sign in").click()
    expect(stranger).to_have_url(f"{server}/contexts/")


def test_signing_out_closes_the_door(page: Page, server: str) -> None:
    page.goto("/prompts/")
    page.get_by_text("operator").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page).to_have_url(f"{server}/signin/")
    page.goto("/prompts/")
    expect(page).to_have_url(f"{server}/signin/?next=/prompts/")
