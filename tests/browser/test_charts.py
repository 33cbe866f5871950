"""The chart of a run with thirty teams: a line that is pointed at or focused stands out, points are links."""

import re
from pathlib import Path

import duckdb
import pytest
from django.utils import timezone
from playwright.sync_api import Locator, Page, expect

from builder.simulation import SimulatedDatabase
from studio.models import Workspace
from tests.browser.readiness import press

RUN = "/workspaces/thirty/runs/many/"


@pytest.fixture
def thirty_teams(server: str, tmp_path: Path) -> None:
    """One run in which thirty teams played five rounds."""
    with SimulatedDatabase(tmp_path / "mixseek.db"):
        pass
    with duckdb.connect(str(tmp_path / "mixseek.db")) as connection:
        connection.execute(
            "INSERT INTO leader_board (execution_id, team_id, team_name, round_number, submission_content,"
            " score, score_details, created_at, updated_at)"
            " SELECT 'many', 'team-' || team, 'Team ' || team, round, 'x', 90 - 2 * team - 9 / round,"
            " '{}', TIMESTAMP '2026-01-01', TIMESTAMP '2026-01-01'"
            " FROM range(30) t(team), range(1, 6) r(round)"
        )
    Workspace.objects.create(slug="thirty", name="Thirty", path=str(tmp_path), created_at=timezone.now())


def expect_raised(line: Locator, others: Locator) -> None:
    """It is drawn in full, and all the others step back."""
    expect(line).to_have_css("opacity", "1")
    for other in others.all():
        expect(other).to_have_css("opacity", "0.2")


def test_hovering_and_focusing_a_line_raises_it_and_its_points_are_links(
    page: Page, thirty_teams: None, server: str
) -> None:
    page.goto(RUN)
    chart = page.locator("#run-scores svg.chart")
    lines = chart.locator(".series")
    expect(lines).to_have_count(30)
    expect(lines.first).to_have_css("opacity", "1")

    # One of the grey ones, which has no name beside the chart.
    grey = chart.locator(".series.other").filter(has_text="Team 20 ")
    name = grey.locator(".raised-name")
    expect(name).to_be_hidden()
    grey.locator("circle").nth(2).hover()
    expect(name).to_be_visible()
    expect(name).to_have_text(re.compile(r"^Team 20 \d"))
    expect_raised(grey, chart.locator(".series.other").filter(has_not_text="Team 20 "))
    page.mouse.move(0, 0)
    expect(name).to_be_hidden()

    # By keyboard: one stop for each line.
    first = chart.locator(".series.look-1")
    first.locator("a:not([tabindex])").focus()
    expect_raised(first, chart.locator(".series.other"))
    press(page, "Enter")
    expect(page).to_have_url(f"{server}{RUN}teams/team-0/rounds/5/")
    page.go_back()
    chart.locator(".series.look-2 a").first.click()
    expect(page).to_have_url(f"{server}{RUN}teams/team-1/rounds/1/")
