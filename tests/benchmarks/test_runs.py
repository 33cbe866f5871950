"""What a page of runs costs at 10,000 and at 1,000,000 rows: the questions it asks, and how much of its time
is not the store's; beside it a plain query over MixSeek default tables. All sides in one run, ratios printed.

Run with: pytest tests/benchmarks/test_runs.py
"""

import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import duckdb
import pytest
from django.contrib.auth.models import User
from django.test import Client

from builder.leaderboard.reader import Reader
from studio.models import Workspace
from studio.workspaces.stores import close_all, store_of
from tests.benchmarks.test_leaderboard import LIST, NOW, RANKING, SEARCH, Filled, filled  # noqa: F401 (a fixture)

ROUNDS = 15


def took(question: Callable[[], object]) -> float:
    """The median of several tries, in milliseconds."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        question()
        times.append(1000 * (time.perf_counter() - start))
    return median(times)


@pytest.mark.django_db
def test_pages_of_runs(
    filled: Filled,  # noqa: F811
    tmp_path: Path,
    client: Client,
    settings: object,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings.STUDIO_DATA = tmp_path  # type: ignore[attr-defined]
    client.force_login(User.objects.create_user("yuki"))
    workspace = Workspace.objects.create(
        slug="large", name="Large", path=str(filled.path.parent), created_at=NOW
    )
    store, run = store_of(workspace), filled.ids[0]
    store.refresh(wait=None)

    def page(url: str) -> None:
        assert client.get(url).status_code == 200

    asked: list[str] = []
    real = Reader.rows
    pages: dict[str, tuple[str, Callable[[], object]]] = {
        "list": ("/workspaces/large/runs/", lambda: (store.count_executions(), store.executions(limit=30))),
        "search": (
            "/workspaces/large/runs/?q=競合",
            lambda: (store.count_executions("競合"), store.executions("競合", limit=30)),
        ),
        "last page": (
            "/workspaces/large/runs/?page=99999",
            lambda: (store.count_executions(), store.executions(limit=30, offset=filled.rows // 100 - 30)),
        ),
        "run": (
            f"/workspaces/large/runs/{run}/",
            lambda: (store.execution(run), store.scores(run), store.standings(run)),
        ),
        "team": (
            f"/workspaces/large/runs/{run}/teams/team-001/",
            lambda: (store.rounds(run, "team-001"), store.standings(run), store.execution(run)),
        ),
    }
    search = LIST.format(where=SEARCH)
    queries: dict[str, tuple[str, list[object]]] = {
        "list": (LIST.format(where=""), [30, 0]),
        "search": (search, ["競合", "競合", "競合", 30, 0]),
        "last page": (LIST.format(where=""), [30, filled.rows // 100 - 30]),
        "run": (RANKING, [run]),
        "team": ("SELECT * FROM leader_board WHERE execution_id = ? AND team_id = ?", [run, "team-001"]),
    }
    with capsys.disabled(), duckdb.connect(str(filled.path), read_only=True) as connection:
        print()
        for name, (url, data) in pages.items():
            page(url)
            asked.clear()
            with monkeypatch.context() as patch:
                patch.setattr(
                    Reader,
                    "rows",
                    lambda self, sql, *rest, **more: asked.append(sql) or real(self, sql, *rest, **more),
                )
                page(url)
            # However many rows there are, a page asks a handful of questions.
            assert len(asked) <= 12, asked
            bare, whole = took(data), took(lambda url=url: page(url))
            plain = took(lambda asks=queries[name]: connection.execute(*asks).fetchall())
            print(
                f"{filled.rows:>9,} rows, {name:9}: {len(asked):2} questions, data {bare:6.1f} ms,"
                f" page {whole:6.1f} ms ({whole / bare:.1f} ×), plain query {plain:6.1f} ms"
                f" ({whole / plain:.1f} ×)"
            )
    close_all()
