"""A row for each group: every value a dot, with the middle half and the median drawn over them."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles

from django.utils.safestring import SafeString

from studio.shell.charts.scale import Scale, drawable, scale
from studio.shell.charts.svg import WIDTH, Chart, Words, drawing, line, shortened, tag, text
from studio.shell.numbers import score

_LEFT, _RIGHT, _TOP, _BOTTOM, _ROW = 176.0, 76.0, 12.0, 46.0, 34.0
_NAME_ROOM = 22
_DOTS = 250
"""More dots than this in a row hide one another; the box says what they would."""
_JITTER = (0.0, -4.0, 4.0, -2.0, 2.0, -6.0, 6.0)


@dataclass(frozen=True)
class Group:
    """Values that belong together, such as a team's best scores."""

    name: str
    values: tuple[float | None, ...]


def strip_chart(identity: str, groups: Sequence[Group], words: Words) -> Chart:
    """One row below the other on one scale, with each median in figures at the right."""
    everything = drawable(value for group in groups for value in group.values)
    if not everything:
        return Chart()
    bottom = _TOP + _ROW * len(groups)
    across = scale(everything, _LEFT + 8, WIDTH - _RIGHT)
    parts = []
    for tick in across.ticks:
        x = across.at(tick)
        parts.append(line(x, _TOP, x, bottom, "grid zero" if tick == 0 and across.low < 0 else "grid"))
        parts.append(text(x, bottom + 18, across.label(tick), "tick", "middle"))
    parts.append(line(_LEFT, bottom, WIDTH - _RIGHT, bottom, "axis"))
    for at, group in enumerate(groups):
        parts.append(_row(group, across, _TOP + _ROW * (at + 0.5)))
    if words.across:
        parts.append(text((_LEFT + WIDTH - _RIGHT) / 2, bottom + 38, words.across, "axis-name", "middle"))
    total = sum(len(group.values) for group in groups)
    return Chart(drawing(identity, words, bottom + _BOTTOM, *parts), left_out=total - len(everything))


def _row(group: Group, across: Scale, y: float) -> SafeString:
    values = sorted(drawable(group.values))
    name = tag(
        "text",
        {"class": "row-name", "x": _LEFT - 10, "y": y + 4, "text-anchor": "end"},
        tag("title", {}, group.name),
        shortened(group.name, _NAME_ROOM),
    )
    if not values:
        return tag("g", {"class": "strip"}, name)
    parts = [name]
    if len(values) >= 4:
        low, _, high = quantiles(values, n=4, method="inclusive")
        parts.append(line(across.at(values[0]), y, across.at(values[-1]), y, "whisker"))
        parts.append(
            tag(
                "rect",
                {
                    "class": "box",
                    "x": across.at(low),
                    "y": y - 9,
                    "width": max(across.at(high) - across.at(low), 1.0),
                    "height": 18,
                },
            )
        )
    if len(values) <= _DOTS:
        for at, value in enumerate(values):
            dot: dict[str, object] = {
                "class": "dot",
                "cx": across.at(value),
                # Equal scores must not pass for one; the pattern is the same on every visit.
                "cy": y + _JITTER[at % len(_JITTER)],
                "r": 2.6,
            }
            parts.append(tag("circle", dot, tag("title", {}, f"{group.name} · {score(value)}")))
    middle = median(values)
    parts.append(line(across.at(middle), y - 12, across.at(middle), y + 12, "median"))
    parts.append(text(WIDTH - 4, y + 4, score(middle), "row-score", "end"))
    return tag("g", {"class": "strip"}, *parts)
