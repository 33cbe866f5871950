"""Looking around: lists, search, history, copies, times, errors."""

import re

from playwright.sync_api import Page, expect

from tests.browser.clipboard import copied
from tests.browser.watch import Watch


def test_typing_narrows_the_list_and_the_address_can_be_shared(page: Page) -> None:
    page.goto("/prompts/")
    page.get_by_role("searchbox").fill("brief")
    expect(page.get_by_role("row")).to_have_count(2)
    expect(page).to_have_url(re.compile(r"\?q=brief$"))
    page.reload()
    expect(page.get_by_role("row")).to_have_count(2)
    page.go_back()
    expect(page.get_by_role("row")).to_have_count(3)


def test_from_the_list_to_a_version_and_to_the_one_before(page: Page, server: str) -> None:
    page.goto("/prompts/")
    page.get_by_role("link", name="調査チーム").click()
    page.get_by_role("link", name="順位表を見せ").click()
    expect(page).to_have_url(f"{server}/prompts/research-team/versions/4/")
    page.get_by_role("link", name="← v3").click()
    expect(page.get_by_role("heading", name="v3")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="v4")).to_be_visible()
    page.get_by_role("link", name="Compare with v3").click()
    expect(page).to_have_url(f"{server}/prompts/research-team/compare/3...4")


def test_a_template_is_copied_to_the_letter_and_a_short_id_whole(page: Page) -> None:
    page.goto("/prompts/research-team/versions/5/")
    text = copied(page.locator("#team").get_by_role("button", name="Copy"))
    assert text.startswith("---\n現在日時: {{ current_datetime }}\n---\n\n# ユーザ")
    assert text.endswith("{%- endif %}\n")

    text = copied(page.get_by_role("button", name=re.compile("Copy [0-9a-f]{64}")))
    assert re.fullmatch("[0-9a-f]{64}", text)


def test_times_are_relative_with_the_exact_one_on_hover(page: Page) -> None:
    page.goto("/prompts/research-team/")
    newest = page.locator("tbody time").first
    expect(newest).to_have_text("1 day ago")
    expect(newest).to_have_attribute("title", re.compile(r"\d{4} at \d"))


def test_text_that_looks_like_markup_stays_text(page: Page) -> None:
    page.goto("/contexts/braces-html-emoji/")
    expect(page.get_by_text('<script>alert("HTML")</script>').first).to_be_visible()


def test_an_error_page_keeps_the_navigation(page: Page, watch: Watch, server: str) -> None:
    watch.expect(404)
    page.goto("/prompts/nothing/")
    expect(page.get_by_role("alert")).to_contain_text("Page not found")
    page.get_by_role("link", name="Contexts").click()
    expect(page).to_have_url(f"{server}/contexts/")


def test_a_search_that_is_refused_says_why_in_place(page: Page, watch: Watch) -> None:
    page.goto("/prompts/")
    watch.expect(400)
    box = page.get_by_role("searchbox")
    box.evaluate("box => box.removeAttribute('maxlength')")
    box.fill("x" * 201)
    expect(page.get_by_role("alert")).to_contain_text("at most 200 characters")


def test_a_session_that_ended_leads_to_sign_in_from_within_a_page(page: Page) -> None:
    page.goto("/prompts/")
    page.context.clear_cookies(name="studio-session")
    page.get_by_role("searchbox").fill("x")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
