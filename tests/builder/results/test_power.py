"""What so many runs can show and how many more it takes, checked against scipy and by simulation."""

import math
import random
from statistics import fmean, stdev

import pytest
from scipy import stats

from builder.results.power import (
    MOST_RUNS,
    Design,
    PairedDesign,
    WelchDesign,
    design,
    more_runs,
    noncentrality,
    power,
    smallest_difference,
)
from builder.results.statistics import difference


def by_task(*scores: float, prefix: str = "t") -> dict[str, list[float]]:
    return {f"{prefix}{at}": [score] for at, score in enumerate(scores)}


def scipys_power(shift: float, freedom: float) -> float:
    """By the noncentral t; by the noncentral F, where scipy's t has no figure for the far tail."""
    t = stats.t.ppf(0.975, freedom)
    both = float(stats.nct.sf(t, freedom, shift) + stats.nct.cdf(-t, freedom, shift))
    return float(stats.ncf.sf(t * t, 1, freedom, shift * shift)) if math.isnan(both) else both


@pytest.mark.parametrize("freedom", [2, 2.7, 4, 9.5, 22, 60, 198, 2000])
def test_power_is_scipys_noncentral_t(freedom: float) -> None:
    for shift in (0.0, 0.01, 0.5, 1.7, 2.8, 4.2, 7.5, 12.0):
        assert power(shift, freedom) == pytest.approx(scipys_power(shift, freedom), abs=1e-10)
    assert scipys_power(noncentrality(freedom), freedom) == pytest.approx(0.8, abs=1e-9)


def test_with_equal_sides_the_numbers_are_those_of_the_textbooks() -> None:
    # Cohen: 26, 64 and 394 runs on each side for effects of 0.8, 0.5 and 0.2 standard deviations.
    for effect, runs in ((0.8, 26), (0.5, 64), (0.2, 394)):
        assert more_runs(WelchDesign((3, 3), (1.0, 1.0)), effect) == runs - 3
        smallest = smallest_difference(WelchDesign((runs, runs), (1.0, 1.0)))
        assert smallest is not None and smallest <= effect
    # One run of each task: the paired t-test, 34 pairs for half a standard deviation of their differences.
    pairs = PairedDesign(((1, 1),) * 34, 0.5)
    smallest = smallest_difference(pairs)
    assert smallest == pytest.approx(noncentrality(33) / math.sqrt(34)) and 0.49 < smallest <= 0.5


@pytest.mark.parametrize(
    ("old", "new", "method"),
    [
        (by_task(70, 74, 71, 78), by_task(75, 73, 80, 79, prefix="other"), "welch"),
        (by_task(70, 74, 71, 78), by_task(75, 73, 80, 79), "paired"),
        ({"a": [70.0, 72.0, 71.0], "b": [90.0]}, {"a": [73.0], "b": [93.0, 91.0]}, "paired"),
    ],
)
def test_the_spread_is_that_of_the_test_that_is_made(
    old: dict[str, list[float]], new: dict[str, list[float]], method: str
) -> None:
    found, made = design(old, new), difference(old, new)
    assert not isinstance(found, str) and made and found.method == made.method == method
    assert found.runs == made.runs
    error, freedom = found.after(0)
    assert made.high - made.mean == pytest.approx(stats.t.ppf(0.975, freedom) * error)
    smallest = smallest_difference(found)
    assert smallest is not None
    assert scipys_power(smallest / error, freedom) == pytest.approx(0.8, abs=1e-9)


def test_more_runs_are_the_fewest_that_show_a_difference() -> None:
    chance = random.Random(16)
    for _ in range(20):
        counts = tuple((chance.randint(1, 5), chance.randint(1, 5)) for _ in range(chance.randint(2, 6)))
        welch = WelchDesign(
            (chance.randint(2, 30), chance.randint(2, 30)), (chance.random(), chance.random())
        )
        found: Design
        for found in (PairedDesign(counts, chance.random()), welch):
            wanted = chance.uniform(0.05, 2)
            more = more_runs(found, wanted)
            reached = [smallest_difference(found, at) for at in range((more or 0) + 3)]
            assert more is not None
            assert all(each is None or each > wanted for each in reached[:more])
            assert all(each is not None and each <= wanted for each in reached[more:])


def test_a_difference_out_of_reach_has_no_number() -> None:
    found = WelchDesign((3, 3), (100.0, 100.0))
    assert more_runs(found, 1e-6) is None
    smallest = smallest_difference(found, MOST_RUNS)
    assert smallest is not None and more_runs(found, smallest) == MOST_RUNS


def test_too_few_runs_or_no_spread_are_said() -> None:
    assert design({}, by_task(1, 2, 3)) == "runs"
    assert design(by_task(1), by_task(1, 2, 3, prefix="o")) == "runs"
    assert design(by_task(1, math.nan), by_task(1, 2, prefix="o")) == "runs"
    assert design(by_task(5, 5, 5), by_task(6, 6, 6, prefix="o")) == "spread"
    # Every task gained the same: within tasks nothing varies.
    assert design(by_task(70, 80, 90), by_task(71, 81, 91)) == "spread"
    two = design(by_task(70, 75), by_task(72, 80, prefix="o"))
    assert not isinstance(two, str) and smallest_difference(two) is None
    assert more_runs(two, 1000.0) == 1  # three runs on each side are the fewest that are compared


def standard(chance: random.Random, number: int, spread: float) -> list[float]:
    """Scores whose spread is exactly that."""
    raw = [chance.gauss(0, 1) for _ in range(number)]
    return [80 + spread * (value - fmean(raw)) / stdev(raw) for value in raw]


@pytest.mark.slow
def test_four_of_five_comparisons_show_the_smallest_difference() -> None:
    chance = random.Random(20261118)
    found = design(by_task(*standard(chance, 9, 4)), by_task(*standard(chance, 14, 7), prefix="other"))
    assert not isinstance(found, str)
    gain = smallest_difference(found)
    assert gain is not None
    more = more_runs(found, 3.0) or 0
    pairs = PairedDesign(((1, 1), (2, 1), (3, 2), (1, 4)), 16.0)
    paired_gain = smallest_difference(pairs)
    assert paired_gain is not None

    def tasks(at: int, gain: float) -> dict[str, list[float]]:
        return {
            str(task): [chance.gauss(hard[task] + gain, 4) for _ in range(counts[at])]
            for task, counts in enumerate(pairs.counts)
        }

    shown = [0, 0, 0]
    for _ in range(2000):
        hard = [chance.gauss(70, 15) for _ in pairs.counts]
        for at, made in enumerate(
            (
                difference(
                    by_task(*(chance.gauss(80, 4) for _ in range(9))),
                    by_task(*(chance.gauss(80 + gain, 7) for _ in range(14)), prefix="other"),
                ),
                difference(
                    by_task(*(chance.gauss(80, 4) for _ in range(9 + more))),
                    by_task(*(chance.gauss(83, 7) for _ in range(14 + more)), prefix="other"),
                ),
                difference(tasks(0, 0.0), tasks(1, paired_gain)),
            )
        ):
            assert made
            shown[at] += made.significant
    # Three standard errors of 2,000 trials are 2.7 in 100.
    assert all(0.773 <= each / 2000 <= 0.827 for each in shown), shown
