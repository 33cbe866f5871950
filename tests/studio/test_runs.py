"""Runs: what the database of a workspace says, or why it cannot be said."""

from pathlib import Path

import pytest
from django.test import Client

from studio.models import Workspace
from tests.studio.clock import NOW


def test_runs_are_listed_by_workspace_with_state_and_score(demo: Path, signed_in: Client) -> None:
    page = signed_in.get("/runs/").content.decode()
    for text in (
        "調査 · research",
        "Briefing",
        "Running",
        "Completed",
        "Partial failure",
        "社内規程の検索",
    ):
        assert text in page
    assert "MixSeek stores the task when the run is over" in page


def test_a_workspace_shows_its_own_runs(demo: Path, signed_in: Client) -> None:
    page = signed_in.get("/workspaces/briefing/").content.decode()
    assert "Completed" in page and "社内規程の検索" not in page


def test_a_workspace_without_database_says_that_nothing_ran(signed_in: Client, tmp_path: Path) -> None:
    Workspace.objects.create(slug="mine", name="Mine", path=str(tmp_path), created_at=NOW)
    assert "No run has been stored here yet" in signed_in.get("/runs/").content.decode()


@pytest.mark.parametrize(("language", "word"), [("en", "not a DuckDB"), ("ja", "DuckDB")])
def test_a_database_that_cannot_be_read_is_told_and_the_rest_is_shown(
    demo: Path, signed_in: Client, tmp_path: Path, language: str, word: str
) -> None:
    (tmp_path / "mixseek.db").write_bytes(b"this is no database" * 1000)
    Workspace.objects.create(slug="mine", name="Mine", path=str(tmp_path), created_at=NOW)
    answer = signed_in.get("/runs/", headers={"Accept-Language": language})
    page = answer.content.decode()
    assert answer.status_code == 200
    assert word in page and 'role="alert"' in page and "調査 · research" in page


def test_states_and_times_follow_the_readers_language(demo: Path, signed_in: Client) -> None:
    page = signed_in.get("/runs/", headers={"Accept-Language": "ja"}).content.decode()
    assert "実行中" in page and "一部失敗" in page and "日前" in page
