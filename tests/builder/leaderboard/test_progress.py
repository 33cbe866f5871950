import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from builder.leaderboard import AggregationStore, Progress, progress
from builder.leaderboard.progress import ProgressFolder
from tests.builder.leaderboard.conftest import Played


def test_progress_tells_what_each_team_of_an_execution_is_doing(played: Played) -> None:
    teams = ProgressFolder(played.path / "logs").read([played.ids[4]])
    assert [team.team_id for team in teams] == ["team-001", "team-002", "team-003", "team-004"]
    assert {team.status for team in teams} == {"running"}
    assert {team.total_rounds for team in teams} == {3}
    assert all(team.updated_at is not None and team.updated_at.tzinfo is not None for team in teams)


def test_a_failed_team_says_why(played: Played) -> None:
    failed = [
        team for team in ProgressFolder(played.path / "logs").read([played.ids[2]]) if team.status == "failed"
    ]
    assert [team.error for team in failed] == ["Team execution timed out after 600 seconds"]


def test_without_logs_there_is_no_progress(tmp_path: Path) -> None:
    assert ProgressFolder(tmp_path / "logs").read() == []


@pytest.mark.parametrize("content", ["", "{", "[]", '{"execution_id": "e"}', '{"a": "\ud800"}'])
def test_a_file_that_is_being_rewritten_is_left_out(content: str, tmp_path: Path) -> None:
    (tmp_path / "e.t.progress.json").write_bytes(content.encode("utf-8", "surrogatepass"))
    assert ProgressFolder(tmp_path).read() == []


def test_a_team_id_may_hold_dots(tmp_path: Path) -> None:
    document = {
        "execution_id": "e",
        "team_id": "a.b",
        "status": "running",
        "updated_at": "2026-01-01T00:00:00",
    }
    (tmp_path / "e.a.b.progress.json").write_text(json.dumps(document))
    (team,) = ProgressFolder(tmp_path).read(["e"])
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


def _document(**more: object) -> bytes:
    told = {"execution_id": "e", "team_id": "t", "status": "running", "updated_at": "2026-01-01T00:00:00"}
    return json.dumps({**told, **more}).encode()


def test_what_is_no_plain_file_is_left_out_and_keeps_nobody_waiting(tmp_path: Path) -> None:
    logs, elsewhere = tmp_path / "logs", tmp_path / "elsewhere.json"
    logs.mkdir()
    elsewhere.write_bytes(_document(team_id="elsewhere"))
    # Opened like a file, a pipe would hold the reader until somebody writes to it.
    os.mkfifo(logs / "e.pipe.progress.json")
    (logs / "e.folder.progress.json").mkdir()
    (logs / "e.link.progress.json").symlink_to(elsewhere)
    (logs / "e.deep.progress.json").write_bytes(b'{"execution_id": ' + b"[" * 60_000)
    (logs / os.fsdecode(b"\xff.t.progress.json")).write_bytes(_document())
    (logs / "e.t.progress.json").write_bytes(_document())
    assert [team.team_id for team in ProgressFolder(logs).read()] == ["t"]
    assert ProgressFolder(logs).alive(datetime(2025, 1, 1, tzinfo=UTC)) == ["e"]


def test_what_no_page_could_show_is_put_right(tmp_path: Path) -> None:
    odd = {
        "team_name": "half \ud800",
        "status": "\udfff",
        "current_agent": "\ud800",
        "error_message": "\udc00",
    }
    (tmp_path / "e.t.progress.json").write_bytes(_document(**odd, updated_at="0001-01-01T00:00:00+14:00"))
    (team,) = ProgressFolder(tmp_path).read()
    assert (team.team_name, team.status, team.current_agent, team.error) == ("half ?", "?", "?", "?")
    assert team.updated_at is None, "a moment before the first one has no time in UTC"


def test_logs_that_lead_out_of_the_roots_are_not_read(tmp_path: Path) -> None:
    inside, outside = tmp_path / "root" / "workspace", tmp_path / "outside"
    inside.mkdir(parents=True)
    outside.mkdir()
    (outside / "e.t.progress.json").write_bytes(_document())
    (inside / "logs").symlink_to(outside)
    roots = (str(tmp_path / "root"),)
    assert ProgressFolder(inside / "logs", roots).read() == []
    assert ProgressFolder(inside / "logs", (*roots, str(outside))).read() != []
    store = AggregationStore(inside, roots=[tmp_path / "root"], cache_folder=tmp_path / "copies")
    assert store.progress() == []
