"""A text in all contexts and rounds: where it fails, and where its prompt differs from the saved version's.

Used by the editor in the background, so that a template that breaks in round 4 is seen before it is saved.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from builder.errors import BuilderError, LimitExceeded, Superseded
from builder.template.dialect import Dialect
from builder.template.variables import PromptKind, field_name
from studio.contexts.at_round import dialect_of
from studio.models import PromptSet, SampleContext
from studio.preview.coverage import digest_of
from studio.preview.examinations import examine_each
from studio.preview.situations import Situations, Stamp, situations_of, stamp_of
from studio.prompts.findings import Finding
from studio.shell.sized_cache import SizedCache

Outcome = bytes | BuilderError
"""A prompt's digest, or why there is none."""
Place = tuple[str, int]
"""A context by its address, and a round."""

_kept: SizedCache[tuple[Outcome, ...]] = SizedCache(200_000)


@dataclass(frozen=True)
class Failure:
    """An error that shows in some rounds only, and the first of them."""

    finding: Finding
    slug: str
    """Of the context."""
    round: int


@dataclass(frozen=True)
class AllRounds:
    """What the picker of contexts and the rounds are marked with."""

    kind: PromptKind
    fails: dict[str, list[int]]
    """Rounds by context."""
    changes: dict[str, list[int]]
    tried: frozenset[str] = frozenset()
    """Contexts; a text that the check refuses, or that meets a limit, is not tried in all of them."""
    failures: tuple[Failure, ...] = ()

    @property
    def marks(self) -> str:
        """JSON for the editor."""
        return json.dumps({"fails": self.fails, "changes": self.changes})


def all_rounds(
    prompt_set: PromptSet,
    kind: PromptKind,
    text: str,
    shown: tuple[str, int | None],
    *,
    is_wanted: Callable[[], bool],
) -> AllRounds:
    """The text tried in every context at each round, in the jail's batch lane.

    ``shown`` is the context and round beside the editor: an error that shows there is told there. Raises
    ``Superseded`` once ``is_wanted`` says no, and other ``JailError`` where the jail takes no jobs.
    """
    stamp, saved = stamp_of(prompt_set), prompt_set.latest
    outcomes = _outcomes(prompt_set, kind, text, stamp, is_wanted)
    before: dict[Place, Outcome] = {}
    if saved is not None and outcomes:
        before = _outcomes(prompt_set, kind, getattr(saved, field_name(kind)), stamp, is_wanted)
    fails: dict[str, list[int]] = {}
    changes: dict[str, list[int]] = {}
    failing: dict[tuple[str, int | None], list[tuple[BuilderError, Place]]] = {}
    for place, outcome in outcomes.items():
        slug, number = place
        if isinstance(outcome, BuilderError):
            fails.setdefault(slug, []).append(number)
            failing.setdefault((outcome.text("en"), outcome.line), []).append((outcome, place))
        elif place in before and outcome != before[place]:
            changes.setdefault(slug, []).append(number)
    tried = frozenset(slug for slug, _number in outcomes)
    return AllRounds(kind, fails, changes, tried, tuple(_failures(prompt_set, kind, failing.values(), shown)))


def _failures(
    prompt_set: PromptSet,
    kind: PromptKind,
    failing: Iterable[list[tuple[BuilderError, Place]]],
    shown: tuple[str, int | None],
) -> Iterator[Failure]:
    """Each error once, with the first round that has it."""
    titles: dict[str, str] | None = None
    for rounds in failing:
        if any(place == shown for _error, place in rounds):
            continue
        if titles is None:
            contexts = SampleContext.objects.for_set(prompt_set).only("slug", "name")
            titles = {context.slug: context.title for context in contexts}
        # Of the context that is shown, if it fails there at all.
        error, (slug, number) = min(rounds, key=lambda found: found[1][0] != shown[0])
        where = _("%(context)s, round %(round)d") % {
            "context": titles.get(slug, _("Sample values")),
            "round": number,
        }
        if more := len(rounds) - 1:
            where = ngettext("%(where)s and %(n)d more round", "%(where)s and %(n)d more rounds", more) % {
                "where": where,
                "n": more,
            }
        yield Failure(Finding.of(error, kind, where=where), slug, number)


def _outcomes(
    prompt_set: PromptSet, kind: PromptKind, text: str, stamp: Stamp, is_wanted: Callable[[], bool]
) -> dict[Place, Outcome]:
    """Round 1 first. At a limit it ends; of a text that the check refuses there are none."""
    dialect = dialect_of(prompt_set)
    situations = situations_of(prompt_set, kind, text, dialect, stamp)
    key = (prompt_set.pk, kind, digest_of(text), dialect.name, stamp)
    found = _kept.get(key)
    if found is None:
        found = tuple(_tried(kind, text, situations, dialect, is_wanted))
        _kept.put(key, found, 10 + len(found))
    return {
        (situation.slug, situation.round): found[situation.at]
        for situation in reversed(situations.all)
        if situation.at < len(found)
    }


def _tried(
    kind: PromptKind, text: str, situations: Situations, dialect: Dialect, is_wanted: Callable[[], bool]
) -> Iterator[Outcome]:
    for examined in examine_each(kind, text, situations.values, dialect):
        if examined.errors:
            return
        yield examined.failure or digest_of(examined.text or "")
        if isinstance(examined.failure, LimitExceeded):
            return
        if not is_wanted():
            raise Superseded("jail-superseded")
