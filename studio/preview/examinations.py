"""Examinations that the jail made, kept for a while: a preview often comes back to a text it had."""

from builder.errors import LimitExceeded
from builder.jail import Examination
from builder.template.dialect import Dialect
from builder.template.formatters import Values
from builder.template.variables import PromptKind
from studio.shell.jail import pool
from studio.shell.sized_cache import SizedCache

MOST_CHARACTERS = 4_000_000
"""Of all examinations with what they were made from. One of a tenth of that is rare, and made anew."""

_kept: SizedCache[Examination] = SizedCache(MOST_CHARACTERS)


def examine(
    kind: PromptKind, text: str, values: Values, dialect: Dialect, *, owner: str, topic: str | None = None
) -> Examination:
    """``JailPool.examine``, remembered in this process; what met a limit is tried again."""
    key = (kind, text, dialect, *values.values())
    if kept := _kept.get(key):
        return kept
    found = pool().examine(kind, text, values, dialect, owner=owner, topic=topic)
    if not isinstance(found.failure, LimitExceeded):
        size = len(text) + len(found.text or "") + sum(len(str(value)) for value in values.values())
        _kept.put(key, found, size)
    return found
