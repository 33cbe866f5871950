"""The attribution of runs: which known templates give the prompts that a run delivered, when rendered again.

Called by the studio with the jail as its renderer.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timezone
from itertools import islice
from typing import Protocol

from rapidfuzz.distance import Indel

from builder.errors import BuilderError
from builder.jail.answers import Examination, Match
from builder.leaderboard.rebuild import (
    StoredRound,
    other_rankings,
    rebuild,
    recover_task,
    team_values,
)
from builder.leaderboard.records import RebuiltRound
from builder.leaderboard.release import common_formats, shown_formats
from builder.template.dialect import RELEASES, Dialect
from builder.template.formatters import Values, tags_of
from builder.template.landmarks import Landmarks
from builder.template.variables import PromptKind

RELATED = 0.6
"""A prompt that shares less than this with every candidate's was made from something else."""
_MOST_RANKINGS = 40


class Rendering(Protocol):
    """What attribution asks of a jail."""

    def render(
        self, kind: PromptKind, text: str, variables: Values, dialect: Dialect, *, owner: str | None = None
    ) -> str: ...

    def render_many(
        self, kind: PromptKind, texts: Sequence[str], variables: Values, dialect: Dialect
    ) -> list[Examination]: ...

    def match(
        self,
        kind: PromptKind,
        texts: Sequence[str],
        variables: Values,
        dialect: Dialect,
        digests: Collection[str],
    ) -> list[Match]: ...


@dataclass(frozen=True)
class Candidate:
    """A team template that may have been the one, with what it always prints."""

    text: str
    landmarks: Landmarks


@dataclass(frozen=True)
class Attribution:
    """The candidates, by their places, that give a round's delivered prompt exactly; none may."""

    stored: StoredRound
    matches: frozenset[int]
    formats: tuple[Dialect, ...] = ()
    """The formats in which they give it, or else those that the bytes show; the newest first."""


@dataclass(frozen=True)
class Nearest:
    """The candidate whose prompt is most like the delivered one."""

    candidate: int
    likeness: float
    """From 0 to 1."""
    text: str

    @property
    def related(self) -> bool:
        return self.likeness >= RELATED


def attribute(
    rounds: Sequence[StoredRound], task: str | None, candidates: Sequence[Candidate], jail: Rendering
) -> list[Attribution]:
    """For each delivered round of an execution the candidates that made its prompt.

    ``task`` is None for a run that is not over: it is then read out of a prompt, for each candidate anew.
    """
    if task is not None:
        return [_attribution(stored, task, _matches(stored, task, candidates, jail)) for stored in rounds]
    matching: list[_Matches] = [{} for _ in rounds]
    for number, candidate in enumerate(candidates):
        if (recovered := _recovered(rounds, candidate, jail)) is not None:
            for matches, stored in zip(matching, rounds, strict=True):
                for formats in _matches(stored, recovered, [candidate], jail).values():
                    matches[number] = formats
    return [_attribution(stored, _NO_TASK, matches) for stored, matches in zip(rounds, matching, strict=True)]


_Matches = dict[int, tuple[Dialect, ...]]
"""The candidates that give a prompt, each with the formats in which it does."""
_NO_TASK = "\ue000"


def _attribution(stored: StoredRound, task: str, matches: _Matches) -> Attribution:
    if matches:
        known = {dialect for formats in matches.values() for dialect in formats}
        return Attribution(stored, frozenset(matches), tuple(d for d in RELEASES if d in known))
    try:
        formats = shown_formats(rebuild(stored, "team", task))
    except BuilderError:
        formats = ()
    return Attribution(stored, frozenset(), formats)


def formats_of(attributions: Sequence[Attribution]) -> tuple[Dialect, ...]:
    """The formats that a run may have been delivered in, the newest first: MixSeek is one release while it
    runs. None where its prompts show different ones."""
    return common_formats(attribution.formats for attribution in attributions)


def decide(attributions: Sequence[Attribution]) -> frozenset[int]:
    """The candidates that made every recognised round of an execution: MixSeek reads its file once.

    Two that tie in one round, for they differ in a branch that it does not take, another tells apart.
    """
    recognised = [attribution.matches for attribution in attributions if attribution.matches]
    if not recognised or _is_edited(attributions):
        return frozenset()
    return frozenset.intersection(*recognised)


def _is_edited(attributions: Sequence[Attribution]) -> bool:
    """Whether most prompts of some round number are nobody's.

    One that was retried after an error is rare. A template that somebody edited where it speaks of later
    rounds only still gives the first round to the byte, and is not the version's all the same.
    """
    known = Counter[int]()
    for attribution in attributions:
        if attribution.stored.delivered is not None:
            known[attribution.stored.round_number] += 1 if attribution.matches else -1
    return any(balance < 0 for balance in known.values())


def nearest(
    stored: StoredRound, task: str, candidates: Sequence[Candidate], jail: Rendering
) -> Nearest | None:
    """Of templates that did not make a prompt, the one that came closest."""
    assert stored.delivered is not None
    rebuilt = rebuild(stored, "team", task)
    outcomes = rendered_by([candidate.text for candidate in candidates], rebuilt, jail)
    best: Nearest | None = None
    for number, outcome in enumerate(outcomes):
        if outcome.text is not None:
            likeness = Indel.normalized_similarity(outcome.text, stored.delivered.text)
            if best is None or likeness > best.likeness:
                best = Nearest(number, likeness, outcome.text)
    return best


def _matches(stored: StoredRound, task: str, candidates: Sequence[Candidate], jail: Rendering) -> _Matches:
    if stored.delivered is None:
        return {}
    text = stored.delivered.text
    possible = {
        number: candidate.text
        for number, candidate in enumerate(candidates)
        if candidate.landmarks.stand_in(text)
    }
    if not possible:
        return {}
    try:
        rebuilt = rebuild(stored, "team", task)
    except BuilderError:
        # Rows that no prompt could have been made from.
        return {}
    made = made_by(possible, rebuilt, jail)
    if made:
        return made
    # Where the text shows neither ranking nor clock as they are, it may show something made from them.
    for asked, guesses in _guesses(stored, rebuilt):
        concerned = {number: text for number, text in possible.items() if any(map(text.__contains__, asked))}
        for guess in guesses:
            if concerned and (made := made_by(concerned, guess, jail)):
                return made
    return {}


def rebuilt_for(stored: StoredRound, task: str, text: str, jail: Rendering) -> RebuiltRound:
    """The round as the template that made its prompt saw it.

    Mostly that is plain from the prompt. Where it shows neither clock nor ranking as they are, what the
    template makes of them has to be tried; where nothing fits, the likeliest is returned.
    """
    rebuilt = rebuild(stored, "team", task)
    if stored.delivered is None:
        return rebuilt
    for asked, guesses in _guesses(stored, rebuilt):
        if any(map(text.__contains__, asked)):
            for guess in (rebuilt, *guesses):
                if made_by({0: text}, guess, jail):
                    return guess
    return rebuilt


def made_by(
    possible: Mapping[int, str], rebuilt: RebuiltRound, jail: Rendering
) -> dict[int, tuple[Dialect, ...]]:
    """Those templates that give a delivered prompt, and the formats in which they do.

    Formats that differ in nothing that a template names are tried once for it.
    """
    if rebuilt.delivered is None:
        return {}
    digests = [hashlib.sha256(rebuilt.delivered.text.encode("utf-8", "surrogatepass")).hexdigest()]
    made: _Matches = {}
    tried: dict[int, list[_Trial]] = {number: [] for number in possible}
    for dialect in shown_formats(rebuilt):
        for values, some in _by_values(rebuilt, dialect, possible):
            matching = {number: _known(tried[number], values, text) for number, text in some.items()}
            fresh = [number for number, known in matching.items() if known is None]
            if fresh:
                matches = jail.match("team", [some[number] for number in fresh], values, dialect, digests)
                found = {fresh[match.index] for match in matches}
                for number in fresh:
                    matching[number] = number in found
                    tried[number].append((values, number in found))
            for number in some:
                if matching[number]:
                    made[number] = (*made.get(number, ()), dialect)
    return made


_Trial = tuple[Values, bool]
"""The values that a template was rendered with, and whether it gave the prompt."""


def _known(trials: Sequence[_Trial], values: Values, text: str) -> bool | None:
    """What came of a trial with the same values for everything that the template names."""
    for before, matches in trials:
        if not any(value != before[name] and name in text for name, value in values.items()):
            return matches
    return None


def rendered_by(texts: Sequence[str], rebuilt: RebuiltRound, jail: Rendering) -> list[Examination]:
    """What templates give in a round, in the format that its delivered prompt shows."""
    dialect = shown_formats(rebuilt)[0]
    outcomes: dict[int, Examination] = {}
    for values, some in _by_values(rebuilt, dialect, dict(enumerate(texts))):
        rendered = jail.render_many("team", list(some.values()), values, dialect)
        outcomes.update(zip(some, rendered, strict=True))
    return [outcomes[number] for number in range(len(texts))]


def _by_values(
    rebuilt: RebuiltRound, dialect: Dialect, texts: Mapping[int, str]
) -> Iterator[tuple[Values, dict[int, str]]]:
    """The values of a round, and the templates that get these very values."""
    groups: dict[frozenset[str], dict[int, str]] = {}
    for number, text in texts.items():
        groups.setdefault(tags_of(text, dialect), {})[number] = text
    for tags, some in groups.items():
        yield team_values(rebuilt, dialect, tags), some


def _guesses(
    stored: StoredRound, rebuilt: RebuiltRound
) -> Iterator[tuple[tuple[str, ...], Iterator[RebuiltRound]]]:
    """Other values for variables that the text does not give away, the likeliest first."""
    local = replace(rebuilt, delivered_at=rebuilt.delivered_at.astimezone(timezone(rebuilt.zone_offset)))
    clocks = [rebuilt] if rebuilt.clock_source == "text" else [rebuilt, local]
    if len(clocks) > 1:
        yield ("current_datetime",), iter([local])
    if rebuilt.cutoff == "unconfirmed":
        rankings = islice(other_rankings(stored, rebuilt.delivered_at), 1, _MOST_RANKINGS)
        yield (
            ("ranking_table", "team_position_message"),
            (
                replace(clock, context=clock.context.model_copy(update={"ranking": ranking}))
                for ranking in rankings
                for clock in clocks
            ),
        )


def _recovered(rounds: Sequence[StoredRound], candidate: Candidate, jail: Rendering) -> str | None:
    def render(rebuilt: RebuiltRound, dialect: Dialect) -> str:
        values = team_values(rebuilt, dialect, candidate.text)
        return jail.render("team", candidate.text, values, dialect)

    for stored in rounds:
        if stored.delivered is not None and candidate.landmarks.stand_in(stored.delivered.text):
            with suppress(BuilderError):
                if (task := recover_task(stored, render)) is not None:
                    return task
    return None
