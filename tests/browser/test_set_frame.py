"""The frame of a set: the same name, labels, actions and tabs on each of its pages."""

import re

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Locator, Page, expect

from studio.models import PromptSet
from tests.browser.audit import findings, sideways
from tests.browser.watch import Watch
from tests.studio.clock import NOW
from tests.studio.editing import TEXTS, make_set

SET = "/prompts/research-team/"
TABS = ["History", "Edit", "Compare", "Matrix", "Scores", "Coverage", "Contexts", "Settings"]
PAGES = {
    "": "History",
    "?q=順位": "History",
    "versions/4/": "History",
    "labels/production/": "History",
    "edit/": "Edit",
    "compare/3...5": "Compare",
    "compare/3...9": "Compare",
    "prefixes/?old=1&new=5": "Compare",
    "matrix/": "Matrix",
    "scores/": "Scores",
    "versions/4/runs/": "Scores",
    "suggestions/": "Coverage",
    "contexts/?checked=on": "Contexts",
    "settings/": "Settings",
    "release/": "Settings",
    "export/": None,
}


def tabs(page: Page) -> Locator:
    return page.get_by_role("navigation", name="Pages of 調査チーム")


def test_every_page_of_a_set_has_the_same_frame(page: Page, watch: Watch) -> None:
    watch.expect(404)
    seen = {}
    for path, current in PAGES.items():
        page.goto(SET + path, wait_until="domcontentloaded")
        expect(page.get_by_role("heading", level=1)).to_have_text("調査チーム")
        assert tabs(page).get_by_role("link").all_inner_texts() == TABS
        marked = [link.inner_text() for link in tabs(page).locator("[aria-current]").all()]
        assert marked == ([current] if current else []), path
        head = page.locator(".set-head")
        expect(head.get_by_role("link", name="production")).to_have_attribute("href", f"{SET}versions/4/")
        box, line = head.bounding_box(), tabs(page).bounding_box()
        assert box and line
        seen[path] = (head.inner_text(), round(box["height"]), round(line["height"]))
    assert len(set(seen.values())) == 1, seen
    expect(page.get_by_role("link", name="Export", exact=True)).to_have_attribute("aria-current", "page")


def test_tabs_lead_from_page_to_page(page: Page, server: str) -> None:
    page.goto(SET)
    tabs(page).get_by_role("link", name="Compare").click()
    expect(page).to_have_url(f"{server}{SET}compare/4...5")
    tabs(page).get_by_role("link", name="Contexts").click()
    expect(page.get_by_role("row", name="Round 5, first place")).to_contain_text("renders")
    assert findings(page) + sideways(page) == []
    page.set_viewport_size({"width": 420, "height": 800})
    tabs(page).get_by_role("link", name="Settings").click()
    expect(tabs(page).locator("[aria-current=page]")).to_have_text("Settings")
    for each in TABS:
        expect(tabs(page).get_by_role("link", name=each)).to_be_in_viewport(ratio=1)


def test_contexts_are_looked_at_without_scripts(plain: Page) -> None:
    plain.goto(SET + "contexts/")
    plain.get_by_role("link", name="Render the newest version in all of them").click()
    expect(plain.get_by_role("row", name="Round 5, first place")).to_contain_text("renders")


def test_a_set_with_one_version_offers_nothing_to_compare(page: Page, server: str) -> None:
    only = make_set(User.objects.get(username="hana"), "only")
    page.goto(only.get_absolute_url())
    compare = page.get_by_role("navigation", name="Pages of Only").get_by_role("link", name="Compare")
    expect(compare).to_be_disabled()
    expect(compare).to_have_accessible_name("Compare (There is only one version)")
    expect(page.locator("#history tbody tr")).to_have_count(1)
    expect(page.locator("#history").get_by_role("radio")).to_have_count(0)
    expect(page.get_by_role("button", name="Compare selected")).to_have_count(0)
    assert findings(page) + sideways(page) == []
    # What a draft changes is something to compare.
    page.goto(f"{only.get_absolute_url()}edit/")
    page.locator(".cm-content:visible").click()
    page.keyboard.type("More. ")
    expect(page.locator("output[data-is=saved]")).to_be_visible()
    page.goto(only.get_absolute_url())
    expect(page.get_by_role("button", name="Compare selected")).to_be_visible()
    compare.click()
    expect(page).to_have_url(f"{server}/prompts/only/compare/1...draft")


@pytest.fixture
def long_set(server: str) -> PromptSet:
    """A set with more versions than a screen has lines."""
    hana = User.objects.get(username="hana")
    made = make_set(hana)
    for number in range(40):
        text = TEXTS.team_user_prompt + str(number)
        message = f"Change {number}, with a message that is far too long for one line of any list " * 3
        made.save_version(
            TEXTS.__class__(text, "e", "j"), base=made.revision, message=message, author=hana, at=NOW
        )
    return made


@pytest.mark.parametrize("width", [1400, 1100, 420])
def test_the_name_of_a_set_and_its_history_are_not_cut(page: Page, server: str, width: int) -> None:
    page.context.add_cookies([{"name": "studio-language", "value": "ja", "url": server}])
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(SET)
    title, line = page.get_by_role("heading", level=1), "each => each.scrollWidth - each.clientWidth"
    box = title.bounding_box()
    assert box and box["height"] < 40 and title.evaluate(line) == 0
    assert page.locator("#history .table-frame").evaluate(line) == 0
    saved = page.locator("#history .saved").first
    expect(saved).to_contain_text("前")
    right, frame = saved.bounding_box(), page.locator("#history .table-frame").bounding_box()
    assert right and frame and right["x"] + right["width"] <= frame["x"] + frame["width"]


def test_an_import_into_a_set_keeps_its_frame(page: Page) -> None:
    page.goto(SET)
    page.locator(".set-actions").get_by_role("link", name="Import").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("調査チーム")
    expect(page.locator(".set-actions [aria-current]")).to_have_text("Import")
    page.get_by_role("link", name="Cancel").click()
    expect(page).to_have_url(re.compile(f"{SET}$"))


@pytest.mark.parametrize("width", [1400, 1100])
def test_a_long_history_is_lines_with_a_bar_in_view(long_set: PromptSet, page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 700})
    page.goto(long_set.get_absolute_url())
    lines = page.locator("#history tbody tr")
    heights = lines.evaluate_all("lines => lines.map(line => line.getBoundingClientRect().height)")
    assert len(heights) == 41 and max(heights) < 40
    bar = page.get_by_role("button", name="Compare selected")
    expect(bar).to_be_in_viewport(ratio=1)
    page.get_by_label("First: version 1", exact=True).check()
    expect(bar).to_be_in_viewport(ratio=1)
    expect(page.locator("[data-picked]")).to_have_text("v1 → v41")
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0
    bar.click()
    expect(page).to_have_url(f"{page.url.partition('/prompts/')[0]}/prompts/set/compare/1...41")
    PromptSet.objects.filter(pk=long_set.pk).update(slug=f"set-{width}")
