"""The values of rows that JSON has not, as they go between the reader process and its user."""

from contextlib import suppress
from datetime import datetime
from decimal import Decimal
from typing import Any

_MOMENT = "$at"


def encoded(value: Any) -> Any:
    """For ``json.dumps``; what no answer is made of becomes a text."""
    if isinstance(value, datetime):
        return {_MOMENT: value.isoformat()}
    return float(value) if isinstance(value, Decimal) else str(value)


def revived(data: dict[str, Any]) -> Any:
    """For ``json.loads``; takes whatever a file may hold."""
    moment = data.get(_MOMENT)
    if isinstance(moment, str) and len(data) == 1:
        with suppress(ValueError):
            return datetime.fromisoformat(moment)
    return data
