"""The coverage of a template: lines that no sample context reaches, and variables that it never names.

Used by the editor's gutter and by suggestions.
"""

import hashlib
from dataclasses import dataclass

from builder.jail import Coverage
from builder.template.dialect import Dialect
from builder.template.variables import VARIABLES, PromptKind, Variable
from studio.contexts.at_round import dialect_of
from studio.models import PromptSet
from studio.preview.situations import MOST_DIFFERENT, situations_of, stamp_of
from studio.shell.jail import pool
from studio.shell.sized_cache import SizedCache

_AT_ONCE = 64
"""Renderings in one job: after each the lane serves others; once every line is reached, no job follows."""

_found: "SizedCache[Reached]" = SizedCache(2_000_000)
_unused: SizedCache[frozenset[str]] = SizedCache(2_000)


@dataclass(frozen=True)
class Reached:
    """How far the sample contexts get in one template."""

    kind: PromptKind
    unreached: tuple[int, ...] = ()
    """Lines that print or decide something and that no context comes to."""
    known: bool = True
    """Whether anything can be said: not of a text with errors, nor of one that meets a limit."""
    contexts: int = 0
    cut: bool = False
    """Whether there are more rounds than were tried."""


def reached(prompt_set: PromptSet, kind: PromptKind, text: str) -> Reached:
    """The lines of the text that no sample context of the set reaches, in the jail's batch lane.

    Cached for the same text and contexts. Raises ``JailError`` where the jail takes no jobs.
    """
    stamp, dialect = stamp_of(prompt_set), dialect_of(prompt_set)
    key = (kind, digest_of(text), dialect.name, stamp)
    if (kept := _found.get(key)) is not None:
        return kept
    values = situations_of(prompt_set, kind, text, dialect, stamp).values
    together = Coverage()
    for start in range(0, len(values), _AT_ONCE):
        reached = pool().coverage(kind, text, values[start : start + _AT_ONCE], dialect)
        if not reached.reached:
            together = reached
            break
        together |= reached
        if not together.unreached:
            break
    answer = Reached(
        kind,
        tuple(sorted(together.unreached)),
        known=bool(together.reached) or not text.strip(),
        contexts=len(stamp),
        cut=len(values) >= MOST_DIFFERENT,
    )
    _found.put(key, answer, 500 + 30 * len(answer.unreached) + 20 * len(stamp))
    return answer


def unused(kind: PromptKind, text: str, dialect: Dialect) -> list[Variable]:
    """The variables that a template could use and never names, in the order that help tells them."""
    key = (kind, digest_of(text), dialect.name)
    if (names := _unused.get(key)) is None:
        names = pool().unused(kind, text, dialect)
        _unused.put(key, names, 1)
    return [variable for variable in VARIABLES[kind] if variable.name in names]


def digest_of(text: str) -> bytes:
    """A text as a key."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
