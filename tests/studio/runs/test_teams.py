"""Teams over runs, how scores spread, and two runs side by side."""

import csv
import html
import io
import json
import re
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from builder.leaderboard import AggregationStore
from studio.models import Workspace
from studio.shell.paging import Paging
from studio.workspaces.stores import store_of
from tests.studio import odd_workspace as odd
from tests.studio.clock import NOW


@pytest.fixture
def store(demo: Path) -> AggregationStore:
    return store_of(Workspace.objects.get(slug="research"))


def page_of(client: Client, url: str) -> str:
    answer = client.get(url)
    assert answer.status_code == 200, url
    return answer.content.decode()


def rows_of(client: Client, url: str, table: str) -> tuple[list[dict[str, object]], list[list[str]]]:
    """A table as both files have it."""
    mark = "&" if "?" in url else "?"
    as_json = client.get(f"{url}{mark}format=json&table={table}").getvalue()
    as_csv = client.get(f"{url}{mark}format=csv&table={table}").getvalue().decode("utf-8-sig")
    return json.loads(as_json), list(csv.reader(io.StringIO(as_csv)))


def test_teams_are_listed_searched_ordered_and_downloaded(store: AggregationStore, signed_in: Client) -> None:
    url = reverse("team-list", args=["research"])
    page = page_of(signed_in, url)
    best = [team.team_id for team in store.across.teams(order="best")]
    assert re.findall(r'class="row-link" href="/workspaces/research/teams/([^/]+)/"', page) == best
    assert f"{store.across.teams()[0].best_score:.2f}" in page
    found = page_of(signed_in, f"{url}?q=beta&order=name")
    assert re.findall(r'class="row-link" href="[^"]*/teams/([^/]+)/"', found) == ["team-002"]
    assert "No team matches" in page_of(signed_in, f"{url}?q=zzz")
    rows, lines = rows_of(signed_in, url, "teams")
    assert [row["team_id"] for row in rows] == best == [line[0] for line in lines[1:]]
    part = signed_in.get(url, headers={"HX-Request": "true", "HX-Target": "teams"}).content.decode()
    assert "<html" not in part and "team-002" in part
    assert signed_in.get(f"{url}?order=wrong").status_code == 400


def test_a_team_is_followed_from_run_to_run(store: AggregationStore, signed_in: Client) -> None:
    url = reverse("team-detail", args=["research", "team-001"])
    page = page_of(signed_in, url)
    history = store.across.team_history("team-001")
    ways = re.findall(r'class="row-link" href="([^"]+)"', page)
    assert ways == [
        reverse("run-team", args=["research", run.execution.execution_id, "team-001"]) for run in history
    ]
    change = (history[0].best_score or 0) - (history[1].best_score or 0)
    assert f"{abs(change):.2f}" in page and '<svg class="chart"' in page
    assert page.count(" of 4") >= len(history) - 1
    rows, lines = rows_of(signed_in, url, "runs")
    assert [row["rank"] for row in rows] == [run.rank for run in history]
    assert len(lines) == len(history) + 1
    assert signed_in.get(reverse("team-detail", args=["research", "nobody"])).status_code == 404


@pytest.mark.slow
def test_scores_have_quartiles_a_chart_and_the_numbers_beside_it(
    store: AggregationStore, signed_in: Client
) -> None:
    for query in ("", "?of=rounds", "?by=runs", "?of=rounds&by=runs", "?team=team-002"):
        expect_scores(store, signed_in, query)


def expect_scores(store: AggregationStore, signed_in: Client, query: str) -> None:
    url = reverse("workspace-scores", args=["research"]) + query
    page = page_of(signed_in, url)
    team = "team-002" if "team=" in query else None
    spread = store.across.distribution(of="rounds" if "of=" in query else "best", team_id=team)
    for figure in (
        spread.minimum,
        spread.lower_quartile,
        spread.median,
        spread.upper_quartile,
        spread.maximum,
    ):
        assert f"{figure:.2f}" in page
    assert page.count('<svg class="chart"') == 2
    bins, _lines = rows_of(signed_in, url, "bins")
    assert sum(int(str(row["scores"])) for row in bins) == spread.count
    groups, _lines = rows_of(signed_in, url, "groups")
    key = "team_id" if "by=" not in query and team is None else "execution_id"
    assert groups and key in groups[0]


@pytest.mark.slow
def test_two_runs_are_picked_and_compared_the_older_first(store: AggregationStore, signed_in: Client) -> None:
    newer, older = (each.execution_id for each in store.executions(state="completed", limit=2))
    pick = reverse("run-compare-pick", args=["research"])
    assert f'value="{older}"' in page_of(signed_in, pick)
    assert "Select another one to compare it with" in page_of(signed_in, f"{pick}?run={older}")
    three = "&".join(f"run={each.execution_id}" for each in store.executions(limit=3))
    assert "Only two runs can be compared at a time" in page_of(signed_in, f"{pick}?{three}")
    answer = signed_in.get(f"{pick}?run={newer}&run={older}")
    assert answer.headers["Location"] == reverse("run-compare", args=["research", older, newer])
    url = answer.headers["Location"]
    page = page_of(signed_in, url)
    found = store.across.compare(older, newer)
    assert found.best_delta is not None and f"{abs(found.best_delta):.2f}" in page
    for team in found.teams:
        assert team.delta is not None and f"{abs(team.delta):.2f}" in page
    assert '<svg class="chart"' in page and reverse("run-compare", args=["research", newer, older]) in page
    rows, lines = rows_of(signed_in, url, "teams")
    assert [row["difference"] for row in rows] == [team.delta for team in found.teams]
    assert len(lines) == 5
    rounds, _lines = rows_of(signed_in, url, "rounds")
    assert [row["round"] for row in rounds] == [1, 2, 3]
    alone = page_of(signed_in, f"{url}?team=team-003")
    assert "Round by round: 深掘りチーム" in alone
    metrics, _lines = rows_of(signed_in, f"{url}?team=team-003", "metrics")
    assert {row["metric"] for row in metrics} == {"ClarityCoherence", "Coverage", "Relevance"}


@pytest.mark.slow
def test_a_comparison_says_what_cannot_be_compared(odd_one: Workspace, signed_in: Client) -> None:
    page = page_of(signed_in, reverse("run-compare", args=["odd", odd.OTHER_METRICS, odd.GOING_ON]))
    assert "The task of an unfinished run is not stored" in page
    page = page_of(signed_in, reverse("run-compare", args=["odd", odd.OTHER_METRICS, odd.EXECUTION]))
    for caution in ("Tasks differ", "Not every team finished", "1 round versus"):
        assert caution in page
    assert "in the second only" in page and "<script>alert" not in page
    other = reverse("run-compare", args=["odd", odd.EXECUTION, odd.GOING_ON])
    assert "Brevity" in page_of(signed_in, f"{other}?team=plain")
    assert signed_in.get(reverse("run-compare", args=["odd", odd.EXECUTION, "nothing"])).status_code == 404


def test_runs_measured_by_other_metrics_are_not_one_ruler(odd_one: Workspace, signed_in: Client) -> None:
    url = reverse("run-compare", args=["odd", odd.EXECUTION, odd.OTHER_METRICS])
    page = page_of(signed_in, url)
    assert "Metrics differ: not comparable" in page and "Evaluator or judge changed: not comparable" in page
    assert 'class="delta' not in page and "anyway=1" in page
    for table, column in (
        ("teams", "difference"),
        ("rounds", "difference_of_best"),
        ("metrics", "difference"),
    ):
        rows, _lines = rows_of(signed_in, url, table)
        assert {row[column] for row in rows} == {None}
    asked = page_of(signed_in, f"{url}?anyway=1")
    assert 'class="delta' in asked and "because you asked for it" in asked


@pytest.mark.slow
def test_odd_teams_and_scores_have_their_pages(odd_one: Workspace, signed_in: Client) -> None:
    page = page_of(signed_in, reverse("team-list", args=["odd"]))
    assert "&lt;script&gt;alert" in page and "<script>alert" not in page and "also called Plain 2" in page
    for team in (odd.TEAM, "", "wild", "plain"):
        url = reverse("team-detail", args=["odd", team])
        assert html.escape(url) in page
        page_of(signed_in, url)
        page_of(
            signed_in, reverse("workspace-scores", args=["odd"]) + f"?team={team.replace('&', '%26')[:6]}"
        )
    scores = reverse("workspace-scores", args=["odd"])
    for query in ("", "of=rounds", "by=runs"):
        assert "1e+30" in page_of(signed_in, f"{scores}?partial=on&{query}")
        # Wild has no final row in a run that is over: it broke off, and its scores count only when asked for.
        assert "1e+30" not in page_of(signed_in, f"{scores}?{query}")
    assert "This team has no score here" in page_of(signed_in, f"{scores}?team=nobody")


def test_a_workspace_without_database_says_so(signed_in: Client, tmp_path: Path) -> None:
    Workspace.objects.create(slug="empty", name="Empty", path=str(tmp_path), created_at=NOW)
    for name in ("team-list", "workspace-scores", "run-compare-pick"):
        page = page_of(signed_in, reverse(name, args=["empty"]))
        assert 'class="empty"' in page
    assert signed_in.get(reverse("team-detail", args=["empty", "x"])).status_code == 404


@pytest.mark.parametrize(
    ("wanted", "total", "told"),
    [
        (1, 0, (1, 0, 0, None, None)),
        (1, 101, (1, 1, 50, None, 2)),
        (3, 101, (3, 101, 101, 2, None)),
        (99, 101, (3, 101, 101, 2, None)),
    ],
)
def test_a_page_beyond_the_last_is_the_last(wanted: int, total: int, told: tuple[int | None, ...]) -> None:
    page = Paging(wanted, total, 50)
    assert (page.number, page.first_row, page.last_row, page.previous, page.next) == told
