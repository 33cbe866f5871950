"""Immutable rows: models that refuse changes, and triggers that make the database refuse them too."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from django.apps import apps
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper


class ImmutableRow(TypeError):
    """Code tried to change or delete a row that is written once: a mistake of ours, not of a person."""


class ImmutableQuerySet(models.QuerySet[Any]):
    """Reads and inserts; whatever would change stored rows is refused."""

    def _refuse(self, *args: object, **kwargs: object) -> NoReturn:
        raise ImmutableRow(f"{self.model.__name__} rows are never changed or deleted; write a new one.")

    update = _refuse
    delete = _refuse
    bulk_update = _refuse
    update_or_create = _refuse


class ImmutableModel(models.Model):
    """A row that can be inserted and read, and nothing else."""

    objects = models.Manager.from_queryset(ImmutableQuerySet)()

    deletable_when = ""
    """The condition, in SQL about `OLD`, under which the triggers let a row be deleted; never where empty."""

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Insert; a second save is refused."""
        if not self._state.adding:
            raise ImmutableRow(f"{type(self).__name__} rows are never changed; write a new one.")
        super().save(*args, **{**kwargs, "force_insert": True})

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refused, always."""
        raise ImmutableRow(f"{type(self).__name__} rows are never deleted.")


def install_triggers(connection: BaseDatabaseWrapper) -> None:
    """Make the database itself refuse changes to immutable rows, on SQLite and PostgreSQL alike.

    Runs after every migrate: SQLite rebuilds a table for many an ``AlterField`` and drops its
    triggers on the way without a word.
    """
    _run(connection, creating=True)


@contextmanager
def triggers_lifted(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """The one way round: ``manage.py flush`` (hence live-server tests) and data migrations that must."""
    _run(connection, creating=False)
    try:
        yield
    finally:
        install_triggers(connection)


def _run(connection: BaseDatabaseWrapper, *, creating: bool) -> None:
    statements = {"sqlite": _sqlite, "postgresql": _postgresql}[connection.vendor]
    with connection.cursor() as cursor:
        present = set(connection.introspection.table_names(cursor))
        for model in apps.get_app_config("studio").get_models():
            # A migration backwards may have taken the table away.
            if issubclass(model, ImmutableModel) and model._meta.db_table in present:
                for statement in statements(model, creating):
                    cursor.execute(statement)


def _sqlite(model: type[ImmutableModel], creating: bool) -> Iterator[str]:
    table = model._meta.db_table
    for event in ("UPDATE", "DELETE", "INSERT"):
        yield f'DROP TRIGGER IF EXISTS "{table}_{event.lower()}"'
    if creating:
        refuse = f"BEGIN SELECT RAISE(ABORT, '{table}: rows are immutable'); END"
        yield f'CREATE TRIGGER "{table}_update" BEFORE UPDATE ON "{table}" {refuse}'
        unless = f"WHEN NOT ({model.deletable_when})" if model.deletable_when else ""
        yield f'CREATE TRIGGER "{table}_delete" BEFORE DELETE ON "{table}" {unless} {refuse}'
        # INSERT OR REPLACE removes the old row without asking the delete trigger.
        same = " OR ".join(
            "(" + " AND ".join(f'"{column}" = NEW."{column}"' for column in key) + ")" for key in _keys(model)
        )
        taken = f'WHEN EXISTS (SELECT 1 FROM "{table}" WHERE {same})'
        yield f'CREATE TRIGGER "{table}_insert" BEFORE INSERT ON "{table}" {taken} {refuse}'


def _postgresql(model: type[ImmutableModel], creating: bool) -> Iterator[str]:
    table = model._meta.db_table
    yield f'DROP TRIGGER IF EXISTS "{table}_change" ON "{table}"'
    yield f'DROP TRIGGER IF EXISTS "{table}_truncate" ON "{table}"'
    if creating:
        # A trigger's own condition may not look into a table, so the function does.
        let = f"IF TG_OP = 'DELETE' THEN IF {model.deletable_when} THEN RETURN OLD; END IF; END IF; "
        name = f"{table}_refuse_change" if model.deletable_when else "studio_refuse_change"
        yield (
            f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ "
            f"BEGIN {let if model.deletable_when else ''}"
            "RAISE EXCEPTION '%: rows are immutable', TG_TABLE_NAME "
            "USING ERRCODE = 'integrity_constraint_violation'; END $$"
        )
        run = f"EXECUTE FUNCTION {name}()"
        yield f'CREATE TRIGGER "{table}_change" BEFORE UPDATE OR DELETE ON "{table}" FOR EACH ROW {run}'
        yield f'CREATE TRIGGER "{table}_truncate" BEFORE TRUNCATE ON "{table}" FOR EACH STATEMENT {run}'


def _keys(model: type[ImmutableModel]) -> Iterator[list[str]]:
    """The columns of the primary key and of each unique constraint."""
    columns = {field.name: str(field.column) for field in model._meta.concrete_fields}
    yield [columns[model._meta.pk.name]]
    for constraint in model._meta.total_unique_constraints:
        yield [columns[name] for name in constraint.fields]
