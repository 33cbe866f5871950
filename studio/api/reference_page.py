"""The reference of the API, read from the OpenAPI document."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.conf import settings
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from studio.api.document import FILE
from studio.api.problems import CODES

_METHODS = ("get", "post", "put", "patch", "delete")


@dataclass(frozen=True)
class Value:
    """A parameter, or a field of a body."""

    name: str
    type: str
    required: bool = False
    where: str = ""


@dataclass(frozen=True)
class Operation:
    """One method of an address."""

    id: str
    method: str
    path: str
    title: str
    scope: str
    parameters: tuple[Value, ...]
    body: tuple[Value, ...]
    answer: tuple[Value, ...]

    @property
    def summary(self) -> str:
        """In the reader's language."""
        return _(self.title)


@dataclass(frozen=True)
class ReferencePage:
    """What the page shows."""

    groups: tuple[tuple[str, tuple[Operation, ...]], ...]
    codes: Mapping[str, "str | Promise"]
    rate: int

    @property
    def titled(self) -> list[tuple[str, tuple[Operation, ...]]]:
        """The groups, by their names in the reader's language."""
        return [(_(name), operations) for name, operations in self.groups]


def reference_page() -> ReferencePage:
    """The page; the document is read once."""
    return ReferencePage(_groups(), CODES, settings.STUDIO_API_RATE)


@cache
def _groups() -> tuple[tuple[str, tuple[Operation, ...]], ...]:
    document = json.loads(FILE.read_text(encoding="utf-8"))
    schemas = document["components"]["schemas"]
    groups: dict[str, list[Operation]] = {tag["name"]: [] for tag in document["tags"]}
    for path, methods in document["paths"].items():
        for method in _METHODS:
            if (operation := methods.get(method)) is not None:
                made = _operation(path, method, operation, schemas)
                groups[operation["tags"][0]].append(made)
    return tuple((name, tuple(operations)) for name, operations in groups.items())


def _operation(path: str, method: str, operation: dict[str, Any], schemas: dict[str, Any]) -> Operation:
    sent = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    answers = [answer for status, answer in operation["responses"].items() if status != "default"]
    content = answers[0].get("content", {}).get("application/json", {})
    return Operation(
        operation["operationId"],
        method.upper(),
        path,
        operation["summary"],
        operation["x-scope"],
        tuple(
            Value(given["name"], _type(given["schema"], schemas), given["required"], given["in"])
            for given in operation["parameters"]
        ),
        _fields(sent.get("schema", {}), schemas),
        _fields(content.get("schema", {}), schemas),
    )


def _fields(schema: dict[str, Any], schemas: dict[str, Any]) -> tuple[Value, ...]:
    schema = _resolved(schema, schemas)
    required = schema.get("required", ())
    return tuple(
        Value(name, _type(inner, schemas), name in required)
        for name, inner in schema.get("properties", {}).items()
    )


def _resolved(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    return found


def _type(schema: dict[str, Any], schemas: dict[str, Any]) -> str:
    """Such as «string», «integer or null», «[{name, version}]»."""
    if "$ref" in schema:
        fields = _resolved(schema, schemas).get("properties", {})
        return "{" + ", ".join(fields) + "}"
    if "anyOf" in schema:
        return " | ".join(_type(each, schemas) for each in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(f"“{each}”" for each in schema["enum"])
    if "const" in schema:
        return f"“{schema['const']}”"
    if schema.get("type") == "array":
        return f"[{_type(schema.get('items', {}), schemas)}]"
    return str(schema.get("format") or schema.get("type") or "any")
