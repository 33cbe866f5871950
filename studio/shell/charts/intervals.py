"""A chart of means with their intervals, broken where the scoring basis changed. Used for versions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from django.utils.safestring import SafeString

from builder.results.statistics import FEWEST_RUNS, Estimate
from studio.shell.charts.lines import DASHES, NAMED, marker
from studio.shell.charts.scale import Scale, drawable, left_axis, scale
from studio.shell.charts.svg import WIDTH, Chart, Words, drawing, joined, line, tag, text
from studio.shell.numbers import score

_HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 340.0, 56.0, 24.0, 48.0, 50.0
_CAP = 5.0
_FIGURES = 14
"""With more points than this their figures would run into each other."""
_NAMES = 20


@dataclass(frozen=True)
class Point:
    """A mean at one place, such as a version or a round."""

    name: str
    estimate: Estimate
    says: str
    """All of it in words, on hover."""
    url: str = ""
    """Where it leads."""


@dataclass(frozen=True)
class Stretch:
    """Points that compare with one another; ``because`` says what set them apart from those before."""

    points: tuple[Point, ...]
    because: str = ""
    look: int = 0
    """Which colour, dash and marker; stretches of one scoring basis have the same."""


def interval_chart(identity: str, stretches: Sequence[Stretch], words: Words) -> Chart:
    """A mark for each mean and a bar for its interval; marks of one stretch are joined, and those alone."""
    shown = [point for stretch in stretches for point in stretch.points]
    values = drawable(value for point in shown for value in _reach(point.estimate))
    if not values:
        return Chart()
    up = scale(values, _HEIGHT - _BOTTOM, _TOP)
    step = (WIDTH - _LEFT - _RIGHT) / len(shown)
    places = [_LEFT + step * (number + 0.5) for number in range(len(shown))]
    parts, at = [], 0
    for number, stretch in enumerate(stretches):
        here = places[at : at + len(stretch.points)]
        if number and here:
            parts.append(_break(here[0] - step / 2, stretch.because))
        parts.append(_stretch(stretch.look % NAMED, stretch, here, up, figures=len(shown) <= _FIGURES))
        at += len(stretch.points)
    axes = _axes(shown, places, up, words)
    has_links = any(point.url for point in shown)
    return Chart(drawing(identity, words, _HEIGHT, axes, *parts, has_links=has_links))


def _reach(estimate: Estimate) -> Iterator[float | None]:
    """How far the axis must go. Two runs alone give an interval that would flatten all the others."""
    yield estimate.mean
    if estimate.runs >= FEWEST_RUNS:
        yield from (estimate.low, estimate.high)


def _axes(shown: Sequence[Point], places: Sequence[float], up: Scale, words: Words) -> SafeString:
    left, right, bottom = _LEFT, WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    parts = left_axis(up, left, right, words.up)
    every = -(-len(shown) // _NAMES)
    for number, (point, x) in enumerate(zip(shown, places, strict=True)):
        # The newest is the one that people look for: names are left out counting from it.
        if (len(shown) - 1 - number) % every == 0:
            parts.append(text(x, bottom + 20, point.name, "tick", "middle"))
    parts.append(line(left, bottom, right, bottom, "axis"))
    if words.across:
        parts.append(text((left + right) / 2, bottom + 44, words.across, "axis-name", "middle"))
    return tag("g", {"class": "axes"}, *parts)


def _break(x: float, because: str) -> SafeString:
    return tag(
        "g",
        {"class": "basis-break"},
        tag("title", {}, because),
        line(x, _TOP - 13, x, _HEIGHT - _BOTTOM + 26, "break"),
        tag("path", {"class": "break-sign", "d": f"M{x - 5:.1f} {_TOP - 22:.1f}h10l-5 9z"}),
    )


def _stretch(look: int, stretch: Stretch, places: Sequence[float], up: Scale, *, figures: bool) -> SafeString:
    dash = {"stroke-dasharray": DASHES[look]} if DASHES[look] else {}
    points = list(zip(stretch.points, places, strict=True))
    ends = [(x, up.at(point.estimate.mean)) for point, x in points]
    joins = [
        tag("line", {"class": "line", "x1": x1, "y1": y1, "x2": x2, "y2": y2, **dash})
        for (x1, y1), (x2, y2) in pairwise(ends)
    ]
    marks = [_leading(point, _mark(look, point, x, up, figures), stretch) for point, x in points]
    return tag("g", {"class": f"interval look-{look + 1}"}, joined(joins), joined(marks))


def _leading(point: Point, mark: SafeString, stretch: Stretch) -> SafeString:
    """The mark as a link, where the point leads somewhere. Tab stops at the end of each line only."""
    if not point.url:
        return mark
    stop = {"aria-label": point.says} if point is stretch.points[-1] else {"tabindex": "-1"}
    return tag("a", {"href": point.url} | stop, mark)


def _mark(look: int, point: Point, x: float, up: Scale, figures: bool) -> SafeString:
    mean = point.estimate.mean
    return tag(
        "g",
        {"class": "point"},
        tag("title", {}, point.says),
        *_bar(point.estimate, x, up),
        # A mark of eight pixels is hard to point at.
        *([tag("circle", {"class": "hit", "cx": x, "cy": up.at(mean), "r": 11})] if point.url else []),
        marker(look, x, up.at(mean), ""),
        *([text(x + 9, up.at(mean) - 7, score(mean), "point-score")] if figures else []),
    )


def _bar(estimate: Estimate, x: float, up: Scale) -> Iterator[SafeString]:
    if estimate.low is None or estimate.high is None:
        return
    low, high = max(estimate.low, up.low), min(estimate.high, up.high)
    yield line(x, up.at(low), x, up.at(high), "whisker")
    # An end without a cap goes on beyond the drawing.
    for end, reached in ((estimate.low, low), (estimate.high, high)):
        if end == reached:
            yield line(x - _CAP, up.at(end), x + _CAP, up.at(end), "whisker")
