"""JSON that comes back as it went in, on both engines."""

import json
from typing import TYPE_CHECKING, Any

from django.db import models

if TYPE_CHECKING:
    # Django's own classes take no type arguments when the code runs.
    AnyText = models.TextField[Any, Any]
else:
    AnyText = models.TextField


class OrderedJSONField(AnyText):
    """A JSON value whose objects keep the order of their keys.

    PostgreSQL's jsonb sorts keys by length, and score details reach the prompt as JSON text: what a
    preview shows would depend on the engine.
    """

    # What the type checker takes a text field's value for.
    _pyi_private_set_type: Any
    _pyi_private_get_type: Any

    def from_db_value(self, value: str | None, *args: Any) -> Any:
        return None if value is None else json.loads(value)

    def to_python(self, value: Any) -> Any:
        return json.loads(value) if isinstance(value, str) else value

    def get_prep_value(self, value: Any) -> str | None:
        return None if value is None else json.dumps(value, ensure_ascii=False, allow_nan=False)

    def value_to_string(self, obj: models.Model) -> str:
        return self.get_prep_value(self.value_from_object(obj)) or ""
