"""Why a run was won: metrics of all teams, the first two submissions side by side, and where each leads."""

import html
import json
import re
from collections.abc import Mapping
from pathlib import Path

import duckdb
import pytest
from django.test import Client

from builder.leaderboard import AggregationStore
from builder.leaderboard.writer import RoundKey, SimulatedDatabase
from studio.models import Workspace
from tests.studio.clock import NOW
from tests.studio.markup import tight

Scores = Mapping[str, float]


def details(overall: float, metrics: Scores) -> dict[str, object]:
    listed = [
        {"metric_name": name, "score": score, "evaluator_comment": f"About {name}: <b>{score}</b>"}
        for name, score in metrics.items()
    ]
    return {"overall_score": overall, "metrics": listed}


def store_rounds(folder: Path, rounds: Mapping[tuple[str, int], tuple[float, Scores, str]]) -> Workspace:
    with SimulatedDatabase(folder / "mixseek.db") as database:
        for (team, number), (overall, metrics, text) in rounds.items():
            key = RoundKey("run", team, f"Team {team.upper()}", number)
            database.save_submission(key, text, details(overall, metrics), NOW)
    return Workspace.objects.create(slug="mine", name="Mine", path=str(folder), created_at=NOW)


@pytest.fixture
def three(db: None, tmp_path: Path) -> Workspace:
    """A is best in its second round, B second, C third and best in a metric."""
    return store_rounds(
        tmp_path,
        {
            ("a", 1): (50.0, {"Clarity": 99.0, "Depth": 1.0}, "early"),
            ("a", 2): (90.0, {"Clarity": 95.0, "Depth": 80.0}, "# Won\n\n**bold** <script>x</script>"),
            ("b", 1): (85.0, {"Clarity": 80.5, "Depth": 82.0}, "second best " + "word " * 2000),
            ("c", 1): (60.0, {"Depth": 90.0, "Tone": 7.0}, "third"),
        },
    )


def why(client: Client, query: str = "") -> str:
    answer = client.get(f"/workspaces/mine/runs/run/{query}")
    assert answer.status_code == 200
    page = answer.content.decode()
    start = page.index('<section id="run-why"')
    return tight(page[start : page.index('<section id="run-ranking"')])


def said(part: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", part)).split())


def test_the_metrics_of_each_teams_best_round_lead_to_their_comments(
    signed_in: Client, three: Workspace
) -> None:
    part = why(signed_in)
    assert re.findall(r'<th scope="col"[^>]*>([^<]*)<', part) == [
        "Team", "Score", "In round", "Clarity", "Depth", "Tone",
    ]  # fmt: skip
    rows = [said(row) for row in re.findall(r"<tr>.*?</tr>", part, re.DOTALL)[1:]]
    assert rows == [
        "Team A 90.00 2 95.00 ★ Best of this metric 80.00 –",
        "Team B 85.00 1 80.50 82.00 –",
        "Team C 60.00 1 – 90.00 ★ Best of this metric 7.00",
    ]
    assert "heat-4" in part and "heat-0" in part and "About Depth: &lt;b&gt;80.0" in part
    link = re.search(r'href="([^"]*)#(metric-\d+)"[^>]*>80\.00<', part)
    assert link and link[1] == "/workspaces/mine/runs/run/teams/a/rounds/2/"
    comments = signed_in.get(link[1]).content.decode()
    row = comments[comments.index(f'id="{link[2]}"') :].partition("</tr>")[0]
    assert "About Depth: &lt;b&gt;80.0&lt;/b&gt;" in row


def test_what_sets_the_first_two_apart_is_said_with_their_texts(signed_in: Client, three: Workspace) -> None:
    part = why(signed_in)
    words = said(part)
    assert "Team A : 90.00 in round 2, 5.00 ahead of Team B. Ahead in Clarity +14.50" in words
    assert "Behind in Depth −2.00" in words
    assert "<strong>bold</strong>" in part and "<script>x" not in part and "third" not in part
    assert "The first 4000 characters." in words and "second best word" in words and len(part) < 30_000
    for team, number in (("a", 2), ("b", 1)):
        page = f"/workspaces/mine/runs/run/teams/{team}/rounds/{number}/"
        assert f'href="{page}#submission-title"' in part and f'href="{page}#prompt-title"' in part
    assert part.index("Why it ") < part.index("Clarity") < part.index("bold")


def test_ties_and_single_teams_are_told_as_such(signed_in: Client, db: None, tmp_path: Path) -> None:
    tied = store_rounds(
        tmp_path, {("a", 1): (70.0, {"Depth": 1.0}, "x"), ("b", 1): (70.0, {"Depth": 1.0}, "y")}
    )
    words = said(why(signed_in))
    assert "Team A and Team B are tied at 70.00." in words and "Ahead in" not in words
    assert words.count("★ Best of this metric") == 2
    tied.delete()
    (tmp_path / "one").mkdir()
    store_rounds(tmp_path / "one", {("a", 1): (70.0, {}, "x")})
    words = said(why(signed_in))
    assert "Team A : 70.00 in round 1. No other team has a score." in words and "Clarity" not in words


def test_very_many_teams_and_metrics_stay_bounded(signed_in: Client, tmp_path: Path) -> None:
    with SimulatedDatabase(tmp_path / "mixseek.db"):
        pass
    metrics = [
        {"metric_name": f"Metric {at}", "score": at, "evaluator_comment": "long " * 2000} for at in range(30)
    ]
    with duckdb.connect(str(tmp_path / "mixseek.db")) as connection:
        connection.execute(
            "INSERT INTO leader_board (execution_id, team_id, team_name, round_number, submission_content,"
            " score, score_details, created_at, updated_at)"
            " SELECT 'run', 'team-' || team, 'Team ' || team, 1, repeat('word ', 100000), 100 - team / 10.0,"
            " ?, TIMESTAMP '2026-01-01', TIMESTAMP '2026-01-01' FROM range(60) t(team)",
            [json.dumps({"overall_score": 1, "metrics": metrics})],
        )
    Workspace.objects.create(slug="mine", name="Mine", path=str(tmp_path), created_at=NOW)
    few = why(signed_in)
    assert (
        few.count("<tr>") == 11
        and "Show 40 more teams" in few
        and "18 more metrics are in the downloads." in few
    )
    assert "Metric 11" in few and "Metric 12" not in few and len(few) < 80_000
    page = signed_in.get("/workspaces/mine/runs/run/?metrics=all&page=1").content.decode()
    assert page.count('class="number heat-') == 50 * 12 and len(page) < 700_000
    assert "Show 40 more teams" not in page
    second = why(signed_in, "?page=2")
    assert second.count("<tr>") == 11 and "Team 50" in second and "1. Team 0" in said(second)
    assert signed_in.get("/workspaces/mine/runs/run/?metrics=some").status_code == 400


def test_rounds_are_read_with_no_more_of_their_texts_than_asked_for(tmp_path: Path, three: Workspace) -> None:
    store = AggregationStore(tmp_path / "mixseek.db")
    found = store.across.scored_rounds("run", [("b", 1), ("a", 2), ("nobody", 1), ("c", 9)], characters=11)
    assert set(found) == {("a", 2), ("b", 1)}
    second = found["b", 1]
    assert (second.submission, second.length, second.submission_format) == ("second best", 10_012, "md")
    assert [(metric.name, metric.score) for metric in second.metrics] == [("Clarity", 80.5), ("Depth", 82.0)]
    assert store.across.scored_rounds("run", []) == store.across.scored_rounds("other", [("a", 2)]) == {}


def test_a_database_without_details_has_no_metrics_to_show(
    signed_in: Client, three: Workspace, tmp_path: Path
) -> None:
    with duckdb.connect(str(tmp_path / "mixseek.db")) as connection:
        for (index,) in connection.execute(
            "SELECT index_name FROM duckdb_indexes() WHERE table_name = 'leader_board'"
        ).fetchall():
            connection.execute(f"DROP INDEX {index}")
        connection.execute("ALTER TABLE leader_board DROP COLUMN score_details")
        connection.execute("ALTER TABLE leader_board DROP COLUMN submission_content")
    words = said(why(signed_in))
    assert "Team A : 90.00 in round 2" in words and "Not stored." in words and "Depth" not in words
