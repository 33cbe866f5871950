"""Scores of two prompts side by side: how sure their means are, and whether they differ beyond noise.

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
    def more_than_noise(self) -> bool:
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
    before = {task: values for task, scores in old.items() if (values := _finite(scores))}
    after = {task: values for task, scores in new.items() if (values := _finite(scores))}
    if min(_runs(before), _runs(after)) < FEWEST_RUNS:
        return None
    return _within_tasks(before, after) or _welch(before, after)


def _within_tasks(
    old: Mapping[str, Sequence[float]], new: Mapping[str, Sequence[float]]
) -> Difference | None:
    shared = sorted(old.keys() & new.keys())
    older, newer = (sum(len(side[task]) for task in shared) for side in (old, new))
    freedom = older + newer - len(shared) - 1
    if freedom < FEWEST_FREEDOM or min(older, newer) < FEWEST_RUNS:
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
    error = math.sqrt(squares / freedom / total)
    return _difference(mean, error, freedom, "paired", (older, newer), len(shared))


def _welch(old: Mapping[str, Sequence[float]], new: Mapping[str, Sequence[float]]) -> Difference:
    older, newer = _together(old), _together(new)
    parts = [variance(side) / len(side) for side in (older, newer)]
    # Where nothing varies there is no freedom to estimate.
    spread = sum(part**2 / (len(side) - 1) for part, side in zip(parts, (older, newer), strict=True))
    freedom = sum(parts) ** 2 / spread if spread else float(len(older) + len(newer) - 2)
    mean = fmean(newer) - fmean(older)
    return _difference(mean, math.sqrt(sum(parts)), freedom, "welch", (len(older), len(newer)), 0)


def _difference(
    mean: float, error: float, freedom: float, method: Method, runs: tuple[int, int], tasks: int
) -> Difference:
    p = two_sided(mean / error, freedom) if error else float(not mean)
    margin = quantile(freedom) * error
    return Difference(mean, mean - margin, mean + margin, p, method, runs, tasks)


def _finite(scores: Iterable[float]) -> list[float]:
    # An evaluator that failed leaves nan.
    return [score for score in scores if math.isfinite(score)]


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
    return _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t))


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


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function, by its continued fraction."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):  # the fraction converges fast on the other side only
        return 1 - _incomplete_beta(b, a, 1 - x)
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
