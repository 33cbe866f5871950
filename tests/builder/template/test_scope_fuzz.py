"""A name that the check lets pass has a value, whichever way a render takes."""

from collections import Counter
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from builder.problems import errors_in
from builder.template.check import check
from builder.template.dialect import MIXSEEK
from builder.template.render import render
from tests.builder.scope_grammar import ScopeGrammar
from tests.fuzzing import share_of

VALUES: dict[str, str | int] = {
    "user_prompt": "task",
    "submission_history": "",
    "ranking_table": "",
    "team_position_message": "",
    "current_datetime": "",
}
SEEDS = st.integers(0, 2**32)


def accepted_and_rendered_every_way(seed: int) -> bool:
    """Whether the check accepts the program; then no way through it fails."""
    grammar = ScopeGrammar(Random(seed))
    template = grammar.template()
    if errors_in(check("team", template)):
        return False
    for number in range(grammar.ways):
        render("team", template, {**VALUES, "round_number": number}, MIXSEEK)
    return True


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_accepted_names_have_a_value_in_every_branch(seed: int) -> None:
    accepted_and_rendered_every_way(seed)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(share_of(20)))
@settings(max_examples=1_250, deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(seed=SEEDS)
def test_accepted_names_have_a_value_in_every_branch_of_many_templates(part: int, seed: int) -> None:
    """With --thorough 25,000 programs, of which about half are refused."""
    accepted_and_rendered_every_way(seed + (part << 33))


@pytest.mark.slow
def test_generator_is_neither_tame_nor_hopeless() -> None:
    counts = Counter(accepted_and_rendered_every_way(seed) for seed in range(60))
    assert counts[True] > 15
    assert counts[False] > 15
