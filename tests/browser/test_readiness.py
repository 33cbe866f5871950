"""Nothing that only scripts can answer is lost, however late they come."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.patience import eventually
from tests.browser.readiness import READY, press


@pytest.fixture
def late(page: Page) -> Route:
    """The script of a page that is there already, held back; the route lets it come."""
    held: list[Route] = []
    page.route(re.compile(r"/studio\b[^/]*\.js"), lambda route: held.append(route), times=1)
    page.goto("/contexts/", wait_until="commit")
    page.wait_for_function("document.readyState === 'interactive'")  # all but the scripts
    eventually(page, lambda: len(held), 1)
    assert page.locator(READY).count() == 0
    return held[0]


def test_a_key_waits_for_the_scripts(page: Page, server: str, late: Route) -> None:
    late.continue_()
    press(page, "g", "p")
    expect(page).to_have_url(f"{server}/prompts/")


def test_a_click_waits_for_the_scripts(page: Page, late: Route) -> None:
    page.evaluate("window.sameDocument = true")
    late.continue_()
    page.get_by_role("button", name="Dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert page.evaluate("window.sameDocument")


def test_no_test_presses_a_key_that_does_not_wait() -> None:
    direct = re.compile(r"keyboard\.press\(")
    found = {each.name for each in Path(__file__).parent.glob("*.py") if direct.search(each.read_text())}
    assert found == {"readiness.py"}
