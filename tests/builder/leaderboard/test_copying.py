"""A copy is either exactly the original or it is known not to be."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pytest

from builder.errors import DatabaseMissing, LeaderboardError
from builder.leaderboard import AggregationStore, copying
from builder.leaderboard.copying import Changed, Terms, Watch, copy, identify
from tests.builder.leaderboard.conftest import Played

Open = Callable[..., AggregationStore]


@pytest.fixture
def database(played: Played) -> Path:
    return played.path / "mixseek.db"


def test_a_copy_has_the_bytes_of_the_original_and_of_its_logs(database: Path, tmp_path: Path) -> None:
    for suffix in copying.SIDECARS:
        Path(f"{database}{suffix}").write_bytes(b"log " + suffix.encode())
    identity = copy(str(database), tmp_path / "part")
    assert (tmp_path / "part").read_bytes() == database.read_bytes()
    for suffix in copying.SIDECARS:
        assert Path(f"{tmp_path / 'part'}{suffix}").read_bytes() == b"log " + suffix.encode()
    assert identity == identify(str(database))
    assert None not in identity.logs


def test_a_copy_is_readable_by_its_owner_only(database: Path, tmp_path: Path) -> None:
    copy(str(database), tmp_path / "part")
    assert (tmp_path / "part").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("change", ["write", "log appears", "log grows", "log vanishes", "replace"])
def test_a_change_during_the_copy_is_noticed(
    change: str, database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Path(f"{database}.wal")
    if change in ("log grows", "log vanishes"):
        log.write_bytes(b"x")
    real = copying._transfer

    def interfering(reading: int, writing: int, size: int, watch: Watch) -> int:
        done = real(reading, writing, size, watch)
        if change == "write":
            with database.open("r+b") as file:
                file.seek(5000)
                file.write(b"!")
        elif change == "log vanishes":
            log.unlink(missing_ok=True)
        elif change == "replace":
            os.replace(database.with_name("other"), database)
        else:
            with log.open("ab") as file:
                file.write(b"!")
        monkeypatch.setattr(copying, "_transfer", real)
        return done

    database.with_name("other").write_bytes(database.read_bytes())
    monkeypatch.setattr(copying, "_transfer", interfering)
    with pytest.raises(Changed):
        copy(str(database), tmp_path / "part")


def test_a_file_written_this_very_moment_is_waited_for(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    written = 1_700_000_000 * 10**9
    os.utime(database, ns=(written, written))
    for milliseconds in (2, 500, -3_600_000):
        now = written + milliseconds * 1_000_000
        monkeypatch.setattr(copying, "time", SimpleNamespace(time_ns=lambda now=now: now, sleep=waits.append))
        copy(str(database), tmp_path / f"part {milliseconds}")
    assert waits == [0.010]


@pytest.mark.parametrize("way", ["reflink", "copy_file_range", "memory"])
def test_every_way_of_copying_gives_the_same_bytes(
    way: str, database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> int:
        raise OSError(95, "not here")

    if way != "reflink":
        monkeypatch.setattr(copying.fcntl, "ioctl", refuse)
    if way == "memory":
        monkeypatch.setattr(copying.os, "copy_file_range", refuse)
    copy(str(database), tmp_path / "part")
    assert (tmp_path / "part").read_bytes() == database.read_bytes()


def test_what_is_not_a_regular_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "mixseek.db")
    with pytest.raises(LeaderboardError, match="is not a regular file"):
        copy(str(tmp_path / "mixseek.db"), tmp_path / "part")


def test_a_symlink_is_followed_only_where_that_is_wanted(database: Path, tmp_path: Path) -> None:
    link = tmp_path / "mixseek.db"
    link.symlink_to(database)
    copy(str(link), tmp_path / "followed")
    assert (tmp_path / "followed").read_bytes() == database.read_bytes()
    with pytest.raises(LeaderboardError, match="is not a regular file"):
        copy(str(link), tmp_path / "refused", Terms(follow_symlinks=False))


def test_a_missing_file_is_told_with_its_path(tmp_path: Path) -> None:
    with pytest.raises(DatabaseMissing, match="There is no database at") as caught:
        identify(str(tmp_path / "mixseek.db"))
    assert isinstance(caught.value, FileNotFoundError)
    assert caught.value.text("ja").startswith("データベースがありません")


def _locked_by_another_process(database: Path) -> bool:
    """Whether a separate process fails to get the lock that DuckDB takes for writing."""
    attempt = (
        "import fcntl, struct, sys; f = open(sys.argv[1], 'r+b')\n"
        "try: fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB)\n"
        "except OSError: sys.exit(3)"
    )
    return subprocess.run([sys.executable, "-c", attempt, str(database)], check=False).returncode == 3


def test_a_writer_in_this_very_process_keeps_its_lock(
    database: Path, tmp_path: Path, open_store: Open
) -> None:
    with duckdb.connect(str(database)) as writer:
        writer.execute("CREATE TABLE mine (a INTEGER)")
        assert _locked_by_another_process(database)
        for number in range(3):
            copy(str(database), tmp_path / f"part-{number}")
        assert _locked_by_another_process(database), "closing our descriptor dropped the writer's lock"
    held = [name for name in os.listdir("/proc/self/fd") if _leads_to(name, database)]
    assert len(held) <= 1


def _leads_to(name: str, path: Path) -> bool:
    try:
        return os.readlink(f"/proc/self/fd/{name}") == str(path)
    except OSError:
        return False


def test_no_descriptor_of_the_original_stays_open(database: Path, tmp_path: Path, open_store: Open) -> None:
    assert open_store(database).executions()
    assert not [name for name in os.listdir("/proc/self/fd") if _leads_to(name, database)]


@pytest.mark.parametrize("what", ["mixseek.db", "mixseek.db.wal"])
def test_a_link_out_of_the_allowed_folders_is_refused(
    what: str, played: Played, tmp_path: Path, open_store: Open
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    file = played.path / what
    (outside / what).write_bytes(file.read_bytes() if file.exists() else b"log")
    file.unlink(missing_ok=True)
    file.symlink_to(outside / what)
    with pytest.raises(LeaderboardError, match="is outside the allowed folders") as caught:
        open_store(played.path, roots=[played.path]).executions()
    assert str(outside / what) in str(caught.value)
    assert "許可されたフォルダーの外" in caught.value.text("ja")


@pytest.mark.slow
def test_a_link_within_the_allowed_folders_is_followed(
    played: Played, tmp_path: Path, open_store: Open
) -> None:
    database = played.path / "mixseek.db"
    (tmp_path / "volume").mkdir()
    database.rename(tmp_path / "volume" / "mixseek.db")
    database.symlink_to(tmp_path / "volume" / "mixseek.db")
    # The roots, too, may be named by a link.
    (tmp_path / "root").symlink_to(tmp_path)
    assert len(open_store(played.path, roots=[tmp_path / "root"]).executions()) == 5


@pytest.mark.slow
def test_a_copy_from_when_more_was_allowed_is_not_shown(
    played: Played, tmp_path: Path, open_store: Open
) -> None:
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / "mixseek.db").symlink_to(played.path / "mixseek.db")
    assert open_store(tmp_path / "link", roots=[tmp_path]).executions()
    with pytest.raises(LeaderboardError, match="outside the allowed folders"):
        open_store(tmp_path / "link", roots=[tmp_path / "link"]).executions()
    # Not even to somebody who does not wait for the answer.
    with pytest.raises(LeaderboardError):
        open_store(tmp_path / "link", roots=[tmp_path / "link"], patience=0.0).executions()
    # A folder whose name merely begins alike is another one.
    with pytest.raises(LeaderboardError, match="outside the allowed folders"):
        open_store(tmp_path / "link", roots=[Path(str(played.path)[:-1])]).executions()
