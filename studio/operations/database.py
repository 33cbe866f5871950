"""Migrating the database, after a backup of what stood there. Used by `manage.py studio` and `restore`."""

import fcntl
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

from studio.operations.backup import TOO_OLD, BackupError, back_up, between_releases

_KEPT = 10  # automatic backups; older ones go


_START = 7_238_460_915
"""The number of the advisory lock that a start holds in PostgreSQL."""


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Wait for other servers' starts: two must not migrate one database, or load the demo, at once.

    The lock goes with its connection or file, so a start that is killed holds up none.
    """
    if connection.vendor == "postgresql":
        # A connection of its own: migrations may close the other.
        with closing(connection.copy()) as own, own.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", [_START])
            yield
    else:
        with open(settings.STUDIO_DATA / "start.lock", "a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def is_empty() -> bool:
    """True before the first migration."""
    return not MigrationRecorder(connection).applied_migrations()


def bring_up_to_date() -> Path | None:
    """Migrate where needed; returns the backup that was made of what stood there before, if anything did."""
    executor = MigrationExecutor(connection)
    if between_releases(executor.loader.applied_migrations):
        raise BackupError(f"This database was made by a version from before the first release: {TOO_OLD}")
    executor.check_replacements()
    if not executor.migration_plan(executor.loader.graph.leaf_nodes()):
        return None
    kept = None if is_empty() else keep_copy("migrate")
    call_command("migrate", interactive=False, verbosity=0)
    return kept


def keep_copy(reason: str) -> Path:
    """Back up into the data folder before something changes the whole database."""
    folder = settings.STUDIO_DATA / "backups"
    folder.mkdir(mode=0o700, exist_ok=True)
    path: Path = folder / f"{datetime.now():%Y-%m-%d-%H%M%S-%f}-before-{reason}.zip"
    back_up(path)
    for old in sorted(folder.glob("*-before-*.zip"))[:-_KEPT]:
        old.unlink()
    return path
