"""Batches of the jail beyond plain renderings: one text in many contexts, its reach, its landmarks."""

from collections.abc import Iterator

import pytest

from builder.jail import JailPool
from builder.template.coverage import Coverage
from builder.template.dialect import MIXSEEK
from builder.template.landmarks import landmarks
from builder.template.variables import sample_values
from tests.hanging import HANGS

TEXT = "課題\n{% if round_number > 1 %}\nlater\n{% else %}\nfirst\n{% endif %}\n"
FORBIDDEN = "{{ cycler.__init__ }}"


@pytest.fixture(scope="module")
def jail() -> Iterator[JailPool]:
    with JailPool(size=1, spares=0, batch_size=1) as pool:
        yield pool


def at(*rounds: int) -> list[dict[str, str | int]]:
    return [sample_values("team") | {"round_number": number} for number in rounds]


@pytest.mark.slow
def test_one_text_is_rendered_in_each_context(jail: JailPool) -> None:
    found = jail.render_in_each("team", TEXT, at(1, 2, 3), MIXSEEK)
    assert [each.text for each in found] == ["課題\n\nfirst\n", "課題\n\nlater\n", "課題\n\nlater\n"]


def test_contexts_reach_lines_together(jail: JailPool) -> None:
    assert jail.coverage("team", TEXT, at(2), MIXSEEK) == Coverage(frozenset({1, 2, 3}), frozenset({5}))
    assert jail.coverage("team", TEXT, at(1, 2), MIXSEEK).unreached == frozenset()


@pytest.mark.slow
@pytest.mark.parametrize("text", [FORBIDDEN, "{% if %}", HANGS])
def test_a_text_that_is_refused_or_stopped_reaches_nothing(jail: JailPool, text: str) -> None:
    assert jail.coverage("team", text, at(1), MIXSEEK) == Coverage()


@pytest.mark.slow
def test_landmarks_are_the_builders_and_none_for_a_refused_text(jail: JailPool) -> None:
    assert jail.landmarks([TEXT, FORBIDDEN, "a {{ user_prompt }}"], MIXSEEK) == [
        landmarks(TEXT, MIXSEEK),
        None,
        landmarks("a {{ user_prompt }}", MIXSEEK),
    ]


@pytest.mark.slow
def test_unused_variables_are_named_and_none_for_a_refused_text(jail: JailPool) -> None:
    assert "ranking_table" in jail.unused("team", TEXT, MIXSEEK)
    assert "round_number" not in jail.unused("team", TEXT, MIXSEEK)
    assert jail.unused("team", FORBIDDEN, MIXSEEK) == frozenset()
