"""How many scores lie where, out of figures that the database worked out: columns, and boxes side by side."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString

from builder.leaderboard import Distribution
from studio.shell.charts.scale import Scale, scale
from studio.shell.charts.svg import WIDTH, Chart, Words, drawing, line, shortened, tag, text
from studio.shell.numbers import score

_HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM, _BOX = 306.0, 56.0, 34.0, 28.0, 46.0, 44.0
_ROW_LEFT, _ROW_RIGHT, _ROW_TOP, _ROW = 176.0, 76.0, 12.0, 34.0
_NAME_ROOM = 22


@dataclass(frozen=True)
class Box:
    """Scores that belong together, such as a team's."""

    name: str
    scores: Distribution


def spread_chart(identity: str, scores: Distribution, words: Words) -> Chart:
    """A column for each range of scores; below them the middle half, the median and the ends."""
    if not scores.bins:
        return Chart()
    left, right, floor = _LEFT, WIDTH - _RIGHT, _HEIGHT - _BOTTOM - _BOX
    edges = [scores.bins[0].low, scores.bins[-1].high]
    across = scale(edges, left, right, about=8)
    up = scale([0, max(each.count for each in scores.bins)], floor, _TOP, about=4)
    parts = [text(left - 8, 13, words.up, "axis-name", "start")] if words.up else []
    for tick in up.ticks:
        if tick == int(tick):
            parts.append(line(left, up.at(tick), right, up.at(tick), "grid"))
            parts.append(text(left - 8, up.at(tick) + 4, f"{tick:,.0f}", "tick", "end"))
    for each in scores.bins:
        start, end, top = across.at(each.low), across.at(each.high), up.at(each.count)
        gap = 1.0 if end - start > 4 else 0.0
        bar: dict[str, object] = {
            "class": "bar",
            "x": start + gap,
            "y": top,
            "width": max(end - start - 2 * gap, 0.5),
            "height": floor - top,
        }
        says = tag("title", {}, f"{score(each.low)} – {score(each.high)}: {each.count}")
        parts.append(tag("rect", bar, says))
        if each.count and end - start >= 8 * len(str(each.count)) + 4:
            parts.append(text((start + end) / 2, top - 5, str(each.count), "bar-count", "middle"))
    parts.append(line(left, floor, right, floor, "axis"))
    parts.append(_box(scores, across, floor + 18))
    parts += _ticks(across, floor + _BOX)
    if words.across:
        parts.append(text((left + right) / 2, floor + _BOX + 38, words.across, "axis-name", "middle"))
    return Chart(drawing(identity, words, _HEIGHT, *parts))


def box_chart(identity: str, boxes: Sequence[Box], words: Words) -> Chart:
    """One row below the other on one scale, with each median in figures at the right."""
    found = [box for box in boxes if box.scores.count]
    ends = [end for box in found for end in (box.scores.minimum, box.scores.maximum) if end is not None]
    if not ends:
        return Chart()
    bottom = _ROW_TOP + _ROW * len(found)
    across = scale(ends, _ROW_LEFT + 8, WIDTH - _ROW_RIGHT)
    parts = []
    for tick in across.ticks:
        x = across.at(tick)
        parts.append(line(x, _ROW_TOP, x, bottom, "grid zero" if tick == 0 and across.low < 0 else "grid"))
    parts += _ticks(across, bottom)
    parts.append(line(_ROW_LEFT, bottom, WIDTH - _ROW_RIGHT, bottom, "axis"))
    for at, box in enumerate(found):
        y = _ROW_TOP + _ROW * (at + 0.5)
        parts.append(
            tag(
                "g",
                {"class": "strip"},
                tag(
                    "text",
                    {"class": "row-name", "x": _ROW_LEFT - 10, "y": y + 4, "text-anchor": "end"},
                    tag("title", {}, box.name),
                    shortened(box.name, _NAME_ROOM),
                ),
                _box(box.scores, across, y),
                text(WIDTH - 4, y + 4, score(box.scores.median), "row-score", "end"),
            )
        )
    if words.across:
        middle = (_ROW_LEFT + WIDTH - _ROW_RIGHT) / 2
        parts.append(text(middle, bottom + 38, words.across, "axis-name", "middle"))
    return Chart(drawing(identity, words, bottom + _BOTTOM, *parts))


def _ticks(across: Scale, y: float) -> list[SafeString]:
    every = math.ceil(len(across.ticks) / 12)
    return [
        text(across.at(tick), y + 18, across.label(tick), "tick", "middle") for tick in across.ticks[::every]
    ]


def _box(scores: Distribution, across: Scale, y: float) -> SafeString:
    low, lower, middle, upper, high = (
        across.at(value or 0.0)
        for value in (
            scores.minimum,
            scores.lower_quartile,
            scores.median,
            scores.upper_quartile,
            scores.maximum,
        )
    )
    figures = (scores.minimum, scores.lower_quartile, scores.median, scores.upper_quartile, scores.maximum)
    return tag(
        "g",
        {"class": "strip"},
        tag("title", {}, " · ".join(score(figure) for figure in figures)),
        line(low, y, high, y, "whisker"),
        line(low, y - 5, low, y + 5, "whisker"),
        line(high, y - 5, high, y + 5, "whisker"),
        tag("rect", {"class": "box", "x": lower, "y": y - 9, "width": max(upper - lower, 1.0), "height": 18}),
        line(middle, y - 12, middle, y + 12, "median"),
    )
