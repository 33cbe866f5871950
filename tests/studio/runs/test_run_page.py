"""One run: its ranking in either order, its scores as a chart and a table, and what changed since."""

import csv
import html
import io
import json
import re
import shutil
from datetime import timedelta
from pathlib import Path

import duckdb
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from builder.leaderboard.writer import RoundKey, SimulatedDatabase
from builder.simulation import TASKS, Run, simulate
from studio.models import Workspace
from studio.workspaces.stores import store_of
from tests.studio import odd_workspace as odd
from tests.studio.clock import NOW, stop_clock
from tests.studio.markup import tight

POLL = {"HX-Request": "true", "HX-Target": "live"}


@pytest.fixture(scope="module")
def odd_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return odd.make_odd_workspace(tmp_path_factory.mktemp("odd"))


@pytest.fixture
def odd_one(db: None, odd_folder: Path) -> Workspace:
    return Workspace.objects.create(slug="odd", name="<Odd>", path=str(odd_folder), created_at=NOW)


def text(client: Client, url: str, **headers: str) -> str:
    answer = client.get(url, headers=headers)
    assert answer.status_code == 200, (url, answer.content.decode()[-2000:])
    return answer.content.decode()


def places(page: str) -> list[str]:
    return [html.unescape(name) for name in re.findall(r'class="row-link" id="team-\w+"[^>]*>([^<]*)<', page)]


def run_of(slug: str, state: str) -> str:
    store = store_of(Workspace.objects.get(slug=slug))
    return reverse("run-detail", args=[slug, store.executions(state=state)[0].execution_id])  # type: ignore[arg-type]


def test_a_run_shows_task_ranking_chart_and_scores(demo: Path, signed_in: Client) -> None:
    url = run_of("research", "completed")
    store = store_of(Workspace.objects.get(slug="research"))
    run = store.executions(state="completed")[0]
    standings = store.standings(run.execution_id)
    page = text(signed_in, url)
    assert run.user_prompt is not None and html.escape(run.user_prompt[:60]) in page
    assert places(page) == [each.team_name for each in standings]
    for each in standings:
        assert f"<strong>{each.best_score:.2f}</strong>" in page
        assert reverse("run-team", args=["research", run.execution_id, each.team_id]) in page
    for point in store.scores(run.execution_id):
        assert f">{point.score:.2f}</a>" in page
        assert (
            reverse("run-round", args=["research", run.execution_id, point.team_id, point.round_number])
            in page
        )
    assert page.count('class="series look-') == 4 and "All rounds finished" in page
    assert f"{standings[0].team_name} leads with {standings[0].best_score:.2f}" in page
    assert f'data-copy="{run.execution_id}"' in page
    # It is over: nothing asks again.
    assert "data-live" not in page and "Snapshot updated" in page


@pytest.mark.slow
def test_ties_stand_in_either_order(signed_in: Client, tmp_path: Path) -> None:
    with SimulatedDatabase(tmp_path / "mixseek.db") as database:
        for team, rounds in (("a", 1), ("b", 2)):
            for number in range(1, rounds + 1):
                key = RoundKey("tie", team, f"Team {team}", number)
                database.save_submission(key, "x", {"overall_score": 70.0}, NOW)
    Workspace.objects.create(slug="mine", name="Mine", path=str(tmp_path), created_at=NOW)
    page, mixseek, contract = (
        tight(text(signed_in, f"/workspaces/mine/runs/tie/{query}"))
        for query in ("", "?order=mixseek", "?order=contract")
    )
    assert places(page) == places(mixseek) == ["Team a", "Team b"] and page.count(">tied<") == 2
    assert places(contract) == ["Team b", "Team a"]
    assert 'href="?order=contract" aria-current="true"' in contract
    assert signed_in.get("/workspaces/mine/runs/tie/?order=other").status_code == 400


@pytest.mark.slow
def test_a_poll_brings_only_what_changed(
    signed_in: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = timezone.now()
    stop_clock(monkeypatch, now)
    (execution,) = simulate(
        tmp_path, [Run(TASKS["ja"][0], now - timedelta(minutes=3), state="running", rounds=4)]
    )
    workspace = Workspace.objects.create(slug="mine", name="Mine", path=str(tmp_path), created_at=NOW)
    url = f"/workspaces/mine/runs/{execution}/"
    page = text(signed_in, url)
    asks = re.search(r'<div id="live"[^>]* hx-get="([^"]*)" hx-trigger="every 3s, live"', page)
    assert asks and "Running for" in page and "MixSeek stores the task" in page
    again = url + html.unescape(asks[1])
    # What is said to have been just now is a minute ago: that is no change.
    now += timedelta(seconds=70)
    stop_clock(monkeypatch, now)
    quiet = text(signed_in, again, **POLL)
    assert quiet.lstrip().startswith('<div id="live"') and "hx-swap-oob" not in quiet and "data-live" in quiet
    with SimulatedDatabase(tmp_path / "mixseek.db") as database:
        key = RoundKey(execution, "team-new", "新チーム", 1)
        database.save_submission(key, "x", {"overall_score": 99.5}, now)
    store_of(workspace).refresh(wait=None)
    moved = text(signed_in, again, **POLL)
    swapped = re.findall(r'<div id="([\w-]+)" hx-swap-oob="innerHTML">', moved)
    assert swapped == ["run-head", "run-why", "run-ranking", "run-scores"] and places(moved)[0] == "新チーム"
    assert "<html" not in moved


@pytest.mark.slow
def test_polling_ends_with_the_run(signed_in: Client, tmp_path: Path) -> None:
    run = Run(TASKS["ja"][0], timezone.now() - timedelta(minutes=9))
    (execution,) = simulate(tmp_path, [run])
    Workspace.objects.create(slug="mine", name="Mine", path=str(tmp_path), created_at=NOW)
    last = text(signed_in, f"/workspaces/mine/runs/{execution}/?have=1&have=2", **POLL)
    assert 'id="live"' in last and "hx-get" not in last.split(">")[0] and last.count("hx-swap-oob") == 5


def test_teams_that_gave_up_say_why(demo: Path, signed_in: Client) -> None:
    page = text(signed_in, run_of("research", "partial_failure"))
    assert "Team execution timed out after 600 seconds" in page and "1 without a result" in page


def test_progress_is_shown_while_it_runs(demo: Path, signed_in: Client) -> None:
    page = text(signed_in, run_of("research", "running"))
    assert "Current status" in page and "of 5" in page and "<progress" in page and "Last activity" in page


def test_a_run_with_very_many_teams_is_shown_in_pages(signed_in: Client, tmp_path: Path) -> None:
    with SimulatedDatabase(tmp_path / "mixseek.db"):
        pass
    with duckdb.connect(str(tmp_path / "mixseek.db")) as connection:
        connection.execute(
            "INSERT INTO leader_board (execution_id, team_id, team_name, round_number, submission_content,"
            " score, score_details, created_at, updated_at)"
            " SELECT 'many', 'team-' || team, 'Team ' || team, round, 'x', 100 - team / 100.0 - 1 / round,"
            " '{}', TIMESTAMP '2026-01-01', TIMESTAMP '2026-01-01'"
            " FROM range(1000) t(team), range(1, 31) r(round)"
        )
    (tmp_path / "logs").mkdir()
    for team in range(1000):
        report = {"execution_id": "many", "team_id": f"team-{team}", "status": "running"}
        report["updated_at"] = timezone.now().isoformat()
        if team == 900:
            report["error_message"] = "gave up"
        (tmp_path / "logs" / f"many.team-{team}.progress.json").write_text(json.dumps(report))
    Workspace.objects.create(slug="mine", name="Mine", path=str(tmp_path), created_at=NOW)
    url = "/workspaces/mine/runs/many/"
    first = text(signed_in, url)
    assert len(first) < 700_000
    assert places(first) == [f"Team {team}" for team in range(50)]
    assert "Teams 1–50 of 1000, as in the ranking above." in first and "100 of 1000 teams" in first
    assert "gave up" in first, "what went wrong comes first"
    last = text(signed_in, f"{url}?page=20&order=contract")
    assert places(last) == [f"Team {team}" for team in range(950, 1000)]
    assert 'href="?page=19&amp;order=contract"' in last
    for table, rows in (("ranking", 1000), ("scores", 30_000), ("progress", 1000)):
        answer = signed_in.get(f"{url}?format=json&table={table}")
        assert len(json.loads(b"".join(answer.streaming_content))) == rows  # type: ignore[attr-defined]


@pytest.mark.parametrize("table", ["ranking", "scores", "progress", "rounds", "metrics"])
def test_every_table_is_a_file(demo: Path, signed_in: Client, table: str) -> None:
    url = run_of("research", "running")
    page = text(signed_in, url)
    assert f"?format=csv&amp;table={table}" in page and f"?format=json&amp;table={table}" in page
    found = {}
    for form in ("csv", "json"):
        answer = signed_in.get(f"{url}?format={form}&table={table}")
        assert f"-{table}.{form}" in answer.headers["Content-Disposition"]
        found[form] = b"".join(answer.streaming_content).decode("utf-8-sig")  # type: ignore[attr-defined]
    listed = json.loads(found["json"])
    lines = list(csv.DictReader(io.StringIO(found["csv"], newline="")))
    assert len(listed) == len(lines) > 0 and list(listed[0]) == list(lines[0])


@pytest.mark.slow
def test_whatever_the_database_holds_is_shown(odd_one: Workspace, signed_in: Client) -> None:
    page = text(signed_in, reverse("run-detail", args=["odd", odd.EXECUTION]))
    assert "<script>alert" not in page and "&lt;script&gt;" in page
    assert "1e+30" in page and "−12.50" in page
    assert "max_rounds &lt;reached&gt;" in page
    for execution in (odd.OTHER_METRICS, odd.GOING_ON):
        text(signed_in, reverse("run-detail", args=["odd", execution]))
    for order in ("ranking", "scores", "rounds"):
        assert signed_in.get(
            reverse("run-detail", args=["odd", odd.EXECUTION]) + f"?format=csv&table={order}"
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", ["nothing/", "%2E%2E/", "~2E~2E/", "~/", "a~zz/", "nothing/teams/x/", "%00/"]
)
def test_what_is_not_there_is_a_404(odd_one: Workspace, signed_in: Client, path: str) -> None:
    for language in ("en", "ja"):
        answer = signed_in.get(f"/workspaces/odd/runs/{path}", headers={"Accept-Language": language})
        assert answer.status_code == 404


@pytest.mark.slow
def test_a_missing_table_is_named_and_the_rest_is_shown(
    demo: Path, signed_in: Client, tmp_path: Path
) -> None:
    shutil.copytree(Workspace.objects.get(slug="briefing").path, tmp_path / "w")
    with duckdb.connect(str(tmp_path / "w" / "mixseek.db")) as connection:
        connection.execute("DROP TABLE round_status")
        for index in connection.execute(
            "SELECT index_name FROM duckdb_indexes() WHERE table_name = 'leader_board'"
        ).fetchall():
            connection.execute(f"DROP INDEX {index[0]}")
        connection.execute("ALTER TABLE leader_board DROP COLUMN exit_reason")
    Workspace.objects.create(slug="mine", name="Mine", path=str(tmp_path / "w"), created_at=NOW)
    url = run_of("mine", "completed")
    page = text(signed_in, url)
    assert "<code>round_status</code>" in page and "<code>leader_board.exit_reason</code>" in page
    assert len(places(page)) == 4
    assert "<code>round_status</code>" in text(signed_in, f"{url}teams/team-001/")


@pytest.mark.slow
def test_a_database_without_a_leaderboard_says_so(signed_in: Client, tmp_path: Path) -> None:
    (execution,) = simulate(tmp_path, [Run(TASKS["en"][0], NOW, rounds=1)])
    with duckdb.connect(str(tmp_path / "mixseek.db")) as connection:
        connection.execute("DROP TABLE leader_board")
    Workspace.objects.create(slug="mine", name="Mine", path=str(tmp_path), created_at=NOW)
    for language, words in (("en", "leader_board"), ("ja", "leader_board")):
        page = text(signed_in, f"/workspaces/mine/runs/{execution}/", **{"Accept-Language": language})
        assert words in page and TASKS["en"][0][:30] in html.unescape(page)


def test_the_page_speaks_japanese(demo: Path, signed_in: Client) -> None:
    page = text(signed_in, run_of("research", "completed"), **{"Accept-Language": "ja"})
    for words in ("順位", "MixSeekの順位", "ラウンドごとのスコア", "全ラウンドを終えた"):
        assert words in page
