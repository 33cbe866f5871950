"""Text that the gate accepts and that takes too much: stopped, said, and over for the next one."""

import pytest

from builder.errors import LimitExceeded
from builder.jail import JailPool
from tests.builder.jail.attacks import GREEDY

Values = dict[str, str | int]


QUICK = ("a text times a number", "much output", "deep lists compared")


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in GREEDY]
)
def test_greed_meets_a_limit_and_the_next_render_works(pool: JailPool, values: Values, name: str) -> None:
    text, limits = GREEDY[name]
    examination = pool.examine("team", text, values)
    assert examination.errors == []
    assert isinstance(examination.failure, LimitExceeded), examination.text
    assert examination.failure.limit in limits
    assert examination.text is None
    assert pool.examine("team", "{{ round_number }}", values).text == "2"


def test_a_check_is_no_attack(pool: JailPool) -> None:
    # Folding these constants while compiling takes seconds; a check does not compile.
    text = "{{ " + "('a' * 99999)" + " | upper | lower" * 40 + " }}"
    assert isinstance(pool.check("team", text * 20), list)
