"""Scales of charts: where a value stands in a drawing, with ticks that people can read, and the left axis."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.formats import number_format
from django.utils.safestring import SafeString

from studio.shell.charts.svg import line, text

_LARGEST = 1e300
"""Beyond it the difference of two numbers may be none; nobody sees more in a drawing anyway."""


def drawable(values: Iterable[float | None]) -> list[float]:
    """The values that have a place: NaN, infinities and nothing have none."""
    return [_clamped(value) for value in values if value is not None and math.isfinite(value)]


def _clamped(value: float) -> float:
    return min(max(float(value), -_LARGEST), _LARGEST)


@dataclass(frozen=True)
class Scale:
    """Places values between two pixels; ``ticks`` are round numbers within the range."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...]
    step: float

    def at(self, value: float) -> float:
        share = (_clamped(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def label(self, tick: float) -> str:
        """A tick's number, with the digits that tell it from the next."""
        size = max(abs(self.low), abs(self.high))
        if size >= 1e7 or self.step < 1e-6:
            return f"{tick:.4g}".replace("-", "−", 1)
        places = next(places for places in range(9) if math.isclose(round(self.step, places), self.step))
        # 0.30000000000000004 is no tick anybody wants; neither is -0.
        return str(number_format(round(tick, places) + 0.0, places)).replace("-", "−", 1)


def scale(values: Iterable[float], start: float, end: float, *, about: int = 5) -> Scale:
    """A scale whose ends are ticks, so that every value stands between two of them."""
    values = list(values)
    low, high = min(values), max(values)
    if high - low < 1e-9 * max(abs(low), abs(high), 1.0):
        # One value: it stands in the middle, among its neighbours.
        room = max(abs(low) * 0.05, 1.0)
        low, high = low - room, high + room
    step = _round_step((high - low) / about)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(step * number for number in range(first, last + 1))
    return Scale(ticks[0], ticks[-1], start, end, ticks, step)


def counting_scale(low: int, high: int, start: float, end: float, *, at_most: int = 12) -> Scale:
    """A scale over whole numbers, such as rounds; one number alone stands in the middle."""
    step = max(1, int(_round_step((high - low) / at_most))) if high - low > at_most else 1
    ticks = tuple(float(number) for number in range(low, high + 1, step))
    if low == high:
        return Scale(low - 1.0, high + 1.0, start, end, ticks, 1.0)
    return Scale(float(low), float(high), start, end, ticks, float(step))


def grid_class(axis: Scale, tick: float) -> str:
    """The class of a tick's line: where the axis goes below zero, zero itself stands out."""
    return "grid zero" if tick == 0 and axis.low < 0 else "grid"


def left_axis(up: Scale, left: float, right: float, name: str) -> list[SafeString]:
    """The axis of values at the left of a chart, with a line across at each tick."""
    parts = [text(left - 8, 13, name, "axis-name", "start")] if name else []
    for tick in up.ticks:
        parts.append(line(left, up.at(tick), right, up.at(tick), grid_class(up, tick)))
        parts.append(text(left - 8, up.at(tick) + 4, up.label(tick), "tick", "end"))
    return parts


def _round_step(rough: float) -> float:
    size = 10.0 ** math.floor(math.log10(rough))
    return next(factor * size for factor in (1.0, 2.0, 2.5, 5.0, 10.0) if factor * size >= rough * (1 - 1e-9))
