"""What is said to be stable begins every render whose more stable values are the same."""

from collections import Counter
from random import Random

import pytest

from builder.cache.cacheable_prefix import LEVELS
from builder.cache.outline import outline
from builder.cache.volatility import CLASSES
from builder.errors import TemplateFailure
from builder.problems import errors_in
from builder.template.check import check
from builder.template.dialect import CONTRACT, MIXSEEK
from builder.template.render import render
from builder.template.variables import KINDS, VARIABLES
from tests.builder.cacheable_prefix_grammar import PrefixGrammar, values
from tests.fuzzing import share_of


def compare(seed: int, counts: Counter[str], *, both_ways: bool = False) -> None:
    """Render a random template with pairs of contexts that differ above a level only."""
    random = Random(seed)
    kind = random.choice(KINDS)
    text = PrefixGrammar(random, kind).template()
    dialect = random.choice((CONTRACT, MIXSEEK))
    one = values(random, kind)
    counts["templates"] += 1
    if errors_in(check(kind, text)):
        counts["refused"] += 1
        return
    try:
        found = outline(kind, text, one, dialect)
    except TemplateFailure:
        counts["failed"] += 1
        return
    assert found.text == render(kind, text, one, dialect)
    classes = {each.name: CLASSES[each.changes] for each in VARIABLES[kind]}
    for level in LEVELS:
        stable = found.prefixes[level].text
        for number in range(3):
            other = values(random, kind)
            other |= {name: value for name, value in one.items() if classes[name] <= level}
            try:
                prompt = render(kind, text, other, dialect)
            except TemplateFailure:
                counts["failed"] += 1
                continue
            assert prompt.startswith(stable), (seed, level, text, one, other)
            if both_ways and number == 0:
                # It is the same text, whichever of the two was analysed.
                assert outline(kind, text, other, dialect).prefixes[level].text == stable, (seed, level, text)
            counts["compared"] += 1
            counts["whole"] += stable == prompt
            counts["nothing"] += not stable


def test_what_is_guaranteed_holds() -> None:
    counts: Counter[str] = Counter()
    for seed in range(40):
        compare(seed, counts)
    assert counts["compared"] > 250


@pytest.mark.slow
@pytest.mark.parametrize("part", range(share_of(5)))
def test_what_is_guaranteed_holds_in_many_comparisons(part: int) -> None:
    """With --thorough ten thousand."""
    counts: Counter[str] = Counter()
    seed = (part + 1) * 1_000_000
    while counts["compared"] < 2_000:
        compare(seed, counts, both_ways=True)
        seed += 1
    # The generator must neither be tame nor hopeless.
    assert counts["refused"] < counts["templates"] / 2
    assert counts["failed"] < counts["compared"] / 2
    assert counts["whole"] + counts["nothing"] < counts["compared"] * 2 / 3
