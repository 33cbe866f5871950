"""Every page, in both themes and both languages: axe finds nothing, and nothing spills over the edge."""

from playwright.sync_api import Page, expect

from tests.browser.audit import findings, findings_when_narrow, sideways
from tests.browser.watch import Watch

PAGES = {
    "/": 200,
    "/demo/": 200,
    "/score-changes/": 200,
    "/account/tokens/": 200,
    "/tokens/": 200,
    "/api/": 200,
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
    "/prompts/research-team/release/?old=mixseek-0.1.0a15": 200,
    "/prompts/research-team/suggestions/": 200,
    "/prompts/research-team/compare/3...4": 200,
    "/prompts/research-team/prefixes/?old=1&new=5": 200,
    "/prompts/research-team/compare/4...5?rendered=on&context=no-ranking": 200,
    "/prompts/research-team/compare/5...draft": 404,
    "/prompts/research-team/compare/5...9": 404,
    "/prompts/research-team/export/?version=5&move=production&workspace=research&workspace=research-lab": 200,
    "/exports/": 200,
    "/audit/": 200,
    "/webhooks/": 200,
    "/audit/?workspace=research&q=nothing": 200,
    "/contexts/": 200,
    "/contexts/round-5-last/": 200,
    "/contexts/braces-html-emoji/": 200,
    "/account/": 200,
    "/people/": 200,
    "/roles/": 200,
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
    "/search/": 200,
    "/search/?q=順位": 200,
    "/search/?q=nothing+has+it": 200,
    "/models/": 200,
    "/models/new/": 200,
    "/shortcuts/": 200,
    "/help/": 200,
    "/help/ship-it/": 200,
    "/help/pipeline/": 200,
    "/help/deployment/": 200,
    "/everything/": 200,
    "/nothing/": 404,
}


def visit(page: Page, path: str, language: str) -> None:
    answer = page.goto(path)
    assert answer is not None and answer.status == PAGES[path]
    assert page.get_attribute("html", "lang") == language


def test_english_pages_have_no_findings_and_do_not_scroll_sideways(page: Page, watch: Watch) -> None:
    watch.expect(404)
    violations: list[str] = []
    for path in PAGES:
        visit(page, path, "en")
        violations += findings(page) + sideways(page)
    assert violations == []


def test_japanese_pages_have_no_findings_when_narrow_and_do_not_scroll_sideways(
    page: Page, watch: Watch, server: str
) -> None:
    watch.expect(404)
    page.context.add_cookies([{"name": "studio-language", "value": "ja", "url": server}])
    violations: list[str] = []
    for path in PAGES:
        visit(page, path, "ja")
        violations += findings_when_narrow(page) + sideways(page)
    assert violations == []


def test_page_before_sign_in_has_no_findings(stranger: Page) -> None:
    stranger.goto("/signin/")
    assert findings(stranger) + sideways(stranger) == []


def test_page_of_every_component_has_no_findings(page: Page, settings: object) -> None:
    settings.DEBUG = True  # type: ignore[attr-defined]
    page.goto("/design/")
    assert findings(page) == []


def test_paper_shows_the_content_alone(page: Page) -> None:
    page.goto("/prompts/research-team/versions/4/")
    page.emulate_media(media="print", color_scheme="dark")
    expect(page.get_by_role("navigation", name="Main")).to_be_hidden()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
