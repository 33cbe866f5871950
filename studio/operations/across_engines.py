"""A backup of one engine put into a database of the other: rows by table, in one transaction.

Used by the backups, to move from SQLite to PostgreSQL and back. Both sides are at the same migrations, so
tables and columns are the same; each value is read as its field's and written as the other engine takes it.
"""

import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import UUID

from django.apps import apps
from django.core.management import call_command
from django.core.management.color import no_style
from django.db import DatabaseError, models, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from studio.operations.snapshots import Engine, SnapshotError, dumped_rows
from studio.shell.immutable import triggers_lifted

Rows = Iterable[Sequence[Any]]
Table = tuple[str, list[str], Rows]

_AT_ONCE = 500
_OWN = ("django_migrations", "sqlite_sequence")
"""What each database has for itself."""
_COPY = re.compile(r"COPY (?:\w+\.)?\"?(\w+)\"? \((.*)\) FROM stdin;\n")
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def put_rows(connection: BaseDatabaseWrapper, kind: Engine, copy: Path) -> None:
    """Replace the content of the database by that of another engine's copy: all of it or nothing."""
    call_command("migrate", interactive=False, verbosity=0)
    known = {model._meta.db_table: model for model in apps.get_models(include_auto_created=True)}
    tables = _sqlite_tables(copy) if kind == "sqlite" else _dumped_tables(copy)
    try:
        # The inner transaction ends first where something fails, so that the triggers can be put back.
        with transaction.atomic(), triggers_lifted(connection), transaction.atomic():
            cursor = connection.cursor()
            for statement in connection.ops.sql_flush(no_style(), list(known), reset_sequences=True):
                cursor.execute(statement)
            for table, columns, rows in tables:
                if table in known:
                    _insert(connection, known[table], columns, rows)
                elif table not in _OWN and any(True for _ in rows):
                    raise SnapshotError(
                        f"The backup has rows in {table}, which this studio does not use: "
                        "start it with the settings of the one that was backed up."
                    )
            for statement in connection.ops.sequence_reset_sql(no_style(), list(known.values())):
                cursor.execute(statement)
    except (DatabaseError, sqlite3.Error) as error:
        raise SnapshotError(f"The rows cannot be written: {' '.join(str(error).split())}.") from error


def _insert(
    connection: BaseDatabaseWrapper, model: type[models.Model], columns: Sequence[str], rows: Rows
) -> None:
    fields = {field.column: field for field in model._meta.concrete_fields if field.column}
    wanted = [fields[column] for column in columns]
    readers = [_reader(field, connection) for field in wanted]
    quote = connection.ops.quote_name
    names = ", ".join(quote(column) for column in columns)
    marks = ", ".join(["%s"] * len(columns))
    statement = f"INSERT INTO {quote(model._meta.db_table)} ({names}) VALUES ({marks})"
    made = (
        [
            None if value is None else field.get_db_prep_save(read(value), connection)
            for field, read, value in zip(wanted, readers, row, strict=True)
        ]
        for row in rows
    )
    with connection.cursor() as cursor:
        while some := list(islice(made, _AT_ONCE)):
            cursor.executemany(statement, some)


def _reader(field: "models.Field[Any, Any]", connection: BaseDatabaseWrapper) -> Callable[[Any], Any]:
    """From what an engine stores, or PostgreSQL writes into a dump, to the field's own value."""
    while isinstance(field, models.ForeignKey):
        field = field.target_field
    readers: tuple[tuple[type[models.Field[Any, Any]], Callable[[Any], Any]], ...] = (
        (models.BooleanField, lambda value: value in (1, "t")),
        (models.JSONField, str),
        (models.BinaryField, lambda value: bytes.fromhex(value[2:]) if isinstance(value, str) else value),
        (models.DateTimeField, _moment),
        (models.DateField, date.fromisoformat),
        (models.DecimalField, lambda value: Decimal(str(value))),
        (models.UUIDField, UUID),
        (models.FloatField, float),
        (models.IntegerField, int),
        (models.CharField, str),
        (models.TextField, str),
    )
    found = next((read for kind, read in readers if isinstance(field, kind)), None)
    if found is None:
        raise SnapshotError(f"{field} is of a kind that cannot be moved to another engine yet.")
    # Fields that store something else than they show say how it is read.
    shown = getattr(field, "from_db_value", None)
    return found if shown is None else lambda value: shown(found(value), None, connection)


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _sqlite_tables(copy: Path) -> Iterator[Table]:
    with closing(sqlite3.connect(f"{copy.absolute().as_uri()}?mode=ro", uri=True)) as database:
        listed = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
        for (table,) in database.execute(listed).fetchall():
            rows = database.execute(f'SELECT * FROM "{table}"')
            yield table, [column[0] for column in rows.description], rows


def _dumped_tables(copy: Path) -> Iterator[Table]:
    """The rows of a dump, as PostgreSQL's own program writes them out: lines of values between tabs."""
    with dumped_rows(copy).open(encoding="utf-8", newline="\n") as lines:
        for line in lines:
            if head := _COPY.fullmatch(line):
                columns = [column.strip('"') for column in head[2].split(", ")]
                rows = iter(lines.readline, "\\.\n")
                yield head[1], columns, (_values(row) for row in rows)


def _values(line: str) -> list[str | None]:
    return [None if part == r"\N" else _ESCAPED.sub(_unescaped, part) for part in line[:-1].split("\t")]


def _unescaped(mark: re.Match[str]) -> str:
    return _ESCAPES.get(mark[1], mark[1])
