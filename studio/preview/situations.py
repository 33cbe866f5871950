"""Situations: every sample context of a set at each of its rounds, with the values of a template there.

Used by coverage and by the editor's marks on contexts and rounds, which both try one text in all of them.
"""

from dataclasses import dataclass
from itertools import islice

from builder.template.dialect import Dialect
from builder.template.formatters import Values, tags_of
from builder.template.variables import PromptKind
from studio.contexts.at_round import contexts_at_rounds, values_at
from studio.models import PromptSet, SampleContext
from studio.shell.sized_cache import SizedCache

MOST_DIFFERENT = 1_000
"""Values that differ from each other; a text is tried with each of them."""

Stamp = tuple[tuple[int, int], ...]
"""The contexts of a set and how often each was changed: other contexts, other answers."""

_kept: "SizedCache[Situations]" = SizedCache(20_000_000)


@dataclass(frozen=True)
class Situation:
    """A context at a round."""

    slug: str
    """Of the context; empty where a set has none, and the variables have their sample values."""
    round: int
    at: int
    """Its values among the different ones."""


@dataclass(frozen=True)
class Situations:
    """All of them; what two have alike is there once."""

    values: tuple[Values, ...]
    all: tuple[Situation, ...]


def stamp_of(prompt_set: PromptSet) -> Stamp:
    """What tells whether the sample contexts are still the same."""
    return tuple(SampleContext.objects.for_set(prompt_set).order_by("pk").values_list("pk", "revision"))


def situations_of(
    prompt_set: PromptSet, kind: PromptKind, text: str, dialect: Dialect, stamp: Stamp
) -> Situations:
    """Those of a set's contexts; ``stamp`` is that of the contexts as they are now."""
    tags = tags_of(text, dialect)
    key = (kind, dialect.name, tags, stamp)
    if (kept := _kept.get(key)) is not None:
        return kept
    places: dict[tuple[str | int, ...], int] = {}
    different: list[Values] = []
    found: list[Situation] = []
    # Not without end, also where very many are alike.
    for at_round in islice(contexts_at_rounds(prompt_set), 20 * MOST_DIFFERENT):
        # Past the cache: so many values would only drive out those that previews use.
        values = values_at(at_round, kind, dialect, tags)
        at = places.setdefault(tuple(values.values()), len(different))
        if at == len(different):
            if at >= MOST_DIFFERENT:
                break
            different.append(values)
        found.append(Situation(at_round.context.slug if at_round.context else "", at_round.round, at))
    situations = Situations(tuple(different), tuple(found))
    size = sum(len(str(value)) for values in different for value in values.values())
    _kept.put(key, situations, size + 50 * len(found))
    return situations
