"""How many runs a comparison of two prompts needs: what those so far can show, and how many more it takes.

Planning for the tests of ``statistics``, from the spread of the scores seen so far: a true difference shows
when it comes out significant (5 %) in 4 of 5 comparisons (80 % power). Further runs are taken to come in
equal numbers on both sides and, where tasks are shared, spread evenly over those.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist, variance
from typing import Literal, Protocol

from builder.results.statistics import (
    CONFIDENCE,
    FEWEST_FREEDOM,
    FEWEST_RUNS,
    Method,
    finite_by_task,
    incomplete_beta,
    quantile,
    welch_error,
    within_tasks,
)

POWER = 0.8
MOST_RUNS = 10_000
"""More than so many further runs are not counted."""

_LEAST = NormalDist().inv_cdf(1 - (1 - CONFIDENCE) / 2) + NormalDist().inv_cdf(POWER)
"""Standard errors from zero with 80 % power, however many runs there are."""

Lacking = Literal["runs", "spread"]


class Design(Protocol):
    """The spread of two sides' scores, and how their runs lie."""

    @property
    def method(self) -> Method: ...

    @property
    def runs(self) -> tuple[int, int]:
        """Those that a test rests on, older and newer."""

    def after(self, more: int) -> tuple[float, float]:
        """Standard error and degrees of freedom with so many further runs on each side."""


@dataclass(frozen=True)
class PairedDesign:
    """Runs of shared tasks: how many there are of each, and the variance within tasks."""

    counts: tuple[tuple[int, int], ...]
    variance: float

    method: Method = "paired"

    @property
    def runs(self) -> tuple[int, int]:
        return sum(old for old, _ in self.counts), sum(new for _, new in self.counts)

    def after(self, more: int) -> tuple[float, float]:
        each, rest = divmod(more, len(self.counts))
        # The tasks with the fewest runs are the first to get another one.
        counts = [
            (old + each + (at < rest), new + each + (at < rest))
            for at, (old, new) in enumerate(sorted(self.counts, key=sum))
        ]
        weight = sum(old * new / (old + new) for old, new in counts)
        freedom = sum(map(sum, counts)) - len(counts) - 1
        return math.sqrt(self.variance / weight), freedom


@dataclass(frozen=True)
class WelchDesign:
    """Runs of different tasks: how many, and how much each side varies."""

    runs: tuple[int, int]
    variances: tuple[float, float]

    method: Method = "welch"

    def after(self, more: int) -> tuple[float, float]:
        return welch_error((self.runs[0] + more, self.runs[1] + more), self.variances)


def design(old: Mapping[str, Sequence[float]], new: Mapping[str, Sequence[float]]) -> Design | Lacking:
    """How the scores of two sides, each by task, will be compared; or what is lacking to say.

    The choice is that of ``statistics.difference``. With fewer runs than it asks for, tasks that both ran
    twice in all tell how much scores vary within them.
    """
    before, after = finite_by_task(old), finite_by_task(new)
    sides = [[score for scores in side.values() for score in scores] for side in (before, after)]
    fewest = min(map(len, sides))
    within = within_tasks(before, after)
    least = (FEWEST_FREEDOM, FEWEST_RUNS) if fewest >= FEWEST_RUNS else (1, 1)
    if within and within.freedom >= least[0] and min(within.runs) >= least[1]:
        found: Design = PairedDesign(within.counts, within.squares / within.freedom)
    elif fewest >= 2:
        found = WelchDesign((len(sides[0]), len(sides[1])), (variance(sides[0]), variance(sides[1])))
    else:
        return "runs"
    # What differs by rounding alone does not vary.
    return found if found.after(0)[0] > 1e-9 * max(map(abs, sides[0] + sides[1])) else "spread"


def smallest_difference(found: Design, more: int = 0) -> float | None:
    """The smallest true difference that shows with so many further runs; None where no test is made yet."""
    if min(found.runs) + more < FEWEST_RUNS:
        return None
    error, freedom = found.after(more)
    return None if freedom < FEWEST_FREEDOM else noncentrality(freedom) * error


def more_runs(found: Design, difference: float) -> int | None:
    """How many further runs each side needs until so large a difference shows; None above MOST_RUNS."""

    def shows(more: int) -> bool:
        smallest = smallest_difference(found, more)
        return smallest is not None and smallest <= difference

    # Fewer than a test with known spread would need are not worth a try.
    known = _first(lambda more: _LEAST * found.after(more)[0] <= difference, 0, 1024)
    return None if known is None else _first(shows, known, 1)


def _first(holds: Callable[[int], bool], start: int, stride: int) -> int | None:
    """The first number from ``start`` on at which something holds that holds from there on."""
    if holds(start):
        return start
    too_few = start
    while not holds(enough := min(too_few + stride, MOST_RUNS)):
        if enough >= MOST_RUNS:
            return None
        too_few, stride = enough, stride * 2
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        too_few, enough = (too_few, middle) if holds(middle) else (middle, enough)
    return enough


# --- the noncentral t --------------------------------------------------------------------


def power(shift: float, freedom: float) -> float:
    """How often a two-sided t-test is significant where the truth is so many standard errors from zero."""
    # The square of a noncentral t: P(T² ≤ t²) = Σ Poisson(j; shift²/2) · I(j + ½, freedom/2).
    t = quantile(freedom)
    x, b = t * t / (freedom + t * t), freedom / 2
    middle = shift * shift / 2
    reach = 9 * math.sqrt(middle + 1) + 9
    first, last = max(int(middle - reach), 0), int(middle + reach)
    share = math.exp(first * math.log(middle) - middle - math.lgamma(first + 1)) if middle else 1.0
    a = first + 0.5
    within = incomplete_beta(a, b, x)
    step = math.exp(
        math.lgamma(a + b) - math.lgamma(a + 1) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    missed = 0.0
    for j in range(first, last + 1):
        missed += share * within
        share *= middle / (j + 1)
        within -= step
        step *= x * (a + b) / (a + 1)
        a += 1
    return 1 - missed


@lru_cache(maxsize=4096)
def noncentrality(freedom: float) -> float:
    """How many standard errors from zero the truth must be for a test to have 80 % power."""
    # Close already; then by the secant, for the power rises smoothly.
    before = quantile(freedom) + quantile(freedom, 2 * POWER - 1)
    here = before * 1.01
    low, value = power(before, freedom) - POWER, power(here, freedom) - POWER
    for _ in range(50):
        if abs(value) < 1e-12 or value == low:
            break
        before, here = here, here - value * (here - before) / (value - low)
        low, value = value, power(here, freedom) - POWER
    return here
