"""Branches of a template, taken whatever their conditions say."""

import pytest

from builder.errors import LimitExceeded
from builder.jail import JailPool, Limits
from builder.template.branches import branches, take
from builder.template.dialect import MIXSEEK
from builder.template.variables import sample_values
from tests.hanging import HANGS

VALUES = sample_values("team")


def taken(text: str) -> dict[tuple[int, ...], bool]:
    """Each branch by its lines, and whether it was run."""
    return {
        branch.lines: take(text, number, VALUES, MIXSEEK)
        for number, branch in enumerate(branches(text, MIXSEEK))
    }


def test_every_branch_of_a_condition_is_taken() -> None:
    text = (
        "{% if 'Q4' in user_prompt %}\na\n{% elif round_number > 99 %}\nb\n"
        "{% if round_number > 100 %}\nc\n{% else %}\nd\n{% endif %}\n{% else %}\ne\n{% endif %}"
    )
    assert taken(text) == {(2,): True, (6,): True, (8,): True, (4, 5): True, (11,): True}


def test_a_loop_with_nothing_to_go_through_and_a_macro_that_nobody_calls_are_not() -> None:
    text = (
        "{% for x in [] %}\na\n{% else %}\nb\n{% endfor %}\n{% macro m() %}\nc\n{% endmacro %}\n"
        "{% for x in [1] %}\n{% if x > 9 %}\nd\n{% endif %}\n{% endfor %}"
    )
    assert taken(text) == {(2,): False, (4,): True, (7,): False, (11,): True, (10,): True}


def test_a_branch_that_fails_without_its_condition_counts_as_far_as_it_was_run() -> None:
    text = "{% if user_prompt == '' %}\n{{ 1 // 0 }}\n{% if false %}\nx\n{% endif %}\n{% endif %}"
    assert taken(text) == {(4,): False, (2, 3): True}


def test_output_is_bounded() -> None:
    text = "{% if false %}{% for i in range(9999) %}0123456789{% endfor %}{% endif %}"
    with pytest.raises(LimitExceeded):
        take(text, 1, VALUES, MIXSEEK, 10_000)


def test_a_dormant_branch_meets_its_limit_in_the_jail() -> None:
    quiet = "{% if round_number > 99 %}\nx\n{% endif %}{% for x in [] %}\ny\n{% endfor %}\n"
    bomb = "{% if 'Q4 forecast' in user_prompt %}\n" + HANGS + "\n{% endif %}\n"
    with JailPool(size=1, spares=0, batch_size=1, limits=Limits(start=60)) as pool:
        assert pool.try_branches("team", quiet, VALUES, MIXSEEK).untried == {4}
        trial = pool.try_branches("team", quiet + bomb, VALUES, MIXSEEK)
    assert trial.stop is not None and trial.stop.limit == "time"
    assert trial.line == 7
