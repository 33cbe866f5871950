"""Charts of how scores lie: dots and boxes in rows, one for each group, and columns for ranges of scores.

Used by the pages of a run's scores, out of values or of figures that the database worked out.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles

from django.utils.safestring import SafeString

from builder.leaderboard import Distribution
from studio.shell.charts.scale import Scale, drawable, grid_class, scale
from studio.shell.charts.svg import WIDTH, Chart, Words, drawing, line, shortened, tag, text
from studio.shell.numbers import score

_BOTTOM = 46.0
_LEFT, _RIGHT, _TOP, _ROW = 176.0, 76.0, 12.0, 34.0
_COLUMNS_HEIGHT, _COLUMNS_LEFT, _COLUMNS_RIGHT, _COLUMNS_TOP, _BOX_ROOM = 306.0, 56.0, 34.0, 28.0, 44.0
_NAME_ROOM = 22
_DOTS = 250
"""More dots than this in a row hide one another; the box says what they would."""
_JITTER = (0.0, -4.0, 4.0, -2.0, 2.0, -6.0, 6.0)


@dataclass(frozen=True)
class Group:
    """Values that belong together, such as a team's best scores."""

    name: str
    values: tuple[float | None, ...]
    url: str = ""
    """Where its row leads."""


@dataclass(frozen=True)
class Box:
    """Scores that belong together, such as a team's, as figures."""

    name: str
    scores: Distribution
    url: str = ""


def strip_chart(identity: str, groups: Sequence[Group], words: Words) -> Chart:
    """Every value a dot, with the middle half and the median drawn over them."""
    values = drawable(value for group in groups for value in group.values)
    if not values:
        return Chart()
    across = scale(values, _LEFT + 8, WIDTH - _RIGHT)
    rows = [(group.name, group.url, _dots(group, across, _middle(at))) for at, group in enumerate(groups)]
    left_out = sum(len(group.values) for group in groups) - len(values)
    return Chart(_rows(identity, rows, across, words), left_out=left_out)


def box_chart(identity: str, boxes: Sequence[Box], words: Words) -> Chart:
    """The middle half, the median and the ends of each group that has scores."""
    boxes = [box for box in boxes if box.scores.count]
    ends = [end for box in boxes for end in (box.scores.minimum, box.scores.maximum) if end is not None]
    if not ends:
        return Chart()
    across = scale(ends, _LEFT + 8, WIDTH - _RIGHT)
    rows = [
        (
            box.name,
            box.url,
            [_box(box.scores, across, _middle(at)), _median_text(box.scores.median, _middle(at))],
        )
        for at, box in enumerate(boxes)
    ]
    return Chart(_rows(identity, rows, across, words))


def spread_chart(identity: str, scores: Distribution, words: Words) -> Chart:
    """A column for each range of scores; below them the middle half, the median and the ends."""
    if not scores.bins:
        return Chart()
    left, right, floor = _COLUMNS_LEFT, WIDTH - _COLUMNS_RIGHT, _COLUMNS_HEIGHT - _BOTTOM - _BOX_ROOM
    across = scale([scores.bins[0].low, scores.bins[-1].high], left, right, about=8)
    up = scale([0, max(column.count for column in scores.bins)], floor, _COLUMNS_TOP, about=4)
    parts = [text(left - 8, 13, words.up, "axis-name", "start")] if words.up else []
    for tick in up.ticks:
        if tick == int(tick):
            parts.append(line(left, up.at(tick), right, up.at(tick), "grid"))
            parts.append(text(left - 8, up.at(tick) + 4, f"{tick:,.0f}", "tick", "end"))
    for column in scores.bins:
        start, end, top = across.at(column.low), across.at(column.high), up.at(column.count)
        gap = 1.0 if end - start > 4 else 0.0
        width = max(end - start - 2 * gap, 0.5)
        bar = {"class": "bar", "x": start + gap, "y": top, "width": width, "height": floor - top}
        says = tag("title", {}, f"{score(column.low)} – {score(column.high)}: {column.count}")
        parts.append(tag("rect", bar, says))
        if column.count and end - start >= 8 * len(str(column.count)) + 4:
            parts.append(text((start + end) / 2, top - 5, str(column.count), "bar-count", "middle"))
    parts.append(line(left, floor, right, floor, "axis"))
    parts.append(_box(scores, across, floor + 18))
    parts += _ticks(across, floor + _BOX_ROOM)
    if words.across:
        parts.append(text((left + right) / 2, floor + _BOX_ROOM + 38, words.across, "axis-name", "middle"))
    return Chart(drawing(identity, words, _COLUMNS_HEIGHT, *parts))


def _rows(
    identity: str, rows: Sequence[tuple[str, str, list[SafeString]]], across: Scale, words: Words
) -> SafeString:
    """Named rows, one below the other on one scale."""
    bottom = _TOP + _ROW * len(rows)
    parts = [
        line(across.at(tick), _TOP, across.at(tick), bottom, grid_class(across, tick))
        for tick in across.ticks
    ]
    parts += _ticks(across, bottom)
    parts.append(line(_LEFT, bottom, WIDTH - _RIGHT, bottom, "axis"))
    for at, (name, url, drawn) in enumerate(rows):
        place = {"class": "row-name", "x": _LEFT - 10, "y": _middle(at) + 4, "text-anchor": "end"}
        named = tag("text", place, tag("title", {}, name), shortened(name, _NAME_ROOM))
        row = tag("g", {"class": "strip"}, named, *drawn)
        parts.append(tag("a", {"href": url, "aria-label": name}, row) if url else row)
    if words.across:
        parts.append(text((_LEFT + WIDTH - _RIGHT) / 2, bottom + 38, words.across, "axis-name", "middle"))
    has_links = any(url for _name, url, _drawn in rows)
    return drawing(identity, words, bottom + _BOTTOM, *parts, has_links=has_links)


def _middle(row: int) -> float:
    return _TOP + _ROW * (row + 0.5)


def _dots(group: Group, across: Scale, y: float) -> list[SafeString]:
    values = sorted(drawable(group.values))
    if not values:
        return []
    parts = []
    if len(values) >= 4:
        low, _, high = quantiles(values, n=4, method="inclusive")
        parts.append(line(across.at(values[0]), y, across.at(values[-1]), y, "whisker"))
        parts.append(_middle_half(across.at(low), across.at(high), y))
    if len(values) <= _DOTS:
        for at, value in enumerate(values):
            # Equal scores must not pass for one; the pattern is the same on every visit.
            dot = {"class": "dot", "cx": across.at(value), "cy": y + _JITTER[at % len(_JITTER)], "r": 2.6}
            parts.append(tag("circle", dot, tag("title", {}, f"{group.name} · {score(value)}")))
    x = across.at(median(values))
    return [*parts, line(x, y - 12, x, y + 12, "median"), _median_text(median(values), y)]


def _box(scores: Distribution, across: Scale, y: float) -> SafeString:
    figures = (scores.minimum, scores.lower_quartile, scores.median, scores.upper_quartile, scores.maximum)
    low, lower, middle, upper, high = (across.at(figure or 0.0) for figure in figures)
    return tag(
        "g",
        {"class": "strip"},
        tag("title", {}, " · ".join(score(figure) for figure in figures)),
        line(low, y, high, y, "whisker"),
        line(low, y - 5, low, y + 5, "whisker"),
        line(high, y - 5, high, y + 5, "whisker"),
        _middle_half(lower, upper, y),
        line(middle, y - 12, middle, y + 12, "median"),
    )


def _middle_half(lower: float, upper: float, y: float) -> SafeString:
    return tag(
        "rect", {"class": "box", "x": lower, "y": y - 9, "width": max(upper - lower, 1.0), "height": 18}
    )


def _median_text(value: float | None, y: float) -> SafeString:
    return text(WIDTH - 4, y + 4, score(value), "row-score", "end")


def _ticks(across: Scale, y: float) -> list[SafeString]:
    every = math.ceil(len(across.ticks) / 12)
    return [
        text(across.at(tick), y + 18, across.label(tick), "tick", "middle") for tick in across.ticks[::every]
    ]
