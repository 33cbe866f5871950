"""One round of a team: what was sent, what came back, how it was judged; whatever the database holds."""

import html
import re
from pathlib import Path

import duckdb
import pytest
from django.test import Client
from django.urls import reverse

from studio.models import Workspace
from studio.workspaces.stores import store_of
from tests.studio import odd_workspace as odd
from tests.studio.clock import NOW


def address(execution: str, team: str, number: int, name: str = "run-round") -> str:
    return reverse(name, args=["odd", execution, team, number])


def page_of(client: Client, url: str, language: str = "en") -> str:
    answer = client.get(url, headers={"Accept-Language": language})
    assert answer.status_code == 200, url
    return answer.content.decode()


def test_a_round_shows_score_metrics_judgment_submission_and_prompt(demo: Path, signed_in: Client) -> None:
    store = store_of(Workspace.objects.get(slug="research"))
    run = next(each for each in store.executions() if each.state == "completed")
    first, second, *_ = store.rounds(run.execution_id, "team-001")
    url = reverse("run-round", args=["research", run.execution_id, "team-001", 2])
    page = page_of(signed_in, url)
    assert f"{second.score:.2f}" in page and f"{second.score - first.score:.2f}".lstrip("-") in page
    for metric in second.metrics:
        assert metric.name in page and metric.comment in page
    assert second.reasoning is not None and html.escape(second.reasoning) in page
    sent = store.delivered(run.execution_id, "team-001", 2).text
    shown = re.search(r'<code\s+id="prompt-text">(.*?)</code>', page, re.DOTALL)
    assert shown and html.unescape(shown[1]) == sent
    assert f"{len(sent)} characters" in page and "token" in page
    for number, rel in ((1, "prev"), (3, "next")):
        way = reverse("run-round", args=["research", run.execution_id, "team-001", number])
        assert re.search(rf'rel="{rel}"[^>]*href="{way}"', page)
    assert f'href="{url}context/"' in page
    assert signed_in.get(f"{url}prompt.txt").content.decode() == sent
    assert signed_in.get(f"{url}submission.md").content.decode() == second.submission


def test_what_a_model_wrote_is_shown_and_does_nothing(odd_one: Workspace, signed_in: Client) -> None:
    url = address(odd.EXECUTION, odd.TEAM, 1)
    formatted, raw = page_of(signed_in, url), page_of(signed_in, url + "?raw=on")
    for page in (formatted, raw):
        for active in ("<script>alert", "<img", "<i>理由", "<u>正確さ", 'href="javascript:'):
            assert active not in page
        assert "正確さ" in page and "−3.25" in page and "87 %" in page
    assert "<strong>内容</strong>" in formatted
    written = re.search(r'<code\s+id="submission-text">(.*?)</code>', raw, re.DOTALL)
    assert written and html.unescape(written[1].replace("&#13;", "\r")) == odd.SUBMISSION
    answer = signed_in.get(f"{url}submission.md")
    assert answer.content.decode() == odd.SUBMISSION
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert answer.headers["Content-Disposition"].startswith("attachment")
    assert signed_in.get(f"{url}prompt.txt").content.decode() == odd.PROMPT


def test_a_very_long_submission_is_cut_on_the_page_and_whole_in_the_file(
    odd_one: Workspace, signed_in: Client
) -> None:
    url = address(odd.EXECUTION, odd.TEAM, 2)
    page = page_of(signed_in, url + "?raw=on")
    assert len(page) < 400_000 and "the download contains the whole text" in page
    assert "max_rounds &lt;reached&gt;" in page and "Best of this team" not in page
    assert signed_in.get(f"{url}submission.md").content.decode() == odd.LONG


@pytest.mark.slow
def test_odd_rows_have_their_page(odd_one: Workspace, signed_in: Client) -> None:
    for team, number, said in (
        (odd.TEAM, 3, "The submission is blank."),
        ("plain", 1, "is not stored"),
        ("", 1, "−12.50"),
        ("wild", 1, "1e+30"),
        ("late", 2**31 - 1, "7.00"),
        ("wild", 2, "no metrics"),
        ("wild", 3, "no metrics"),
    ):
        url = address(odd.EXECUTION, team, number)
        assert said in page_of(signed_in, url), (team, number)
        assert 'lang="ja"' in page_of(signed_in, url, "ja")


def test_a_round_under_way_says_what_is_not_there_yet(odd_one: Workspace, signed_in: Client) -> None:
    page = page_of(signed_in, address(odd.GOING_ON, "plain", 2))
    assert "Nothing was submitted in this round, or not yet." in page
    assert "No judgment is stored" in page and "prompt-text" in page
    assert signed_in.get(address(odd.GOING_ON, "plain", 2, "run-round-submission")).status_code == 404


@pytest.mark.slow
def test_what_is_not_there_is_not_found(odd_one: Workspace, signed_in: Client) -> None:
    for place in (
        ("nothing", "plain", 1),
        (odd.EXECUTION, "nobody", 1),
        (odd.EXECUTION, "plain", 9),
        ("~", "..", 1),
    ):
        for name in ("run-round", "run-round-prompt", "run-round-submission", "run-round-context"):
            answer = signed_in.get(address(*place, name))
            assert answer.status_code == 404 and "Page not found" in answer.content.decode()


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        "DROP TABLE round_status",
        "DROP TABLE round_history",
        "DROP TABLE execution_summary",
        "ALTER TABLE leader_board DROP COLUMN submission_content",
        "ALTER TABLE leader_board DROP COLUMN score_details",
        "ALTER TABLE leader_board DROP COLUMN exit_reason",
        "DROP TABLE leader_board",
    ],
)
def test_a_database_that_lacks_something_still_has_pages(
    signed_in: Client, tmp_path: Path, change: str
) -> None:
    odd.make_odd_workspace(tmp_path)
    with duckdb.connect(str(tmp_path / "mixseek.db")) as connection:
        for index in connection.execute(
            "SELECT index_name FROM duckdb_indexes() WHERE index_name LIKE 'idx%'"
        ).fetchall():
            connection.execute(f'DROP INDEX "{index[0]}"')
        connection.execute(change)
    Workspace.objects.create(slug="odd", name="Odd", path=str(tmp_path), created_at=NOW)
    for url in (
        address(odd.EXECUTION, odd.TEAM, 1),
        address(odd.EXECUTION, odd.TEAM, 1, "run-round-context"),
        reverse("team-list", args=["odd"]),
        reverse("team-detail", args=["odd", odd.TEAM]),
        reverse("workspace-scores", args=["odd"]),
        reverse("run-compare", args=["odd", odd.EXECUTION, odd.OTHER_METRICS]),
        reverse("run-compare-pick", args=["odd"]),
        f"{reverse('context-from-run')}?workspace=odd",
    ):
        assert signed_in.get(url).status_code in (200, 404, 503), (change, url)
    shown = signed_in.get(address(odd.EXECUTION, odd.TEAM, 1)).status_code
    assert shown == 200
