import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from builder.leaderboard import Progress, progress, read_progress
from builder.leaderboard.progress import ProgressFolder
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


def _report(logs: Path, execution: str, updated: datetime, written: datetime) -> Path:
    file = logs / f"{execution}.t.progress.json"
    file.write_text(
        json.dumps(
            {
                "execution_id": execution,
                "team_id": "t",
                "status": "running",
                "updated_at": updated.isoformat(),
            }
        )
    )
    os.utime(file, (written.timestamp(), written.timestamp()))
    return file


def test_only_recent_reports_of_unfinished_executions_are_signs_of_life(tmp_path: Path) -> None:
    now = datetime(2026, 5, 1, 12, tzinfo=UTC)
    since = now - timedelta(minutes=15)
    recently, long_ago = now - timedelta(minutes=1), now - timedelta(days=3)
    _report(tmp_path, "alive", recently, recently)
    _report(tmp_path, "finished", recently, recently)
    # Its folder was copied here: the file is new, what it says is not.
    _report(tmp_path, "copied", long_ago, now)
    _report(tmp_path, "killed", long_ago, long_ago)
    (tmp_path / "other.log").write_text("x")
    folder = ProgressFolder(tmp_path)
    for _ in range(2):
        assert folder.alive(since, frozenset({"finished"})) == ["alive"]
    assert folder.alive(since) == ["alive", "finished"]
    assert folder.alive(since + timedelta(hours=1)) == []


def test_files_of_runs_long_over_are_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = datetime(2026, 5, 1, 12, tzinfo=UTC)
    for number in range(50):
        _report(tmp_path, f"old-{number}", now - timedelta(days=9), now - timedelta(days=9))
    _report(tmp_path, "alive", now, now)
    opened: list[str] = []
    real = progress._read

    def noting(path: Path) -> Progress | None:
        opened.append(path.name)
        return real(path)

    monkeypatch.setattr(progress, "_read", noting)
    assert ProgressFolder(tmp_path).alive(now - timedelta(minutes=15)) == ["alive"]
    assert opened == ["alive.t.progress.json"]


def test_new_and_rewritten_and_removed_files_are_noticed(tmp_path: Path) -> None:
    now = datetime(2026, 5, 1, 12, tzinfo=UTC)
    since = now - timedelta(minutes=15)
    folder = ProgressFolder(tmp_path)
    assert folder.alive(since) == []
    first = _report(tmp_path, "first", now, now)
    # The folder's time stands still, as within one tick of a coarse clock.
    os.utime(tmp_path, (now.timestamp(), now.timestamp()))
    assert folder.alive(since) == ["first"]
    second = _report(tmp_path, "second", now, now)
    assert folder.alive(since) == ["first", "second"]
    second.unlink()
    assert folder.alive(since) == ["first"]
    content = first.read_text().replace(now.isoformat(), (now - timedelta(hours=1)).isoformat())
    first.write_text(content)
    assert folder.alive(since) == []
    (team,) = folder.read(["first"])
    assert team.updated_at == now - timedelta(hours=1)
