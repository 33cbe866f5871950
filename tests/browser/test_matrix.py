"""What does each version change, and where? From the set to the matrix, to the comparison behind a cell."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Route, expect

from studio.shell import sized_cache
from tests.browser.patience import eventually
from tests.browser.readiness import press
from tests.browser.watch import Watch

MATRIX = "/prompts/research-team/matrix/"


@pytest.fixture(autouse=True)
def forgotten(server: str) -> Iterator[None]:
    """The server runs in this process: what an earlier test saw is worked out again."""
    sized_cache.clear_all()
    yield


def test_rows_come_one_by_one_and_cells_lead_to_the_comparison(page: Page, server: str) -> None:
    page.goto("/prompts/research-team/")
    page.get_by_role("link", name="Matrix", exact=True).click()
    expect(page).to_have_url(server + MATRIX)
    bar = page.locator("[data-matrix-progress]")
    expect(bar.get_by_text("All rows are ready.")).to_be_visible()
    assert bar.locator("progress").evaluate("bar => bar.value === bar.max")

    # v5 mends a word that shows from round 3 on: four of the contexts have one.
    row = page.locator("#row-5")
    expect(row.locator("td.changed")).to_have_count(4)
    expect(row.locator("td.same")).to_have_count(3)
    expect(page.locator("#row-4")).to_contain_text("Baseline")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    page.get_by_role("columnheader", name="Round 5, first place").get_by_role("link", name="5 rounds").click()
    expect(page).to_have_url(f"{server}{MATRIX}?open=round-5-first")
    # What was worked out stands in the page.
    expect(bar).to_be_hidden()
    expect(row.locator("td")).to_have_count(11)
    cells = row.locator("td").nth(2), row.locator("td").nth(4)
    expect(cells[0]).to_have_text("= unchanged")
    cells[1].get_by_role("link").click()
    expect(page).to_have_url(
        f"{server}/prompts/research-team/compare/4...5?rendered=on&context=round-5-first&round=3#team"
    )
    expect(page.locator("#team .panel-head")).to_contain_text("Round 5, first place, round 3")
    press(page, "m")
    expect(page).to_have_url(f"{server}{MATRIX}?baseline=4&versions=5")
    expect(page.locator("[data-pending]")).to_have_count(0)


def test_versions_and_the_baseline_are_chosen(page: Page, server: str) -> None:
    page.goto(MATRIX)
    page.get_by_text("4 versions", exact=True).click()
    page.get_by_label("v3").uncheck()
    page.get_by_label("v2").uncheck()
    page.get_by_label("v5").uncheck()
    page.get_by_label("Others").fill("1-2")
    page.get_by_label("Baseline").fill("v3")
    page.get_by_role("button", name="Show").click()
    # The baseline of before is a version like any other now.
    expect(page.locator("tbody tr")).to_have_count(4)
    expect(page.locator("tbody tr").first).to_have_attribute("id", "row-3")
    expect(page.locator("#row-4 .label")).to_have_text("production")
    page.get_by_role("link", name="Evaluator").click()
    expect(page).to_have_url(re.compile("kind=evaluator"))
    expect(page.get_by_text("All rows are ready.")).to_be_visible()
    page.locator("#row-1").hover()
    page.locator("#row-1").get_by_role("link", name="Use as baseline").click()
    expect(page.locator("#row-1")).to_contain_text("Baseline")


def test_it_can_be_stopped_and_a_row_that_failed_asked_again(page: Page, watch: Watch) -> None:
    watch.expect(503)
    held: list[Route] = []
    page.route("**/matrix/?*row=3*", lambda route: held.append(route))
    page.goto(MATRIX)
    expect(page.locator("#row-5 td.cell")).to_have_count(7)
    expect(page.get_by_text("2 of 5 rows")).to_be_visible()
    eventually(page, lambda: len(held), 1)
    page.get_by_role("button", name="Stop").click()
    again = '<a href="#" hx-get="?baseline=4&row=3" hx-target="closest tr" hx-swap="outerHTML">Retry</a>'
    refused = f'<tr id="row-3" data-failed><th scope="row">v3</th><td>Busy {again}</td></tr>'
    held.pop().fulfill(status=503, content_type="text/html", body=refused)
    page.unroute("**/matrix/?*row=3*")
    expect(page.get_by_text("Busy")).to_be_visible()
    expect(page.locator("[data-pending]")).to_have_count(2)
    page.get_by_role("button", name="Continue").click()
    expect(page.locator("[data-pending]")).to_have_count(0)
    page.get_by_role("link", name="Retry").click()
    expect(page.locator("#row-3 td.cell")).to_have_count(7)


def test_an_answer_that_is_no_row_stops_and_goes_on(page: Page, watch: Watch) -> None:
    watch.expect(502)
    page.route("**/matrix/?*row=5*", lambda route: route.fulfill(status=502, body="<html>a proxy</html>"))
    page.goto(MATRIX)
    expect(page.get_by_text("The studio is not responding.")).to_be_visible()
    page.unroute("**/matrix/?*row=5*")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("All rows are ready.")).to_be_visible()


def test_contexts_are_chosen_without_scripts(plain: Page, server: str) -> None:
    plain.goto(f"{MATRIX}?plain=on")
    legend, table = (
        plain.get_by_role("list", name="Legend").bounding_box(),
        plain.locator("table").bounding_box(),
    )
    assert legend and table and legend["y"] + legend["height"] < table["y"]
    plain.get_by_text("7 contexts", exact=True).click()
    for box in plain.get_by_role("group", name="Contexts").get_by_role("checkbox").all():
        box.set_checked(box.get_attribute("value") in ("round-1", "round-5-last"))
    plain.get_by_role("button", name="Show").click()
    expect(plain.get_by_role("columnheader")).to_have_text(
        [re.compile("Version"), re.compile("Round 1"), re.compile("Round 5, last place")]
    )
    expect(plain).to_have_url(re.compile("contexts=round-1&contexts=round-5-last"))
    expect(plain.locator("#row-5 td")).to_have_count(2)
    # Other choices keep them.
    plain.get_by_role("link", name="Judgment").click()
    expect(plain.get_by_text("2 contexts", exact=True)).to_be_visible()


def test_without_scripts_the_rows_are_in_the_page(plain: Page, server: str) -> None:
    plain.goto(MATRIX)
    expect(plain).to_have_url(f"{server}{MATRIX}?plain=on")
    expect(plain.locator("#row-5 td.changed")).to_have_count(4)
    plain.get_by_role("columnheader", name="Round 5, last place").get_by_role("link", name="5 rounds").click()
    expect(plain.locator("#row-5 td")).to_have_count(11)
