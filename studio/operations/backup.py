"""Backups: one file with the whole database and a manifest. Used by `backup`, `restore` and every migration.

A zip of `manifest.json` and the database as its engine copies it. Nobody's session travels in it.
"""

import hashlib
import os
import shutil
import tempfile
import zipfile
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from pydantic import BaseModel, ValidationError

from studio import __version__
from studio.operations import snapshots
from studio.operations.across_engines import put_rows
from studio.operations.snapshots import Engine, SnapshotError

_MANIFEST = "manifest.json"
_DATABASE = "database"
_MANIFEST_LIMIT = 1024 * 1024
TOO_OLD = "open it once with the last version before 0.1.0, then with this one."


class BackupError(Exception):
    """A backup cannot be made or used; the text says why and what to do."""


class Manifest(BaseModel):
    """What a backup says about itself."""

    format: Literal["prompt-studio-backup-1"] = "prompt-studio-backup-1"
    version: str
    engine: Engine
    made_at: datetime
    sha256: str
    migrations: list[tuple[str, str]]


def back_up(path: Path) -> Manifest:
    """Write a backup to a new file. The studio may run meanwhile: the copy is of one moment."""
    if path.exists():
        raise BackupError(f"{path} exists already: name a new file.")
    try:
        with _scratch() as folder, _new_file(path) as aside:
            copy = folder / _DATABASE
            migrations = snapshots.take(connection, copy)
            manifest = Manifest(
                version=__version__,
                engine=snapshots.engine(connection),
                made_at=datetime.now(UTC),
                sha256=_sha256(copy),
                migrations=migrations,
            )
            with zipfile.ZipFile(aside, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
                archive.writestr(_MANIFEST, manifest.model_dump_json(indent=1))
                archive.write(copy, _DATABASE)
    except SnapshotError as error:
        raise BackupError(str(error)) from error
    except OSError as error:
        raise BackupError(f"{error.filename or path} cannot be written ({error.strerror}).") from error
    return manifest


def restore(path: Path) -> Manifest:
    """Put a backup in the database's place, in one step, after every check has passed."""
    with _checked(path) as (manifest, copy):
        try:
            if manifest.engine == snapshots.engine(connection):
                snapshots.put_back(connection, copy)
            else:
                put_rows(connection, manifest.engine, copy)
        except SnapshotError as error:
            raise BackupError(f"{error} The database is as it was.") from error
    return manifest


def check(path: Path) -> Manifest:
    """Every check that restoring makes, without restoring."""
    with _checked(path) as (manifest, _):
        return manifest


def between_releases(applied: Collection[tuple[str, str]]) -> bool:
    """Whether some, but not all, migrations that a later one replaces were applied: nothing leads on."""
    return any(
        0 < sum(name in applied for name in migration.replaces) < len(migration.replaces)
        for migration in MigrationLoader(None).disk_migrations.values()
    )


def _ours(migrations: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    return ((app, name) for app, name in migrations if app not in ("account", "socialaccount"))


@contextmanager
def _checked(path: Path) -> Iterator[tuple[Manifest, Path]]:
    with _scratch() as folder:
        copy = folder / _DATABASE
        manifest = _unpack(path, copy)
        if _sha256(copy) != manifest.sha256:
            raise BackupError(f"{path} is damaged (its checksum differs): use another backup.")
        on_disk = MigrationLoader(None).disk_migrations
        replaced = {name for migration in on_disk.values() for name in migration.replaces}
        # django-allauth's tables are there where a provider is configured; without one they are left alone.
        applied = set(_ours(manifest.migrations))
        if applied - set(on_disk) - replaced:
            raise BackupError(
                f"{path} was made by a newer version ({manifest.version}; this is {__version__}): "
                "update the studio."
            )
        if manifest.engine != snapshots.engine(connection) and set(_ours(on_disk)) - applied:
            raise BackupError(
                f"{path} was made by an older version ({manifest.version}; this is {__version__}): "
                f"to move it from {manifest.engine}, restore it there with this version, and back up again."
            )
        if between_releases(manifest.migrations):
            raise BackupError(f"{path} was made by a version from before the first release: {TOO_OLD}")
        try:
            snapshots.verify(manifest.engine, copy, manifest.migrations)
        except SnapshotError as error:
            raise BackupError(f"{path} is damaged ({error}): use another backup.") from error
        yield manifest, copy


def _unpack(path: Path, copy: Path) -> Manifest:
    try:
        with zipfile.ZipFile(path) as archive:
            if archive.getinfo(_MANIFEST).file_size > _MANIFEST_LIMIT:
                raise BackupError(
                    f"{path} is not a backup of Prompt Studio: name a file that «backup» wrote."
                )
            manifest = Manifest.model_validate_json(archive.read(_MANIFEST))
            with archive.open(_DATABASE) as source, copy.open("wb") as target:
                shutil.copyfileobj(source, target, 1024 * 1024)
    except FileNotFoundError as error:
        raise BackupError(f"There is no file {path}.") from error
    except (KeyError, ValidationError) as error:
        raise BackupError(
            f"{path} is not a backup of Prompt Studio: name a file that «backup» wrote."
        ) from error
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise BackupError(f"{path} is damaged or not a backup of Prompt Studio: use another one.") from error
    except OSError as error:
        raise BackupError(f"{path} cannot be read ({error.strerror}).") from error
    return manifest


@contextmanager
def _scratch() -> Iterator[Path]:
    """A private folder on the data's own disk, which has room for the database."""
    settings.STUDIO_DATA.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=settings.STUDIO_DATA, prefix=".backup-") as folder:
        yield Path(folder)


@contextmanager
def _new_file(path: Path) -> Iterator[Path]:
    """A file beside `path` that takes its name when all went well, and vanishes when not."""
    handle, name = tempfile.mkstemp(dir=path.absolute().parent, prefix=f".{path.name}.")
    os.close(handle)
    aside = Path(name)
    try:
        yield aside
        with aside.open("rb") as file:
            os.fsync(file.fileno())
        os.link(aside, path)  # unlike a rename, never over a file that came meanwhile
    finally:
        aside.unlink(missing_ok=True)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
