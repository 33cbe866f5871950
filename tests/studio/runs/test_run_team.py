"""A team in one run: rounds, metrics, submissions shown safely, judgments."""

import html
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from builder.leaderboard.writer import RoundKey, SimulatedDatabase
from studio.models import Workspace
from studio.runs.round_page import SHOWN_CHARACTERS
from studio.workspaces.stores import store_of
from tests.studio import odd_workspace as odd
from tests.studio.clock import NOW
from tests.studio.markup import tight


@pytest.fixture(scope="module")
def odd_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return odd.make_odd_workspace(tmp_path_factory.mktemp("odd"))


@pytest.fixture
def odd_url(db: None, odd_folder: Path) -> str:
    Workspace.objects.create(slug="odd", name="<Odd>", path=str(odd_folder), created_at=NOW)
    return reverse("run-team", args=["odd", odd.EXECUTION, odd.TEAM])


def text(client: Client, url: str, **headers: str) -> str:
    answer = client.get(url, headers=headers)
    assert answer.status_code == 200, url
    return answer.content.decode()


def test_each_round_shows_score_metrics_judgment_and_submission(demo: Path, signed_in: Client) -> None:
    store = store_of(Workspace.objects.get(slug="research"))
    run = store.executions(state="completed")[0]
    records = store.rounds(run.execution_id, "team-002")
    url = reverse("run-team", args=["research", run.execution_id, "team-002"])
    page = text(signed_in, url)
    for record in records:
        assert f"Round {record.round_number}</h3>" in tight(page) and f"{record.score:.2f}" in page
        assert (
            reverse("run-round", args=["research", run.execution_id, "team-002", record.round_number]) in page
        )
        assert record.reasoning is not None and html.escape(record.reasoning) in page
        for metric in record.metrics:
            assert metric.name in page and html.escape(metric.comment) in page
    assert page.count("Final submission") == 1 and page.count("★ Best") == 1
    assert '<div class="markdown">' in page and "confidence" in page
    # The line of the score and one for each metric.
    assert page.count('class="series look-') == 4
    japanese = text(signed_in, url, **{"Accept-Language": "ja"})
    assert "ラウンド1" in japanese and "確信度" in japanese


@pytest.mark.slow
def test_what_a_model_wrote_does_nothing(odd_url: str, signed_in: Client) -> None:
    page = text(signed_in, odd_url)
    for bad in ("<script>alert", "<img", 'href="javascript:', "<i>理由", "<u>"):
        assert bad not in page
    assert 'href="http://example.com/p.png" rel="noopener noreferrer nofollow">picture</a>' in page
    raw = text(signed_in, odd_url + "?raw=1")
    assert html.escape(odd.SUBMISSION).replace("\r", "&#13;") in raw and '<div class="markdown">' not in raw


@pytest.mark.slow
def test_a_very_long_submission_is_cut_and_one_link_shows_all_of_it(odd_url: str, signed_in: Client) -> None:
    page = text(signed_in, odd_url)
    assert odd.LONG[:SHOWN_CHARACTERS] in page and odd.LONG not in page
    assert 'href="?whole=2#round-2"' in page
    whole = text(signed_in, odd_url + "?whole=2")
    assert odd.LONG in whole and "whole=2#" not in whole


@pytest.mark.slow
def test_rounds_come_in_pages_and_as_files(signed_in: Client, tmp_path: Path) -> None:
    with SimulatedDatabase(tmp_path / "mixseek.db") as database, database.transaction():
        for number in range(1, 26):
            key = RoundKey("long", "t", "T", number)
            database.save_submission(key, f"text {number}", {"overall_score": float(number)}, NOW)
    Workspace.objects.create(slug="mine", name="Mine", path=str(tmp_path), created_at=NOW)
    url = reverse("run-team", args=["mine", "long", "t"])
    last = text(signed_in, url + "?page=3")
    assert "21–25 of 25" in last and "text 25" in last and "text 20" not in last
    answer = signed_in.get(url + "?format=json&table=rounds&page=3")
    written = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]
    assert written.count('"round_number"') == 25


@pytest.mark.parametrize("query", ["?page=x", "?page=0", "?whole=-1", "?raw=%00&page=9" + "9" * 20])
def test_what_no_link_asks_for_is_refused(odd_url: str, signed_in: Client, query: str) -> None:
    assert signed_in.get(odd_url + query).status_code == 400


def test_teams_of_every_kind_have_a_page(odd_url: str, signed_in: Client) -> None:
    for team in ("plain", "", "wild"):
        text(signed_in, reverse("run-team", args=["odd", odd.EXECUTION, team]))
    going_on = text(signed_in, reverse("run-team", args=["odd", odd.GOING_ON, "plain"]))
    assert "Not stored." in going_on
    assert signed_in.get(reverse("run-team", args=["odd", odd.EXECUTION, "nobody"])).status_code == 404
