import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from builder.leaderboard import read_progress
from tests.builder.leaderboard.conftest import Played


def test_progress_tells_what_each_team_of_an_execution_is_doing(played: Played) -> None:
    teams = read_progress(played.path / "logs", [played.ids[4]])
    assert [team.team_id for team in teams] == ["team-001", "team-002", "team-003", "team-004"]
    assert {team.status for team in teams} == {"running"}
    assert {team.total_rounds for team in teams} == {3}
    assert all(team.updated_at is not None and team.updated_at.tzinfo is not None for team in teams)


def test_a_failed_team_says_why(played: Played) -> None:
    failed = [
        team for team in read_progress(played.path / "logs", [played.ids[2]]) if team.status == "failed"
    ]
    assert [team.error for team in failed] == ["Team execution timed out after 600 seconds"]


def test_without_logs_there_is_no_progress(tmp_path: Path) -> None:
    assert read_progress(tmp_path / "logs") == []


@pytest.mark.parametrize("content", ["", "{", "[]", '{"execution_id": "e"}', '{"a": "\ud800"}'])
def test_a_file_that_is_being_rewritten_is_left_out(content: str, tmp_path: Path) -> None:
    (tmp_path / "e.t.progress.json").write_bytes(content.encode("utf-8", "surrogatepass"))
    assert read_progress(tmp_path) == []


def test_a_team_id_may_hold_dots(tmp_path: Path) -> None:
    document = {
        "execution_id": "e",
        "team_id": "a.b",
        "status": "running",
        "updated_at": "2026-01-01T00:00:00",
    }
    (tmp_path / "e.a.b.progress.json").write_text(json.dumps(document))
    (team,) = read_progress(tmp_path, ["e"])
    assert (team.team_id, team.team_name) == ("a.b", "a.b")
    assert team.updated_at == datetime(2026, 1, 1, tzinfo=UTC)
