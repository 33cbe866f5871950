"""Examinations that the jail made, kept for a while: a preview often comes back to a text it had."""

import threading
from collections import OrderedDict

from builder.dialect import Dialect
from builder.errors import LimitExceeded
from builder.formatters import Values
from builder.jail import Examination
from builder.variables import PromptKind
from studio.jail import pool

MOST_KEPT = 256
MOST_CHARACTERS = 40_000
"""Of one examination with what it was made from; longer ones are rare, and made anew."""

_Key = tuple[object, ...]
_lock = threading.Lock()
_kept: OrderedDict[_Key, Examination] = OrderedDict()


def examine(
    kind: PromptKind, text: str, values: Values, dialect: Dialect, *, owner: str, topic: str | None = None
) -> Examination:
    """``JailPool.examine``, remembered in this process; what met a limit is tried again."""
    key: _Key = (kind, text, dialect, *values.values())
    with _lock:
        if found := _kept.get(key):
            _kept.move_to_end(key)
            return found
    found = pool().examine(kind, text, values, dialect, owner=owner, topic=topic)
    size = len(text) + len(found.text or "") + sum(len(str(value)) for value in values.values())
    if size <= MOST_CHARACTERS and not isinstance(found.failure, LimitExceeded):
        with _lock:
            _kept[key] = found
            while len(_kept) > MOST_KEPT:
                _kept.popitem(last=False)
    return found


def forget() -> None:
    """Start anew."""
    with _lock:
        _kept.clear()
