"""What is peculiar about a round, as a team sees it."""

import pytest

from builder.template.models import RankingEntry, RoundPromptContext, RoundState
from studio.results.suggestions.sample_gaps import Trait, traits_of

PLAYED = RoundState(round_number=1, submission_content="a", evaluation_score=50)


def seen(places: list[str] | None, *, number: int = 2, history: bool = True) -> RoundPromptContext:
    return RoundPromptContext(
        user_prompt="task",
        round_number=number,
        round_history=[PLAYED] if history else [],
        team_id="own",
        team_name="Own",
        execution_id="run",
        ranking=None
        if places is None
        else [
            RankingEntry(team_id=team, team_name=team, max_score=90 - at, total_rounds=1)
            for at, team in enumerate(places)
        ],
    )


@pytest.mark.parametrize(
    ("places", "traits"),
    [
        (["own", "a"], {"first"}),
        (["a", "own"], {"last"}),
        (["a", "own", "b"], {"between"}),
        (["a", "b", "c", "own", "d"], {"between", "far"}),
        (["a", "b", "c", "own"], {"last", "far"}),
        (["own"], {"alone"}),
        (["a", "b"], {"absent"}),
        ([], {"no-ranking"}),
        (None, {"no-ranking"}),
    ],
)
def test_a_place_is_told_by_the_board(places: list[str] | None, traits: set[Trait]) -> None:
    assert traits_of(seen(places)) == traits


def test_a_later_round_may_have_nothing_to_look_back_at() -> None:
    assert traits_of(seen(["own", "a"], history=False)) == {"first", "no-history"}


def test_a_first_round_has_neither_board_nor_history() -> None:
    assert traits_of(seen(["own", "a"], number=1, history=False)) == frozenset()
