"""Sample gaps: what is peculiar about a real round (traits, lengths) and shown by no sample context.

Used by the suggestions. Traits are what a template can tell: who leads, who is alone, what is missing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from builder.template.models import RankingEntry, RoundPromptContext
from builder.template.rounds import rounds_of, seen_at
from studio.models import SampleContext

Trait = Literal["first", "between", "far", "last", "alone", "absent", "no-ranking", "no-history"]
TRAITS: tuple[Trait, ...] = get_args(Trait)

_TOLD_APART = 3
"""Up to this place a team is told how well it does."""
MUCH = 2
"""So many times longer than any sample's is much longer."""
_LEAST_MORE = 500
"""Characters: between short texts, twice the length is nothing."""

Measure = Literal["round", "teams", "task", "submission", "history"]
What = Trait | Measure
_ORDER: tuple[What, ...] = ("round", *TRAITS, "teams", "task", "submission", "history")


def traits_of(context: RoundPromptContext) -> frozenset[Trait]:
    """Those of a round as the team sees it. A first round looks the same to everybody."""
    if context.round_number == 1:
        return frozenset()
    traits: set[Trait] = set(_place_traits(context.ranking or (), context.team_id))
    if not context.round_history:
        traits.add("no-history")
    return frozenset(traits)


def _place_traits(ranking: Iterable[RankingEntry], team_id: str) -> Iterable[Trait]:
    """Where a team stands on the board, the best first."""
    places = [entry.team_id for entry in ranking]
    if not places:
        return ("no-ranking",)
    if team_id not in places:
        return ("absent",)
    return standing_traits(places.index(team_id) + 1, len(places))


def standing_traits(place: int, teams: int) -> tuple[Trait, ...]:
    """Of a place among so many."""
    if teams == 1:
        return ("alone",)
    where: Trait = "first" if place == 1 else "last" if place == teams else "between"
    return (where, "far") if place > _TOLD_APART else (where,)


def in_order(gaps: Iterable[What]) -> list[What]:
    return sorted(gaps, key=_ORDER.index)


@dataclass(frozen=True)
class Gap:
    """Something that a real round showed and no sample context does."""

    what: What
    real: int = 0
    sampled: int = 0

    @property
    def words(self) -> str:
        """A sentence in the reader's language."""
        numbers = {
            name: number_format(value, force_grouping=True)
            for name, value in (("real", self.real), ("sampled", self.sampled))
        }
        return _sentence(self.what, none=not self.sampled) % numbers


@dataclass(frozen=True)
class Samples:
    """What the sample contexts show, all rounds of all of them together."""

    traits: frozenset[Trait] = frozenset()
    measures: Mapping[Measure, int] = field(default_factory=dict)

    @classmethod
    def of(cls, contexts: Iterable[SampleContext]) -> "Samples":
        traits = set[Trait]()
        measures: dict[Measure, int] = {}
        for context in contexts:
            whole = context.round_context
            for number in rounds_of(whole):
                seen = seen_at("team", whole, context.submission, number)
                assert isinstance(seen, RoundPromptContext)
                traits |= traits_of(seen)
            texts = [state.submission_content for state in whole.round_history]
            own: dict[Measure, int] = {
                "round": whole.round_number,
                "teams": len(whole.ranking or ()),
                "task": len(whole.user_prompt),
                "submission": max(map(len, [context.submission, *texts])),
                "history": sum(map(len, texts)),
            }
            measures = {name: max(value, measures.get(name, 0)) for name, value in own.items()}
        return cls(frozenset(traits), measures)

    def lacks(self, name: Measure, real: int) -> bool:
        """Whether a real round is beyond all of them."""
        sampled = self.measures.get(name, 0)
        if name == "round":
            return real > sampled
        if name == "teams":
            return real > MUCH * max(sampled, 1)
        return real > MUCH * sampled and real - sampled >= _LEAST_MORE


def _sentence(what: What, *, none: bool) -> str:
    """With none, there is no sample context to compare with."""
    match what:
        case "round" if none:
            return _("Round %(real)s.")
        case "round":
            return _("Round %(real)s: the sample contexts stop at round %(sampled)s.")
        case "teams" if none:
            return _("%(real)s teams in the ranking.")
        case "teams":
            return _("%(real)s teams in the ranking: the sample contexts have %(sampled)s at most.")
        case "task" if none:
            return _("A task of %(real)s characters.")
        case "task":
            return _("A task of %(real)s characters: the longest sample has %(sampled)s.")
        case "submission" if none:
            return _("A submission of %(real)s characters.")
        case "submission":
            return _("A submission of %(real)s characters: the longest sample has %(sampled)s.")
        case "history" if none:
            return _("Earlier submissions of %(real)s characters together.")
        case "history":
            return _(
                "Earlier submissions of %(real)s characters together: no sample has more than %(sampled)s."
            )
        case "first":
            return _("The team is first.")
        case "between":
            return _("The team is neither first nor last.")
        case "far":
            return _("The team ranks fourth or lower.")
        case "last":
            return _("The team is last.")
        case "alone":
            return _("No other team is in the ranking yet.")
        case "absent":
            return _("The team is not in the ranking.")
        case "no-ranking":
            return _("After round 1, and the ranking is still empty.")
        case "no-history":
            return _("After round 1, and there is no earlier submission.")
