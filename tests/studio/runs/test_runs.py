"""Lists of runs: what the databases of workspaces say, or why it cannot be said."""

import csv
import io
import json
import re
import shutil
from datetime import timedelta
from pathlib import Path
from typing import get_args

import pytest
from django.test import Client
from django.utils import timezone

from builder.errors import CopyUnderWay
from builder.leaderboard import AggregationStore, ExecutionOrder
from builder.simulation import TASKS, Run, simulate
from studio.home.demo.workspaces import WORKSPACES
from studio.models import Workspace
from studio.results.attribution import attribute_workspace
from studio.runs import all_runs_page, views
from studio.runs.all_runs_page import read_all_runs
from studio.runs.reading import RunFilter
from studio.workspaces.stores import store_of
from tests.studio.clock import NOW
from tests.studio.markup import tight

HTMX = {"HX-Request": "true"}


def text(client: Client, url: str, **headers: str) -> str:
    answer = client.get(url, headers=headers)
    assert answer.status_code == 200, url
    return answer.content.decode()


def rows(page: str) -> int:
    return page.count('class="row-link')


def tasks_of(page: str) -> list[str]:
    """The workspaces of the rows, in their order."""
    return re.findall(r'data-title="Workspace">\s*<a href="/workspaces/([-\w]+)/runs/"', page)


def test_all_runs_are_one_list_with_state_winner_and_score(demo: Path, signed_in: Client) -> None:
    page = text(signed_in, "/runs/")
    for words in ("調査 · research", "Briefing", "Running", "Completed", "Partial failure", "took 3 min"):
        assert words in page
    assert "MixSeek stores the task when the run ends" in page
    total = sum(each.runs for each in WORKSPACES)
    assert f"{total} runs." in page and rows(page) == min(total, all_runs_page.RUNS_PER_PAGE)
    assert len(set(tasks_of(page))) > 1, "of several workspaces"
    best = max(store_of(each).executions(order="best")[0].best_score or 0 for each in Workspace.objects.all())
    by_score = text(signed_in, "/runs/?order=best")
    first = by_score.partition('class="row-link')[2]
    assert f">{best:.2f}<" in tight(first.partition("</tr>")[0]) and "/teams/" in first.partition("</tr>")[0]
    assert 'aria-sort="descending"' in by_score and "order=worst" in by_score
    # The small chart has the best score of each round, for the eye and in words.
    top = store_of(Workspace.objects.get(slug=tasks_of(by_score)[0])).across.best_by_round(
        re.findall(r"/runs/([-\w]+)/", first.partition("</tr>")[0])[:1]
    )
    ((_run, points),) = top.items()
    said = "Best score by round: " + ", ".join(f"{value:.2f}" for _number, value in points)
    assert by_score.index(said) < by_score.index("</tr>", by_score.index(said)) and said in first[:4000]
    # The navigation stands beside the list.
    assert 'href="/prompts/"' in page


def test_each_order_is_the_same_over_all_pages(
    demo: Path, signed_in: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(all_runs_page, "RUNS_PER_PAGE", 7)
    workspaces, now = list(Workspace.objects.all()), timezone.now()
    for order in get_args(ExecutionOrder):
        pages = [read_all_runs(workspaces, RunFilter(), None, order, page, now) for page in (1, 2, 99)]
        keys = [all_runs_page._KEYS[order](row.run) for page in pages[:2] for row in page.rows]
        assert keys == sorted(keys) and len({row.run.execution_id for row in pages[0].rows}) == 7
        assert 0 < len(pages[2].rows) <= 7 and pages[2].paging.next is None


def test_runs_are_narrowed_by_workspace_set_and_version(demo: Path, signed_in: Client) -> None:
    only = text(signed_in, "/runs/?workspace=briefing")
    assert set(tasks_of(only)) == {"briefing"} and 'value="briefing" selected' in tight(only)
    briefing = Workspace.objects.get(slug="briefing")
    attribute_workspace(briefing, timezone.now())
    made = briefing.results.filter(version__number=4)
    of_version = text(signed_in, "/runs/?made_with=briefing-writers@4")
    assert rows(of_version) == made.count() > 0
    assert 'value="briefing-writers@4" selected' in tight(of_version)
    assert rows(text(signed_in, "/runs/?made_with=briefing-writers")) > made.count()
    assert "No run matches" in text(signed_in, "/runs/?made_with=nothing@1")
    for odd in ("order=x", "made_with=a@b", "workspace=a/b"):
        assert signed_in.get(f"/runs/?{odd}").status_code == 400


def test_of_many_workspaces_those_written_to_last_are_read(
    demo: Path, signed_in: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(all_runs_page, "MOST_WORKSPACES", 1)
    Workspace.objects.create(slug="third", name="Third", path=str(tmp_path), created_at=NOW)
    page = text(signed_in, "/runs/")
    assert len(set(tasks_of(page))) == 1 and "are left out: choose one above." in page
    assert set(tasks_of(text(signed_in, "/runs/?workspace=briefing"))) == {"briefing"}


def test_search_finds_two_japanese_characters_and_says_where_nothing_matches(
    demo: Path, signed_in: Client
) -> None:
    page = text(signed_in, "/runs/?q=規程")
    assert "社内規程の検索" in page and 0 < rows(page) < 50
    one = text(signed_in, "/workspaces/research/runs/?q=規程")
    assert 0 < rows(one) < 16 and 'value="規程"' in one
    nowhere = text(signed_in, "/runs/?q=zzz")
    assert nowhere.count("No run matches") == 1
    none = text(signed_in, "/workspaces/research/runs/?q=zzz")
    assert "No run matches" in none and 'href="/workspaces/research/runs/"' in none
    part = text(signed_in, "/workspaces/research/runs/?q=規程", **HTMX | {"HX-Target": "runs"})
    assert "<html" not in part and rows(part) == rows(one)


def test_states_filter_the_list(demo: Path, signed_in: Client) -> None:
    page = text(signed_in, "/workspaces/research/runs/?state=partial_failure")
    assert rows(page) == 1 and 'value="partial_failure" selected' in page and "(−1)" in page
    assert signed_in.get("/workspaces/research/runs/?state=nonsense").status_code == 400


def test_a_long_list_comes_in_pages(demo: Path, signed_in: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "RUNS_PER_PAGE", 6)
    first, last = (text(signed_in, f"/workspaces/research/runs/?page={page}") for page in (1, 99))
    assert rows(first) == 6 and "1–6 of 16" in first and "16 runs." in first
    assert rows(last) == 4 and "13–16 of 16" in last and 'rel="prev"' in last and 'rel="next"' not in last


def test_the_list_can_be_taken_away_as_a_file(demo: Path, signed_in: Client) -> None:
    page = text(signed_in, "/workspaces/research/runs/?q=規程&page=1")
    assert 'href="?q=%E8%A6%8F%E7%A8%8B&amp;format=csv&amp;table=runs"' in page
    answer = signed_in.get("/workspaces/research/runs/?q=規程&format=csv")
    written = b"".join(answer.streaming_content).decode("utf-8-sig")  # type: ignore[attr-defined]
    listed = list(csv.DictReader(io.StringIO(written, newline="")))
    assert len(listed) == rows(page) and all("規程" in each["task"] for each in listed)
    assert 'filename="research-runs.csv"' in answer.headers["Content-Disposition"]
    everything = signed_in.get("/workspaces/research/runs/?format=json&table=runs")
    found = json.loads(b"".join(everything.streaming_content))  # type: ignore[attr-defined]
    assert len(found) == 16 and {each["state"] for each in found} == {
        "completed",
        "partial_failure",
        "running",
    }


def test_a_list_with_a_run_going_on_asks_again_by_itself(demo: Path, signed_in: Client) -> None:
    page = text(signed_in, "/workspaces/research/runs/")
    assert 'hx-trigger="every 5s, live"' in page
    assert "every 5s" not in text(signed_in, "/workspaces/briefing/runs/")
    asks = re.search(r'hx-get="(\?have=\w+)" hx-target="#runs"', page)
    assert asks
    same = signed_in.get(f"/workspaces/research/runs/{asks[1]}", headers=HTMX | {"HX-Target": "runs"})
    assert same.headers["HX-Reswap"] == "none" and rows(same.content.decode()) == 0
    assert 'hx-swap-oob="true"' in same.content.decode() and "Snapshot updated" in same.content.decode()
    other = signed_in.get("/workspaces/research/runs/?have=x", headers=HTMX | {"HX-Target": "runs"})
    assert rows(other.content.decode()) == 16 and "have=x" not in other.content.decode()


def test_a_run_that_has_no_row_yet_is_announced(signed_in: Client, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    progress = {
        "execution_id": "abcdef01-begun",
        "team_id": "t1",
        "status": "running",
        "current_round": 1,
        "total_rounds": 3,
        "updated_at": timezone.now().isoformat(),
    }
    (logs / "abcdef01-begun.t1.progress.json").write_text(json.dumps(progress))
    Workspace.objects.create(slug="mine", name="Mine", path=str(tmp_path), created_at=NOW)
    page = text(signed_in, "/workspaces/mine/runs/")
    assert "A run has started: abcdef01." in page
    watched = text(signed_in, "/workspaces/mine/runs/abcdef01-begun/")
    assert (
        "1 of 3" in watched
        and "No team has a score yet" in watched
        and 'hx-trigger="every 3s, live"' in watched
    )


def test_a_workspace_without_database_says_that_nothing_ran(signed_in: Client, tmp_path: Path) -> None:
    Workspace.objects.create(slug="mine", name="Mine", path=str(tmp_path), created_at=NOW)
    assert "No runs yet" in text(signed_in, "/runs/")
    assert "No runs yet" in text(signed_in, "/workspaces/mine/runs/")


def test_workspaces_taken_off_the_list_and_no_workspaces_at_all(signed_in: Client, tmp_path: Path) -> None:
    Workspace.objects.create(slug="mine", name="Mine", path=str(tmp_path), created_at=NOW, archived=True)
    page = text(signed_in, "/runs/")
    assert "No workspaces yet" in page and 'href="/workspaces/"' in page


@pytest.mark.parametrize(("language", "word"), [("en", "not a DuckDB"), ("ja", "DuckDB")])
def test_a_database_that_cannot_be_read_is_told_and_the_rest_is_shown(
    demo: Path, signed_in: Client, tmp_path: Path, language: str, word: str
) -> None:
    (tmp_path / "mixseek.db").write_bytes(b"this is no database" * 1000)
    Workspace.objects.create(slug="mine", name="Mine", path=str(tmp_path), created_at=NOW)
    page = text(signed_in, "/runs/", **{"Accept-Language": language})
    assert word in page and 'role="alert"' in page and "調査 · research" in page
    assert word in text(signed_in, "/workspaces/mine/runs/", **{"Accept-Language": language})


def test_states_and_times_follow_the_readers_language(demo: Path, signed_in: Client) -> None:
    page = text(signed_in, "/runs/", **{"Accept-Language": "ja"})
    assert "実行中" in page and "一部失敗" in page and "日前" in page


@pytest.mark.slow
def test_tasks_are_text_and_nothing_else(signed_in: Client, tmp_path: Path) -> None:
    run = Run("<script>alert('x')</script>" + TASKS["en"][0], timezone.now() - timedelta(days=1), rounds=1)
    simulate(tmp_path, [run])
    Workspace.objects.create(slug="mine", name="<b>Mine", path=str(tmp_path), created_at=NOW)
    page = text(signed_in, "/workspaces/mine/runs/")
    assert "<script>alert" not in page and "<b>Mine" not in page and "&lt;script&gt;" in page


def test_a_page_costs_the_same_few_questions_however_many_runs_there_are(
    demo: Path, signed_in: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    from builder.leaderboard.reader import Reader

    asked: list[str] = []
    real = Reader.rows
    monkeypatch.setattr(
        Reader, "rows", lambda self, sql, *rest, **more: asked.append(sql) or real(self, sql, *rest, **more)
    )
    for limit in (2, 12):
        monkeypatch.setattr(views, "RUNS_PER_PAGE", limit)
        asked.clear()
        text(signed_in, "/workspaces/research/runs/")
        assert len(asked) <= 8, asked


@pytest.mark.slow
def test_a_database_that_vanishes_leaves_the_page_standing(
    demo: Path, signed_in: Client, tmp_path: Path
) -> None:
    copy = tmp_path / "w"
    shutil.copytree(Workspace.objects.get(slug="briefing").path, copy)
    Workspace.objects.create(slug="mine", name="Mine", path=str(copy), created_at=NOW)
    assert rows(text(signed_in, "/workspaces/mine/runs/")) == 14
    (copy / "mixseek.db").unlink()
    assert "No runs yet" in text(signed_in, "/workspaces/mine/runs/")


def test_a_first_copy_shows_its_progress_and_the_page_comes_by_itself(
    demo: Path, signed_in: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*arguments: object, **options: object) -> object:
        raise CopyUnderWay("db-first-copy", done=250, total=1000, done_mb=0, total_mb=0)

    for method in ("count_executions", "execution", "rounds"):
        monkeypatch.setattr(AggregationStore, method, busy)
    listed = text(signed_in, "/workspaces/research/runs/")
    assert 'value="25"' in listed and "every 2s, live" in listed
    assert "every 2s, live" in text(signed_in, "/runs/")
    for url in ("/workspaces/research/runs/x/", "/workspaces/research/runs/x/teams/y/"):
        answer = signed_in.get(url)
        page = answer.content.decode()
        assert answer.status_code == 202 and 'value="25"' in page and f'hx-get="{url}"' in page
    part = signed_in.get("/workspaces/research/runs/x/", headers=HTMX | {"HX-Target": "live"})
    assert part.status_code == 503 and "<html" not in part.content.decode()
