"""Intervals of numbers: the least and the greatest that an expression can give. Used by ``sizes``."""

import math
from collections.abc import Sequence

Interval = tuple[float, float]
ANY: Interval = (-math.inf, math.inf)


def union(intervals: Sequence[Interval]) -> Interval:
    if not intervals:
        return ANY
    return (min(low for low, _ in intervals), max(high for _, high in intervals))


def ordered(ends: Sequence[float]) -> Interval:
    return ANY if any(map(math.isnan, ends)) else (min(ends), max(ends))


def as_float(value: int | float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
