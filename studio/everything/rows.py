"""Rows as plain values for JSON, and back. People are named by their names, everything else by its key."""

import base64
from collections.abc import Collection, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import models

Row = dict[str, Any]


class BadRow(Exception):
    """A row that cannot be read; the text says what about it."""


def row_of(thing: models.Model, names: Mapping[int, str], without: Collection[str] = ()) -> Row:
    """The columns of a row; ``names`` are those of all people, by key."""
    row = {}
    for field in thing._meta.concrete_fields:
        if field.name not in without:
            value = getattr(thing, field.attname)
            row[field.name] = names.get(value) if field.related_model is User else _plain(value)
    return row


def _plain(value: Any) -> Any:
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, Decimal | UUID):
        return str(value)
    if isinstance(value, bytes | memoryview):
        return base64.b64encode(bytes(value)).decode()
    return value


def thing_of(table: type[models.Model], row: Any, people: Mapping[str, int]) -> models.Model:
    """The row as an object that is not stored yet; a column that the row lacks has its default.

    Raises ``BadRow``.
    """
    if not isinstance(row, dict):
        raise BadRow("a row is an object with a value for each column")
    fields = {field.name: field for field in table._meta.concrete_fields}
    if unknown := sorted(row.keys() - fields.keys()):
        raise BadRow(
            f"unknown column {unknown[0]!r}: update the studio, or read it with the one that wrote it"
        )
    values: dict[str, Any] = {}
    for name in fields.keys() & row.keys():
        field, value = fields[name], row[name]
        if field.related_model is User and value is not None:
            if not isinstance(value, str) or value not in people:
                raise BadRow(f"{name}: people.jsonl has nobody called {value!r}")
            values[field.attname] = people[value]
        else:
            values[field.attname] = _typed(field, value)
    thing = table(**values)
    _check(thing)
    return thing


def _typed(field: "models.Field[Any, Any]", value: Any) -> Any:
    if value is None:
        return None
    try:
        return (
            bytes(field.to_python(value)) if isinstance(field, models.BinaryField) else field.to_python(value)
        )
    except (ValidationError, ValueError, TypeError) as error:
        raise BadRow(f"{field.name}: {_said(error)}") from error


def _check(thing: models.Model) -> None:
    """As a form would; what is empty was stored so, and keys are the database's matter."""
    skipped = {
        field.name
        for field in thing._meta.concrete_fields
        if field.is_relation or getattr(thing, field.attname) in (None, "", [], {}, ())
    }
    try:
        thing.clean_fields(exclude=skipped)
    except ValidationError as error:
        raise BadRow(_said(error)) from error


def _said(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    if hasattr(error, "error_dict"):
        return "; ".join(f"{name}: {' '.join(said)}" for name, said in error.message_dict.items())
    return " ".join(error.messages)
