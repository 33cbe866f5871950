"""«Did it help?»: what versions scored, whether that is significant, and what is not compared."""

import re
from dataclasses import replace

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from builder.orchestrators.scoring_settings import ScoringSettings
from studio.models import RunResult, Workspace
from studio.results.attribution import attribute_workspace
from studio.workspaces.orchestrators import kept
from tests.browser.audit import findings, sideways


@pytest.fixture(scope="module", autouse=True)
def examined(server: str) -> None:
    """As the studio does by itself a moment after its start."""
    for workspace in Workspace.objects.all():
        attribute_workspace(workspace, timezone.now())


def test_a_version_that_helped_is_told_from_noise_and_its_runs_are_a_click_away(
    page: Page, server: str
) -> None:
    page.goto("/prompts/briefing-writers/")
    helped = page.locator("#history tbody tr").filter(has_text="Show the leaderboard")
    expect(helped).to_contain_text("significant")
    expect(helped).to_contain_text(re.compile(r"\+[5-8]\.\d\d"))
    expect(helped).to_contain_text(re.compile(r"8\d\.\d\d\s+± [2-5]\.\d\d"))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    helped.get_by_role("link", name="5 of v4").click()
    expect(page).to_have_url(f"{server}/prompts/briefing-writers/versions/4/runs/")
    expect(page.get_by_role("table", name="Runs of v4").locator("tbody tr")).to_have_count(5)
    expect(page.get_by_text("from the export record")).to_have_count(5)
    rounds = page.get_by_role("table", name="Do scores improve by round?")
    expect(rounds).to_contain_text("significant")
    page.get_by_role("link", name="Round 3:").locator(".mark").click()
    expect(page).to_have_url(f"{server}/prompts/briefing-writers/versions/4/runs/#round-3")
    expect(rounds.locator("#round-3")).to_be_in_viewport()
    page.locator("table.rows .row-link").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Draft an incident review")


def test_a_version_that_changed_the_judge_is_not_compared_unless_asked(page: Page, server: str) -> None:
    page.goto("/prompts/research-team/")
    judged = page.locator("#history tbody tr").filter(has_text="評価者に出典の日付も")
    expect(judged).to_contain_text("Evaluator or judge changed: not comparable")
    expect(judged.get_by_title("v2 changed the evaluator template.")).to_be_visible()
    expect(page.locator("#history")).not_to_contain_text("on v1")
    judged.get_by_role("link", name="Evaluator or judge changed").click()
    expect(page).to_have_url(f"{server}/prompts/research-team/scores/#basis-2")
    split = page.locator("tr.basis-change")
    expect(split).to_have_count(1)
    expect(split).to_contain_text("v2 changed the evaluator template.")
    chart = page.locator("svg.chart", has_text="Mean best score of a run")
    expect(chart.locator(".basis-break")).to_have_count(1)
    split.get_by_role("link", name="Show the difference anyway").click()
    expect(page.get_by_text("because you asked for it")).to_be_visible()
    compared = page.locator(".score-table tbody tr").filter(has_text="評価者に出典の日付も")
    expect(compared).to_contain_text("evaluator or judge changed")
    expect(compared).to_contain_text("on v1")
    page.get_by_role("link", name="Don’t compare").click()
    expect(page.locator(".notice")).to_have_count(0)
    expect(page.locator(".score-table")).not_to_contain_text("on v1")


def test_what_runs_were_scored_with_has_its_effect_on_a_comparison(page: Page, server: str) -> None:
    before = ScoringSettings(
        evaluator=('default_model = "google-gla:gemini-2.5-flash"', "Coverage.weight = 0.5"),
        judgment=("temperature = 0.0",),
        teams=('team-001.leader.model = "google-gla:gemini-2.5-pro"',),
        rounds=("max_rounds = 3",),
    )
    pro = 'default_model = "google-gla:gemini-3-pro"'
    flash = 'team-001.leader.model = "google-gla:gemini-flash-latest"'
    weight = replace(before, evaluator=(before.evaluator[0], "Coverage.weight = 0.7"))
    model = replace(before, evaluator=(pro, before.evaluator[1]))

    def scored(number: int, settings: ScoringSettings) -> None:
        runs = RunResult.objects.filter(version__prompt_set__slug="briefing-writers", version__number=number)
        runs.update(scoring=kept(settings, timezone.now()))

    scored(3, before)
    for after, lines in ((weight, ("Coverage.weight = 0.5", "Coverage.weight = 0.7")), (model, (pro,))):
        scored(4, after)
        page.goto("/prompts/briefing-writers/")
        changed = page.locator("#history tbody tr").filter(has_text="Show the leaderboard")
        expect(changed).to_contain_text("Evaluator or judge changed: not comparable")
        why = "Evaluator settings differ between the runs of v4 and v3."
        expect(changed.get_by_title(why)).to_be_visible()
        changed.get_by_role("link", name="Evaluator or judge changed").click()
        expect(page).to_have_url(f"{server}/prompts/briefing-writers/scores/#basis-4")
        for line in lines:
            expect(page.locator("#basis-4 .changed-lines")).to_contain_text(line)
    assert findings(page) + sideways(page) == []
    scored(4, replace(before, teams=(flash,)))
    page.goto("/prompts/briefing-writers/scores/")
    row = page.locator(".score-table tbody tr").filter(has_text="Show the leaderboard")
    expect(row).to_contain_text("on v3")
    expect(row).to_contain_text("teams or models changed")
    expect(row.locator(".changed-lines")).to_contain_text(flash)
    expect(row).to_contain_text("moving alias")
    assert findings(page) + sideways(page) == []


def test_the_method_is_stated_one_click_from_the_history(page: Page) -> None:
    page.goto("/prompts/research-team/?q=順位")
    page.get_by_role("link", name="How this is computed").click()
    page.locator("#method summary").click()
    expect(page.locator("#method")).to_contain_text("Welch’s t-test")
    with page.expect_download() as file:
        page.locator(".table-foot").first.get_by_role("link", name="CSV").click()
    assert file.value.suggested_filename == "research-team-scores.csv"


def test_pages_with_scores_have_no_findings_and_do_not_scroll_sideways(page: Page) -> None:
    found: list[str] = []
    for path in ("", "?anyway=1", "scores/", "scores/?anyway=1", "versions/4/runs/"):
        page.goto(f"/prompts/research-team/{path}")
        found += findings(page) + sideways(page)
    assert found == []


def test_a_comparison_folds_its_figures_below_the_texts(page: Page) -> None:
    page.goto("/prompts/briefing-writers/compare/1...4")
    scores = page.locator("#scores")
    expect(scores.get_by_text("Mean best score")).to_be_hidden()
    scores.locator("summary").click()
    expect(scores.get_by_text("Mean best score")).to_be_visible()
    page.locator("#prefixes").evaluate("each => each.scrollIntoView()")
    expect(page.locator("#prefixes tr[data-kind=team]")).to_be_attached()
    panel, below = page.locator(".diff-panel").last.bounding_box(), scores.bounding_box()
    assert panel and below and below["y"] > panel["y"] + panel["height"]
    assert findings(page) == []
    page.goto("/prompts/briefing-writers/compare/3...4?w=on")
    scores.locator("summary").click()
    expect(scores).to_contain_text("Detectable with these runs: 4.87 or more")
    scores.get_by_label("Runs needed to detect a difference of").fill("3.5")
    scores.get_by_role("button", name="Show").click()
    expect(page).to_have_url(re.compile(r"\?w=on&detect=3\.5"))
    expect(scores.get_by_text("To detect 3.50: 3 more runs of each version")).to_be_visible()


def test_points_of_versions_lead_to_their_runs_and_a_line_pointed_at_stands_out(
    page: Page, server: str
) -> None:
    page.goto("/prompts/research-team/scores/")
    chart = page.locator("svg.chart", has_text="Mean best score of a run")
    before, after = chart.locator(".interval").all()
    after.locator("a .mark").first.hover()
    expect(before).to_have_css("opacity", "0.35")
    expect(after).to_have_css("opacity", "1")
    after.locator("a .mark").first.click()
    expect(page).to_have_url(f"{server}/prompts/research-team/versions/2/runs/")
    page.go_back()
    by_round = page.locator("svg.chart", has_text="Mean score").last
    by_round.locator(".look-1 a").first.click()
    expect(page).to_have_url(f"{server}/prompts/research-team/versions/4/runs/#round-1")


def test_points_of_a_workspace_and_of_two_runs_are_links(page: Page, server: str) -> None:
    page.goto("/workspaces/research/scores/")
    row = page.locator("svg.chart a").first
    team = row.get_attribute("href")
    row.locator(".row-name").click()
    expect(page).to_have_url(f"{server}{team}")
    runs = RunResult.objects.filter(workspace__slug="research", state="completed")
    first, second = runs.order_by("pk").values_list("execution_id", flat=True)[:2]
    page.goto(f"/workspaces/research/runs/{first}...{second}/")
    page.locator("svg.chart .look-1 a .mark").last.click()
    expect(page).to_have_url(re.compile(rf"/runs/{first}/teams/[^/]+/rounds/3/$"))
    page.goto(page.url.removesuffix("rounds/3/"))
    page.locator("svg.chart .look-2 a .mark").first.click()
    expect(page).to_have_url(re.compile(rf"/runs/{first}/teams/[^/]+/rounds/1/$"))
