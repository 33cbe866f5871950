"""A text in all contexts and rounds: where it fails, and where its prompt differs from the saved version's.

Used by the editor in the background, so that a template that breaks in round 4 is seen before it is saved.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from builder.errors import BuilderError, LimitExceeded, Superseded
from builder.template.variables import PromptKind, field_name
from studio.contexts.at_round import dialect_of
from studio.models import PromptSet, SampleContext
from studio.preview.coverage import digest_of
from studio.preview.examinations import examine_each
from studio.preview.situations import Situation, Situations, Stamp, situations_of, stamp_of
from studio.prompts.findings import Finding
from studio.shell.sized_cache import SizedCache

Outcome = bytes | BuilderError
"""A prompt's digest, or why there is none."""

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
    stamp = stamp_of(prompt_set)
    situations = situations_of(prompt_set, kind, dialect_of(prompt_set), stamp)
    outcomes = _outcomes(prompt_set, kind, text, situations, stamp, is_wanted)
    saved = prompt_set.latest
    before = (
        _outcomes(prompt_set, kind, getattr(saved, field_name(kind)), situations, stamp, is_wanted)
        if saved is not None and outcomes
        else ()
    )
    fails: dict[str, list[int]] = {}
    changes: dict[str, list[int]] = {}
    failing: dict[tuple[str, int | None], list[tuple[BuilderError, Situation]]] = {}
    for situation in reversed(situations.all):  # round 1 first
        outcome = outcomes[situation.at] if situation.at < len(outcomes) else None
        if isinstance(outcome, BuilderError):
            fails.setdefault(situation.slug, []).append(situation.round)
            failing.setdefault((outcome.text("en"), outcome.line), []).append((outcome, situation))
        elif situation.at < len(before) and outcome is not None and outcome != before[situation.at]:
            changes.setdefault(situation.slug, []).append(situation.round)
    return AllRounds(kind, fails, changes, tuple(_failures(prompt_set, kind, failing.values(), shown)))


def _failures(
    prompt_set: PromptSet,
    kind: PromptKind,
    failing: Iterable[list[tuple[BuilderError, Situation]]],
    shown: tuple[str, int | None],
) -> Iterator[Failure]:
    """Each error once, with the first round that has it."""
    titles: dict[str, str] | None = None
    for rounds in failing:
        if any((situation.slug, situation.round) == shown for _error, situation in rounds):
            continue
        if titles is None:
            contexts = SampleContext.objects.for_set(prompt_set).only("slug", "name")
            titles = {context.slug: context.title for context in contexts}
        # Of the context that is shown, if it fails there at all.
        error, first = min(rounds, key=lambda found: found[1].slug != shown[0])
        where = _("%(context)s, round %(round)d") % {
            "context": titles.get(first.slug, _("Sample values")),
            "round": first.round,
        }
        if more := len(rounds) - 1:
            where = ngettext("%(where)s and %(n)d more round", "%(where)s and %(n)d more rounds", more) % {
                "where": where,
                "n": more,
            }
        yield Failure(Finding.of(error, kind, where=where), first.slug, first.round)


def _outcomes(
    prompt_set: PromptSet,
    kind: PromptKind,
    text: str,
    situations: Situations,
    stamp: Stamp,
    is_wanted: Callable[[], bool],
) -> tuple[Outcome, ...]:
    """By the place of the values. At a limit it ends; of a text that the check refuses there are none."""
    dialect = dialect_of(prompt_set)
    key = (prompt_set.pk, kind, digest_of(text), dialect.name, stamp)
    if (kept := _kept.get(key)) is not None:
        return kept
    outcomes: list[Outcome] = []
    for examined in examine_each(kind, text, situations.values, dialect):
        if examined.errors:
            break
        outcomes.append(examined.failure or digest_of(examined.text or ""))
        if isinstance(examined.failure, LimitExceeded):
            break
        if not is_wanted():
            raise Superseded("jail-superseded")
    _kept.put(key, tuple(outcomes), 10 + len(outcomes))
    return tuple(outcomes)
