"""Text that the gate accepts and that takes too much: stopped, said, and over for the next one."""

import pytest

from builder.errors import LimitExceeded, TemplateFailure
from builder.jail import JailPool
from builder.template.render import render
from tests.builder.attacks import ATTACKS, HARMLESS, RUN_CODE
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


@pytest.mark.slow
def test_what_the_gate_refuses_is_refused_inside_with_its_line(pool: JailPool, values: Values) -> None:
    for text in (text for texts in ATTACKS.values() for text in texts):
        examination = pool.examine("team", text, values)
        assert examination.text is None
        # On a busy machine the largest ones meet the clock before the gate.
        if not isinstance(examination.failure, LimitExceeded):
            assert examination.errors and examination.errors[0].line >= 1, text[:200]
    assert pool.examine("team", "{{ round_number }}", values).text == "2"


@pytest.mark.slow
def test_a_render_that_skipped_the_gate_still_runs_nothing(pool: JailPool, values: Values) -> None:
    # The sandbox stops them, and behind it the filter: no worker had to be ended for a system call.
    for text in RUN_CODE:
        try:
            assert "uid=" not in pool.render("team", text, values)
        except LimitExceeded as stop:
            assert stop.limit != "crash", text
        except TemplateFailure as failure:
            assert failure.text()
    assert pool.render("team", "{{ round_number }}", values) == "2"


def test_what_is_harmless_comes_out_as_without_the_jail(pool: JailPool, values: Values) -> None:
    for text in HARMLESS:
        assert pool.examine("team", text, values).text == render("team", text, values), text
