"""Scores of two prompts side by side: how sure their means are, and whether they differ significantly.

Student's t throughout. Where the same tasks ran on both sides they are compared within each task
(the paired t-test, for any number of runs per task: a two-way layout without interaction); else by
Welch's test, which does not ask the two sides to vary alike.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean, variance
from typing import Literal

CONFIDENCE = 0.95
FEWEST_RUNS = 3
"""On each side. With two, one lucky run decides."""
FEWEST_FREEDOM = 2
"""Degrees of freedom that runs of shared tasks must leave to be compared within their tasks."""
_LARGEST = 1e100

Method = Literal["paired", "welch"]


@dataclass(frozen=True)
class Estimate:
    """A mean and the interval that covers the true one in 95 of 100 cases; None where one run tells none."""

    mean: float
    runs: int
    low: float | None = None
    high: float | None = None

    @property
    def margin(self) -> float | None:
        """The ± of the mean."""
        return None if self.high is None else self.high - self.mean


@dataclass(frozen=True)
class Difference:
    """What the newer side has more than the older, and how that was found.

    ``runs`` are those that the figures rest on, older and newer; ``tasks`` the tasks they share.
    """

    mean: float
    low: float
    high: float
    p: float
    method: Method
    runs: tuple[int, int]
    tasks: int = 0

    @property
    def significant(self) -> bool:
        """Whether chance alone would show so much in fewer than 5 of 100 comparisons."""
        return self.p < 1 - CONFIDENCE


def estimate(scores: Iterable[float]) -> Estimate | None:
    """The mean of scores with its interval; None without scores.

    >>> estimate([80.0, 82.0, 84.0]).mean
    82.0
    """
    values = _finite(scores)
    if not values:
        return None
    mean = fmean(values)
    if len(values) < 2:
        return Estimate(mean, len(values))
    margin = quantile(len(values) - 1) * math.sqrt(variance(values) / len(values))
    return Estimate(mean, len(values), mean - margin, mean + margin)


def difference(old: Mapping[str, Sequence[float]], new: Mapping[str, Sequence[float]]) -> Difference | None:
    """Compare the scores of two sides, each by task; None means too few runs.

    Which method is taken depends on which tasks ran, never on the scores.
    """
    before, after = finite_by_task(old), finite_by_task(new)
    if min(_runs(before), _runs(after)) < FEWEST_RUNS:
        return None
    within = within_tasks(before, after)
    if within and within.freedom >= FEWEST_FREEDOM and min(within.runs) >= FEWEST_RUNS:
        error = math.sqrt(within.squares / within.freedom / within.weight)
        return _difference(within.mean, error, within.freedom, "paired", within.runs, len(within.counts))
    return _welch(before, after)


@dataclass(frozen=True)
class WithinTasks:
    """The runs of tasks that both sides ran: the difference within tasks, and what it leaves unexplained."""

    counts: tuple[tuple[int, int], ...]
    """Runs of each task, older and newer."""
    weight: float
    mean: float
    squares: float

    @property
    def runs(self) -> tuple[int, int]:
        return sum(old for old, _ in self.counts), sum(new for _, new in self.counts)

    @property
    def freedom(self) -> int:
        return sum(self.runs) - len(self.counts) - 1


def within_tasks(
    old: Mapping[str, Sequence[float]], new: Mapping[str, Sequence[float]]
) -> WithinTasks | None:
    """The layout of shared tasks; None without one."""
    shared = sorted(old.keys() & new.keys())
    if not shared:
        return None
    # A task counts by how much it can tell: one run against ten tells little more than one against one.
    weights = {task: len(old[task]) * len(new[task]) / (len(old[task]) + len(new[task])) for task in shared}
    total = sum(weights.values())
    gaps = {task: fmean(new[task]) - fmean(old[task]) for task in shared}
    mean = sum(weights[task] * gaps[task] for task in shared) / total
    squares = sum(
        _squares(old[task]) + _squares(new[task]) + weights[task] * (gaps[task] - mean) ** 2
        for task in shared
    )
    return WithinTasks(tuple((len(old[task]), len(new[task])) for task in shared), total, mean, squares)


def _welch(old: Mapping[str, Sequence[float]], new: Mapping[str, Sequence[float]]) -> Difference:
    older, newer = _together(old), _together(new)
    runs = len(older), len(newer)
    error, freedom = welch_error(runs, (variance(older), variance(newer)))
    return _difference(fmean(newer) - fmean(older), error, freedom, "welch", runs, 0)


def welch_error(runs: tuple[int, int], variances: tuple[float, float]) -> tuple[float, float]:
    """Standard error and degrees of freedom (Welch–Satterthwaite) of the difference of two means."""
    parts = [spread / number for spread, number in zip(variances, runs, strict=True)]
    squares = sum(part**2 / (number - 1) for part, number in zip(parts, runs, strict=True))
    # Where nothing varies there is no freedom to estimate.
    freedom = sum(parts) ** 2 / squares if squares else float(sum(runs) - 2)
    return math.sqrt(sum(parts)), freedom


def _difference(
    mean: float, error: float, freedom: float, method: Method, runs: tuple[int, int], tasks: int
) -> Difference:
    p = two_sided(mean / error, freedom) if error else float(not mean)
    margin = quantile(freedom) * error
    return Difference(mean, mean - margin, mean + margin, p, method, runs, tasks)


def finite_by_task(side: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    """The scores of a side that are numbers; tasks without any are left out."""
    return {task: values for task, scores in side.items() if (values := _finite(scores))}


def _finite(scores: Iterable[float]) -> list[float]:
    return [score for score in scores if is_measured(score)]


def is_measured(score: float) -> bool:
    """Whether a score can be reckoned with: a failed evaluator leaves nan, squares of a wild one overflow."""
    return abs(score) < _LARGEST


def _runs(side: Mapping[str, Sequence[float]]) -> int:
    return sum(map(len, side.values()))


def _together(side: Mapping[str, Sequence[float]]) -> list[float]:
    return [score for task in sorted(side) for score in side[task]]


def _squares(scores: Sequence[float]) -> float:
    mean = fmean(scores)
    return sum((score - mean) ** 2 for score in scores)


# --- Student's t -------------------------------------------------------------------------


def two_sided(t: float, freedom: float) -> float:
    """How often chance alone gives a t at least so far from zero."""
    return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t))


@lru_cache(maxsize=4096)
def quantile(freedom: float, confidence: float = CONFIDENCE) -> float:
    """The t that chance stays within, in so many of all cases."""
    # The tail falls ever more slowly, so Newton's steps from zero never go too far. A page asks for many.
    log = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - math.log(freedom * math.pi) / 2
    t = 0.0
    for _ in range(200):
        density = math.exp(log - (freedom + 1) / 2 * math.log1p(t * t / freedom))
        step = (two_sided(t, freedom) - (1 - confidence)) / (2 * density)
        t += step
        if step <= t * 1e-14:
            break
    return t


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function, by its continued fraction."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):  # the fraction converges fast on the other side only
        return 1 - incomplete_beta(b, a, 1 - x)
    log = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(log) / a / _fraction(a, b, x)


def _fraction(a: float, b: float, x: float) -> float:
    # Lentz's method: both ends of the fraction are carried along, never touching zero.
    tiny = 1e-300
    value = upper = 1.0
    lower = 0.0
    for step in range(1, 1000):
        half = step // 2
        if step % 2:
            term = -(a + half) * (a + b + half) * x / ((a + 2 * half) * (a + 2 * half + 1))
        else:
            term = half * (b - half) * x / ((a + 2 * half - 1) * (a + 2 * half))
        lower = 1 / ((1 + term * lower) or tiny)
        upper = (1 + term / upper) or tiny
        value *= lower * upper
        if abs(lower * upper - 1) < 1e-15:
            break
    return value
