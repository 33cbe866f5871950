"""Every page, in both themes and both languages: axe finds nothing, nothing spills over the edge."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.conftest import Watch
from tests.browser.readiness import wait_until_ready

PAGES = {
    "/prompts/": 200,
    "/prompts/?q=nothing+matches": 200,
    "/prompts/?archived=1": 200,
    "/prompts/new/": 200,
    "/prompts/import/?set=research-team": 200,
    "/workspaces/research/import/": 200,
    "/workspaces/research/import/?set=": 200,
    "/prompts/research-team/": 200,
    "/prompts/research-team/?q=順位+ken": 200,
    "/prompts/research-team/settings/": 200,
    "/prompts/research-team/labels/production/": 200,
    "/prompts/research-team/versions/4/": 200,
    "/prompts/research-team/versions/4/runs/?anyway=1": 200,
    "/prompts/research-team/scores/": 200,
    "/prompts/research-team/matrix/?plain=on&open=round-5-first": 200,
    "/prompts/research-team/matrix/?baseline=99": 404,
    "/prompts/research-team/suggestions/": 200,
    "/prompts/research-team/suggestions/?version=99": 404,
    "/prompts/research-team/compare/3...4": 200,
    "/prompts/research-team/prefixes/?old=1&new=5": 200,
    "/prompts/research-team/compare/4...5?rendered=on&context=no-ranking": 200,
    "/prompts/research-team/compare/5...draft": 404,
    "/prompts/research-team/export/?version=3&workspace=research&workspace=research-lab": 200,
    "/exports/": 200,
    "/contexts/": 200,
    "/contexts/round-5-last/": 200,
    "/contexts/braces-html-emoji/": 200,
    "/workspaces/": 200,
    "/workspaces/new/": 200,
    "/workspaces/research/": 200,
    "/workspaces/research-lab/": 200,
    "/workspaces/research/settings/": 200,
    "/workspaces/research/preview/": 200,
    "/workspaces/research/system/": 200,
    "/workspaces/briefing/system/?mode=minimal": 200,
    "/workspaces/research/system/compare/": 200,
    "/workspaces/research/teams/": 200,
    "/workspaces/research/teams/team-001/": 200,
    "/workspaces/research/scores/": 200,
    "/workspaces/research/scores/?by=runs&of=rounds": 200,
    "/workspaces/research/runs/compare/": 200,
    "/contexts/new/run/": 200,
    "/contexts/new/run/?workspace=research": 200,
    "/runs/": 200,
    "/models/": 200,
    "/models/new/": 200,
    "/shortcuts/": 200,
    "/nothing/": 404,
    "/prompts/research-team/?before=x": 400,
}


def findings(page: Page) -> list[str]:
    """What axe says about the page, once it has stopped changing by itself."""
    wait_until_ready(page)
    expect(page.locator(".htmx-request")).to_have_count(0)
    violations = Axe().run(page).response["violations"]
    return [f"{page.url} {each['id']}: {each['nodes'][0]['html']}" for each in violations]


@pytest.mark.parametrize(("theme", "language"), [("light", "en"), ("dark", "ja")])
def test_axe_finds_nothing(page: Page, watch: Watch, server: str, theme: str, language: str) -> None:
    watch.expect(400, 404)
    page.context.add_cookies(
        [
            {"name": "studio-theme", "value": theme, "url": server},
            {"name": "studio-language", "value": language, "url": server},
        ]
    )
    found: list[str] = []
    for path, status in PAGES.items():
        answer = page.goto(path)
        assert answer is not None and answer.status == status
        assert page.get_attribute("html", "lang") == language
        found += findings(page)
    assert found == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_before_sign_in(stranger: Page, server: str, theme: str) -> None:
    stranger.context.add_cookies([{"name": "studio-theme", "value": theme, "url": server}])
    stranger.goto("/signin/")
    assert findings(stranger) == []


def test_axe_finds_nothing_on_the_page_of_every_component(page: Page, settings: object) -> None:
    settings.DEBUG = True  # type: ignore[attr-defined]
    page.goto("/design/")
    assert findings(page) == []


@pytest.mark.parametrize("width", [1280, 360])
def test_no_page_scrolls_sideways(page: Page, watch: Watch, width: int) -> None:
    watch.expect(400, 404)
    page.set_viewport_size({"width": width, "height": 800})
    wide, found = [], []
    for path in PAGES:
        page.goto(path)
        if width == 360:
            # What a small screen leaves out must still have a name.
            found += findings(page)
        if page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
            wide.append(path)
    assert (wide, found) == ([], [])


def test_paper_shows_the_content_alone(page: Page) -> None:
    page.goto("/prompts/research-team/versions/4/")
    page.emulate_media(media="print", color_scheme="dark")
    expect(page.get_by_role("navigation", name="Main")).to_be_hidden()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
