"""Backups: of one moment, checked before they replace anything, on either engine."""

import json
import threading
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.db import connection, connections

from studio.access.signin import SignInLink, issue_link_token
from studio.operations.backup import BackupError, back_up, check, restore
from studio.operations.database import bring_up_to_date, is_empty, keep_copy

# Each copies or replaces the whole database, which a test's own transaction would hide or block.
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(settings, "STUDIO_DATA", tmp_path / "data")
    (tmp_path / "data").mkdir()
    yield tmp_path / "data"
    assert not list((tmp_path / "data").glob(".backup-*")), "scratch files were left behind"


def names() -> list[str]:
    return list(User.objects.order_by("username").values_list("username", flat=True))


def test_restore_brings_back_what_was_there_and_keeps_what_it_replaces(
    tmp_path: Path, data_folder: Path
) -> None:
    User.objects.create(username="akira")
    back_up(tmp_path / "one.zip")
    User.objects.create(username="berta")

    call_command("restore", str(tmp_path / "one.zip"))

    assert names() == ["akira"]
    (kept,) = (data_folder / "backups").iterdir()
    restore(kept)
    assert names() == ["akira", "berta"]


def test_sessions_and_links_do_not_travel(tmp_path: Path) -> None:
    token = issue_link_token()
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    Session.objects.create(session_key="a-session-key-to-be-found", session_data="x", expire_date=tomorrow)

    back_up(tmp_path / "one.zip")
    restore(tmp_path / "one.zip")

    assert not Session.objects.exists()
    assert not SignInLink.objects.exists()
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        content = archive.read("database")
    assert b"a-session-key-to-be-found" not in content
    assert token.encode() not in content


@pytest.mark.slow
def test_backup_while_others_write_is_of_one_moment(tmp_path: Path) -> None:
    stop = threading.Event()
    written = threading.Event()

    def write_pairs() -> None:
        number = 0
        while not stop.is_set():
            User.objects.bulk_create([User(username=f"{number:06}-{half}") for half in "ab"])
            number += 1
            written.set()
        connections.close_all()

    writer = threading.Thread(target=write_pairs)
    writer.start()
    try:
        assert written.wait(20)
        for number in range(5):
            back_up(tmp_path / f"{number}.zip")
    finally:
        stop.set()
        writer.join()

    for number in range(5):
        restore(tmp_path / f"{number}.zip")
        found = names()
        assert found
        assert [name[:6] for name in found if name.endswith("a")] == [
            name[:6] for name in found if name.endswith("b")
        ]


def test_a_connection_that_stays_open_sees_the_restored_rows(tmp_path: Path) -> None:
    User.objects.create(username="akira")
    back_up(tmp_path / "one.zip")
    User.objects.all().delete()
    seen: list[list[str]] = []
    ready, go = threading.Event(), threading.Event()

    def read_twice() -> None:
        seen.append(names())
        ready.set()
        go.wait(20)
        seen.append(names())
        connections.close_all()

    reader = threading.Thread(target=read_twice)
    reader.start()
    assert ready.wait(20)
    restore(tmp_path / "one.zip")
    go.set()
    reader.join()

    assert seen == [[], ["akira"]]


def test_an_existing_file_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "one.zip").write_text("precious")
    with pytest.raises(BackupError, match="exists already: name a new file"):
        back_up(tmp_path / "one.zip")
    assert (tmp_path / "one.zip").read_text() == "precious"


def test_backup_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    back_up(tmp_path / "one.zip")
    assert (tmp_path / "one.zip").stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "one.zip"]


def test_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="nowhere"):
        call_command("backup", str(tmp_path / "nowhere" / "one.zip"))


def _rewrite(path: Path, manifest: dict[str, object] | None = None, database: bytes | None = None) -> Path:
    """A copy of a backup with another manifest or another database in it."""
    with zipfile.ZipFile(path) as archive:
        before = json.loads(archive.read("manifest.json"))
        content = archive.read("database")
    changed = path.with_name("changed.zip")
    with zipfile.ZipFile(changed, "w") as archive:
        archive.writestr("manifest.json", json.dumps(before | (manifest or {})))
        archive.writestr("database", content if database is None else database)
    return changed


def test_damaged_content_is_refused_and_nothing_is_touched(tmp_path: Path, data_folder: Path) -> None:
    User.objects.create(username="akira")
    back_up(tmp_path / "one.zip")
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        content = bytearray(archive.read("database"))
    content[len(content) // 2] ^= 0xFF
    changed = _rewrite(tmp_path / "one.zip", database=bytes(content))
    User.objects.create(username="berta")

    with pytest.raises(CommandError, match="is damaged"):
        call_command("restore", str(changed))

    assert names() == ["akira", "berta"]
    assert not (data_folder / "backups").exists()


def test_cut_off_file_is_refused(tmp_path: Path) -> None:
    back_up(tmp_path / "one.zip")
    (tmp_path / "half.zip").write_bytes((tmp_path / "one.zip").read_bytes()[:-2000])
    with pytest.raises(BackupError, match="is damaged or not a backup"):
        check(tmp_path / "half.zip")


@pytest.mark.parametrize("content", [b"", b"PK", b"SQLite format 3\0" + bytes(4096)])
def test_file_that_is_no_backup_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "odd.zip").write_bytes(content)
    with pytest.raises(BackupError, match="not a backup of Prompt Studio"):
        check(tmp_path / "odd.zip")


def test_zip_of_something_else_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "odd.zip", "w") as archive:
        archive.writestr("letter.txt", "hello")
    with pytest.raises(BackupError, match="not a backup of Prompt Studio"):
        check(tmp_path / "odd.zip")


def test_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"There is no file .*none\.zip\."):
        call_command("restore", str(tmp_path / "none.zip"))


def test_backup_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    manifest = back_up(tmp_path / "one.zip")
    migrations = [*manifest.migrations, ("studio", "9999_from_the_future")]
    changed = _rewrite(tmp_path / "one.zip", {"version": "9.0", "migrations": migrations})
    with pytest.raises(BackupError, match=r"made by a newer version \(9\.0; this is .*\): update the studio"):
        check(changed)


def test_older_backup_of_the_other_engine_is_refused(tmp_path: Path) -> None:
    manifest = back_up(tmp_path / "one.zip")
    other = "sqlite" if connection.vendor == "postgresql" else "postgresql"
    changed = {"engine": other, "migrations": manifest.migrations[:-1]}
    with pytest.raises(BackupError, match=f"to move it from {other}, restore it there with this version"):
        check(_rewrite(tmp_path / "one.zip", changed))


@pytest.mark.slow
def test_only_the_newest_automatic_copies_are_kept(data_folder: Path) -> None:
    made = [keep_copy("migrate") for _ in range(12)]
    assert sorted((data_folder / "backups").iterdir()) == made[2:]


def test_up_to_date_database_is_left_alone(data_folder: Path) -> None:
    assert not is_empty()
    assert bring_up_to_date() is None
    assert not (data_folder / "backups").exists()


@pytest.mark.slow
def test_older_database_is_backed_up_and_then_migrated(data_folder: Path) -> None:
    User.objects.create(username="akira")
    call_command("migrate", "sessions", "zero", verbosity=0)

    kept = bring_up_to_date()

    assert kept is not None and kept.parent == data_folder / "backups"
    assert ("sessions", "0001_initial") not in check(kept).migrations
    assert "django_session" in connection.introspection.table_names()
    assert names() == ["akira"]


@pytest.mark.slow
def test_restoring_an_older_backup_migrates_it(tmp_path: Path) -> None:
    User.objects.create(username="akira")
    call_command("migrate", "sessions", "zero", verbosity=0)
    back_up(tmp_path / "old.zip")
    bring_up_to_date()

    call_command("restore", str(tmp_path / "old.zip"))

    assert names() == ["akira"]
    assert not Session.objects.exists()


def test_copy_is_in_the_engines_own_format(tmp_path: Path) -> None:
    back_up(tmp_path / "one.zip")
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        content = archive.read("database")
    assert content.startswith(b"PGDMP" if connection.vendor == "postgresql" else b"SQLite format 3\0")
