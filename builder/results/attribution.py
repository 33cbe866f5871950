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
from builder.leaderboard.rebuild import StoredRound, other_rankings, rebuild, recover_task
from builder.leaderboard.records import RebuiltRound
from builder.template.dialect import MIXSEEK, Dialect
from builder.template.formatters import Values, variables
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
        return [Attribution(stored, _matches(stored, task, candidates, jail)) for stored in rounds]
    matching: list[set[int]] = [set() for _ in rounds]
    for number, candidate in enumerate(candidates):
        if (recovered := _recovered(rounds, candidate, jail)) is not None:
            for matches, stored in zip(matching, rounds, strict=True):
                if _matches(stored, recovered, [candidate], jail):
                    matches.add(number)
    return [Attribution(stored, frozenset(matches)) for stored, matches in zip(rounds, matching, strict=True)]


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
    values = _values(rebuild(stored, "team", task))
    outcomes = jail.render_many("team", [candidate.text for candidate in candidates], values, MIXSEEK)
    best: Nearest | None = None
    for number, outcome in enumerate(outcomes):
        if outcome.text is not None:
            likeness = Indel.normalized_similarity(outcome.text, stored.delivered.text)
            if best is None or likeness > best.likeness:
                best = Nearest(number, likeness, outcome.text)
    return best


def _matches(
    stored: StoredRound, task: str, candidates: Sequence[Candidate], jail: Rendering
) -> frozenset[int]:
    if stored.delivered is None:
        return frozenset()
    text = stored.delivered.text
    possible = {
        number: candidate.text
        for number, candidate in enumerate(candidates)
        if candidate.landmarks.stand_in(text)
    }
    if not possible:
        return frozenset()
    try:
        rebuilt = rebuild(stored, "team", task)
    except BuilderError:
        # Rows that no prompt could have been made from.
        return frozenset()
    digests = [_digest(text)]
    made = _made(possible, _values(rebuilt), jail, digests)
    if made:
        return made
    # Where the text shows neither ranking nor clock as they are, it may show something made from them.
    for asked, guesses in _guesses(stored, rebuilt):
        concerned = {number: text for number, text in possible.items() if any(map(text.__contains__, asked))}
        for guess in guesses:
            if concerned and (made := _made(concerned, _values(guess), jail, digests)):
                return made
    return frozenset()


def rebuilt_for(stored: StoredRound, task: str, text: str, jail: Rendering) -> RebuiltRound:
    """The round as the template that made its prompt saw it.

    Mostly that is plain from the prompt. Where it shows neither clock nor ranking as they are, what the
    template makes of them has to be tried; where nothing fits, the likeliest is returned.
    """
    rebuilt = rebuild(stored, "team", task)
    if stored.delivered is None:
        return rebuilt
    digests = [_digest(stored.delivered.text)]
    for asked, guesses in _guesses(stored, rebuilt):
        if any(map(text.__contains__, asked)):
            for guess in (rebuilt, *guesses):
                if _made({0: text}, _values(guess), jail, digests):
                    return guess
    return rebuilt


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _made(possible: Mapping[int, str], values: Values, jail: Rendering, digests: list[str]) -> frozenset[int]:
    numbers, texts = list(possible), list(possible.values())
    return frozenset(numbers[match.index] for match in jail.match("team", texts, values, MIXSEEK, digests))


def _values(rebuilt: RebuiltRound) -> Values:
    return variables("team", rebuilt.context, None, rebuilt.delivered_at, MIXSEEK)


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
    def render(values: Values) -> str:
        return jail.render("team", candidate.text, values, MIXSEEK)

    for stored in rounds:
        if stored.delivered is not None and candidate.landmarks.stand_in(stored.delivered.text):
            with suppress(BuilderError):
                if (task := recover_task(stored, render)) is not None:
                    return task
    return None
