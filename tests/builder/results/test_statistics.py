"""Means, intervals and differences, checked against scipy."""

import math
import random
from collections import defaultdict
from collections.abc import Callable

import numpy
import pytest
from scipy import stats

from builder.results.statistics import Difference, difference, estimate, quantile, two_sided

OLD = [78.2, 81.5, 79.9, 84.0, 77.1, 80.3]
NEW = [83.1, 85.7, 82.2, 88.9, 81.0, 86.4, 90.2]


def apart(prefix: str, scores: list[float]) -> dict[str, list[float]]:
    """Each run with a task of its own."""
    return {f"{prefix}{number}": [score] for number, score in enumerate(scores)}


@pytest.mark.parametrize("freedom", [1, 1.7, 2, 3.5, 10, 37.2, 400, 1e6])
def test_students_t_is_scipys(freedom: float) -> None:
    for t in (0.0, 1e-9, 0.3, 1.0, 2.5, 9.0, 60.0):
        assert two_sided(t, freedom) == pytest.approx(2 * stats.t.sf(t, freedom), rel=1e-8, abs=1e-300)
    assert quantile(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=1e-9)


def test_an_interval_is_scipys() -> None:
    found = estimate(OLD)
    assert found and found.low is not None and found.high is not None
    low, high = stats.t.interval(0.95, len(OLD) - 1, numpy.mean(OLD), stats.sem(OLD))
    assert (found.low, found.high) == pytest.approx((low, high))
    assert found.runs == 6
    assert found.margin == pytest.approx(high - numpy.mean(OLD))


def test_one_run_has_a_mean_and_no_interval() -> None:
    found = estimate([70.0])
    assert found and (found.mean, found.runs, found.low, found.high, found.margin) == (
        70.0,
        1,
        None,
        None,
        None,
    )
    assert estimate([]) is None


def test_runs_without_a_shared_task_are_compared_by_welch() -> None:
    found = difference(apart("a", OLD), apart("b", NEW))
    expected = stats.ttest_ind(NEW, OLD, equal_var=False)
    interval = expected.confidence_interval(0.95)
    assert found and found.method == "welch" and found.runs == (6, 7)
    assert found.p == pytest.approx(expected.pvalue)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    assert found.significant


def test_one_run_per_shared_task_is_the_paired_test() -> None:
    found = difference(apart("t", OLD), apart("t", NEW[:6]))
    expected = stats.ttest_rel(NEW[:6], OLD)
    interval = expected.confidence_interval(0.95)
    assert found and found.method == "paired" and found.tasks == 6
    assert found.p == pytest.approx(expected.pvalue)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))


def test_several_runs_per_task_are_the_least_squares_fit() -> None:
    old = {"a": [70.0, 72.5], "b": [88.0], "c": [60.0, 61.0, 64.0], "only old": [10.0]}
    new = {"a": [75.0], "b": [90.0, 93.0, 91.0], "c": [66.0, 65.0], "only new": [99.0]}
    rows, scores = [], []
    for side, runs in ((0.0, old), (1.0, new)):
        for number, task in enumerate("abc"):
            for score in runs[task]:
                rows.append([side, *(float(number == each) for each in range(3))])
                scores.append(score)
    design, measured = numpy.array(rows), numpy.array(scores)
    fit, squares, *_ = numpy.linalg.lstsq(design, measured, rcond=None)
    freedom = len(scores) - 4
    error = math.sqrt(squares[0] / freedom * numpy.linalg.inv(design.T @ design)[0, 0])
    found = difference(old, new)
    assert found and found.method == "paired" and (found.runs, found.tasks) == ((6, 6), 3)
    assert found.mean == pytest.approx(fit[0])
    assert found.p == pytest.approx(2 * stats.t.sf(abs(fit[0] / error), freedom))


def test_pairs_find_what_the_tasks_difficulty_hides() -> None:
    tasks = {f"t{number}": [10.0 * number] for number in range(8)}
    better = {task: [score + 2 + 0.1 * (number % 3)] for number, (task, [score]) in enumerate(tasks.items())}
    paired, mixed = (
        difference(tasks, better),
        difference(tasks, {f"x{task}": better[task] for task in better}),
    )
    assert paired and paired.significant
    assert mixed and not mixed.significant


@pytest.mark.parametrize(
    ("old", "new"),
    [([], NEW), (OLD, []), (OLD[:2], NEW), (OLD, NEW[:2]), (OLD, [math.nan, 1.0, 2.0])],
)
def test_fewer_than_three_runs_on_a_side_are_too_few(old: list[float], new: list[float]) -> None:
    assert difference(apart("a", old), apart("b", new)) is None


def test_scores_that_are_no_numbers_are_left_out() -> None:
    found = estimate([*OLD, math.nan, math.inf])
    assert found == estimate(OLD)


def test_scores_that_never_vary_are_compared_all_the_same() -> None:
    same = difference({"a": [5.0] * 3}, {"b": [5.0] * 3})
    other = difference({"a": [5.0] * 3}, {"b": [6.0] * 3})
    assert same and (same.p, same.significant) == (1.0, False)
    assert other and (other.p, other.low, other.high, other.significant) == (0.0, 1.0, 1.0, True)


def welch_runs(chance: random.Random) -> Difference | None:
    """Twelve runs against eight that vary more, of Tasks differ and no effect."""
    old = [chance.gauss(80, 4) for _ in range(12)]
    new = [chance.gauss(80, 9) for _ in range(8)]
    return difference(apart("a", old), apart("b", new))


def paired_runs(chance: random.Random) -> Difference | None:
    """One to three runs for each of seven tasks that differ in difficulty; no effect."""
    sides: list[dict[str, list[float]]] = [defaultdict(list), defaultdict(list)]
    for number in range(7):
        hard = chance.gauss(70, 15)
        for side in sides:
            side[f"t{number}"] = [chance.gauss(hard, 4) for _ in range(chance.randint(1, 3))]
    return difference(*sides)


@pytest.mark.slow
@pytest.mark.parametrize("runs", [welch_runs, paired_runs])
def test_without_an_effect_about_one_in_twenty_looks_like_one(
    runs: Callable[[random.Random], Difference | None],
) -> None:
    chance = random.Random(20261116)
    found = [runs(chance) for _ in range(1000)]
    called = sum(each is not None and each.significant for each in found)
    assert 30 <= called <= 70
