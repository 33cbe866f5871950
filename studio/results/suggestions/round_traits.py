"""What is peculiar about a round, as far as a template can tell: who leads, who is alone, what is missing."""

from collections.abc import Iterable
from typing import Literal, get_args

from builder.template.models import RankingEntry, RoundPromptContext

Trait = Literal["first", "between", "far", "last", "alone", "absent", "no-ranking", "no-history"]
TRAITS: tuple[Trait, ...] = get_args(Trait)

_TOLD_APART = 3
"""Up to this place a team is told how well it does."""


def traits_of(context: RoundPromptContext) -> frozenset[Trait]:
    """Those of a round as the team sees it. A first round looks the same to everybody."""
    if context.round_number == 1:
        return frozenset()
    found: set[Trait] = set(place_traits(context.ranking or (), context.team_id))
    if not context.round_history:
        found.add("no-history")
    return frozenset(found)


def place_traits(ranking: Iterable[RankingEntry], team_id: str) -> Iterable[Trait]:
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
