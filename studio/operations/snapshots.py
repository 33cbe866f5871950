"""Snapshots: the whole database copied to a file at one moment, and put back, on SQLite and PostgreSQL.

Used by the backups; no other module knows how an engine does it.
"""

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Literal

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.recorder import MigrationRecorder

Engine = Literal["sqlite", "postgresql"]
Migrations = list[tuple[str, str]]

# Whoever finds a backup must not get a session or a way in with it.
_LEFT_OUT = ("django_session", "studio_session", "studio_signinlink")
_LIST_MIGRATIONS = "SELECT app, name FROM django_migrations ORDER BY id"
_TIMEOUT = 20.0  # seconds to wait for a lock, as in the settings


class SnapshotError(Exception):
    """The engine refused; the text says what it said."""


def engine(connection: BaseDatabaseWrapper) -> Engine:
    """Which engine this is."""
    return "postgresql" if connection.vendor == "postgresql" else "sqlite"


def take(connection: BaseDatabaseWrapper, target: Path) -> Migrations:
    """Copy the database to a new file while others go on writing; returns the migrations in the copy."""
    if engine(connection) == "postgresql":
        return _take_postgresql(connection, target)
    return _take_sqlite(connection, target)


def verify(kind: Engine, copy: Path, migrations: Migrations) -> None:
    """Raise SnapshotError unless the copy is whole and is at these migrations."""
    if kind == "postgresql":
        _tool(["pg_restore", "--list", str(copy)])
        return
    try:
        with closing(sqlite3.connect(f"{copy.absolute().as_uri()}?mode=ro", uri=True)) as database:
            answer = [row[0] for row in database.execute("PRAGMA integrity_check(1)")]
            orphans = database.execute("PRAGMA foreign_key_check").fetchone()
            applied = database.execute(_LIST_MIGRATIONS).fetchall()
    except sqlite3.DatabaseError as error:
        raise SnapshotError(str(error)) from error
    if answer != ["ok"]:
        raise SnapshotError(answer[0])
    if orphans:
        raise SnapshotError(f"table {orphans[0]} refers to rows of {orphans[2]} that are missing")
    if applied != migrations:
        raise SnapshotError("its list of migrations differs from the manifest's")


def put_back(connection: BaseDatabaseWrapper, copy: Path) -> None:
    """Replace the database's content by the copy's in one transaction: all of it or, if it fails, nothing."""
    if engine(connection) == "postgresql":
        _put_back_postgresql(connection, copy)
    else:
        _put_back_sqlite(connection, copy)


def dumped_rows(copy: Path) -> Path:
    """The rows of a PostgreSQL copy as text, in a file beside it; needs its program, but no server."""
    rows = copy.with_suffix(".rows")
    _tool(["pg_restore", "--data-only", f"--file={rows}", str(copy)])
    return rows


def _take_sqlite(connection: BaseDatabaseWrapper, target: Path) -> Migrations:
    name = Path(connection.settings_dict["NAME"])
    if not name.is_file():
        raise SnapshotError("There is no database yet: start the studio first.")
    try:
        with (
            closing(sqlite3.connect(name, timeout=_TIMEOUT)) as source,
            closing(sqlite3.connect(target, isolation_level=None)) as copy,
        ):
            source.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")
            tables = {row[0] for row in copy.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
            if "django_migrations" not in tables:
                raise SnapshotError("There is no database yet: start the studio first.")
            for table in tables.intersection(_LEFT_OUT):
                copy.execute(f'DELETE FROM "{table}"')
            copy.execute("VACUUM")  # else the deleted rows could still be read in the file's free pages
            return copy.execute(_LIST_MIGRATIONS).fetchall()
    except sqlite3.Error as error:
        raise SnapshotError(f"SQLite cannot copy the database: {error}.") from error


def _put_back_sqlite(connection: BaseDatabaseWrapper, copy: Path) -> None:
    name = Path(connection.settings_dict["NAME"])
    connection.close()
    # Copied into the file rather than renamed over it: a running studio keeps its connections and sees
    # either all of the old content or all of the new, also when this process is killed half-way.
    try:
        with (
            closing(sqlite3.connect(copy)) as source,
            closing(sqlite3.connect(name, timeout=_TIMEOUT)) as target,
        ):
            target.execute("PRAGMA journal_mode=WAL")
            target.execute("PRAGMA synchronous=FULL")
            source.backup(target)
    except sqlite3.Error as error:
        raise SnapshotError(f"SQLite cannot write the database: {error}.") from error


def _take_postgresql(connection: BaseDatabaseWrapper, target: Path) -> Migrations:
    # The migrations are read in the very snapshot that pg_dump copies.
    with connection.cursor() as cursor:
        cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try:
            cursor.execute("SELECT pg_export_snapshot()")
            snapshot = cursor.fetchone()[0]
            if MigrationRecorder.Migration._meta.db_table not in connection.introspection.table_names(cursor):
                raise SnapshotError("There is no database yet: start the studio first.")
            cursor.execute(_LIST_MIGRATIONS)
            migrations: Migrations = cursor.fetchall()
            options = ["--format=custom", f"--snapshot={snapshot}", "--no-owner", "--no-privileges"]
            options += [f"--exclude-table-data={table}" for table in _LEFT_OUT]
            _tool(["pg_dump", *options, f"--file={target}"], connection)
        finally:
            cursor.execute("ROLLBACK")
    return migrations


def _put_back_postgresql(connection: BaseDatabaseWrapper, copy: Path) -> None:
    script = _tool(
        ["pg_restore", "--clean", "--if-exists", "--no-owner", "--no-privileges", "--file=-", str(copy)]
    )
    with connection.cursor() as cursor:
        quote = connection.ops.quote_name
        tables = ", ".join(quote(table) for table in connection.introspection.table_names(cursor))
    connection.close()
    # Tables of later migrations are not in the copy; left standing they would stop the next migrate.
    drop = f"SET lock_timeout = '{int(_TIMEOUT)}s';\n" + (f"DROP TABLE {tables} CASCADE;\n" if tables else "")
    _tool(
        ["psql", "--no-psqlrc", "--quiet", "--single-transaction", "--set=ON_ERROR_STOP=1", "--file=-"],
        connection,
        drop.encode() + script,
    )


def _tool(
    command: Sequence[str], connection: BaseDatabaseWrapper | None = None, script: bytes = b""
) -> bytes:
    """Run one of PostgreSQL's programs; the password goes by the environment, where `ps` does not show it."""
    if shutil.which(command[0]) is None:
        raise SnapshotError(
            f"PostgreSQL's program {command[0]} is missing: install its client (on Debian postgresql-client)."
        )
    environment = dict(os.environ)
    if connection is not None:
        settings = connection.settings_dict
        options = settings["OPTIONS"]
        named = {
            "PGDATABASE": settings["NAME"],
            "PGUSER": settings["USER"],
            "PGPASSWORD": settings["PASSWORD"],
            "PGHOST": settings["HOST"],
            "PGPORT": settings["PORT"],
            **{
                f"PG{key.replace('_', '').upper()}": value
                for key, value in options.items()
                if key.startswith("ssl")
            },
        }
        environment |= {key: str(value) for key, value in named.items() if value}
    done = subprocess.run(command, env=environment, input=script, capture_output=True)
    if done.returncode != 0:
        lines = done.stderr.decode(errors="replace").strip().splitlines() or ["no message"]
        raise SnapshotError(f"{command[0]} failed: {lines[0]}.")
    return done.stdout
