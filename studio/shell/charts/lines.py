"""A line for each team over the rounds, told apart by colour, dash and marker, and named at its end."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from studio.shell.charts.scale import Scale, counting_scale, drawable, scale
from studio.shell.charts.svg import WIDTH, Chart, Words, drawing, joined, line, shortened, spread, tag, text
from studio.shell.numbers import score

NAMED = 8
"""So many looks can be told apart; lines beyond them are drawn thin, for the field they make."""

_HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 340.0, 56.0, 196.0, 26.0, 46.0
_LABEL_GAP, _LABEL_ROOM = 17.0, 18
_MARKED = 40
"""Markers on more rounds than this would be a smear."""
_POINTS = 600

DASHES = ("", "7 4", "2 3", "10 3 2 3", "14 5", "4 2 1 2 1 2", "5 5", "1 3 6 3")


@dataclass(frozen=True)
class Series:
    """A team's scores by round; a round without a score breaks the line."""

    name: str
    points: tuple[tuple[int, float | None], ...]


def line_chart(identity: str, series: Sequence[Series], words: Words) -> Chart:
    """The first of the series are the ones that are named: give them in the order of the ranking.

    ``identity`` begins the ids of the drawing's parts, which must be unique in a page.
    """
    values = drawable(value for each in series for _, value in each.points)
    if not values:
        return Chart()
    rounds = [number for each in series for number, value in each.points if _has_place(value)]
    across = counting_scale(min(rounds), max(rounds), _LEFT + 14, WIDTH - _RIGHT - 14)
    up = scale(values, _HEIGHT - _BOTTOM, _TOP)
    named, others = list(series[:NAMED]), series[NAMED:]
    svg = drawing(
        identity,
        words,
        _HEIGHT,
        _axes(across, up, words),
        joined(_other(each, across, up) for each in others),
        joined(reversed([_named(look, each, across, up, words) for look, each in enumerate(named)])),
        _end_labels(named, across, up),
    )
    total = sum(len(each.points) for each in series)
    return Chart(svg, left_unnamed=len(others), left_out=total - len(values))


def swatches(count: int) -> list[SafeString]:
    """The look of each series in turn, for the table beside the chart."""
    return [_swatch(look) for look in range(count)]


def _axes(across: Scale, up: Scale, words: Words) -> SafeString:
    left, right, bottom = _LEFT, WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    parts = [text(left - 8, 13, words.up, "axis-name", "start")] if words.up else []
    for tick in up.ticks:
        y = up.at(tick)
        # Below nothing is another country: its border shows.
        parts.append(line(left, y, right, y, "grid zero" if tick == 0 and up.low < 0 else "grid"))
        parts.append(text(left - 8, y + 4, up.label(tick), "tick", "end"))
    for tick in across.ticks:
        parts.append(text(across.at(tick), bottom + 20, f"{tick:g}", "tick", "middle"))
    parts.append(line(left, bottom, right, bottom, "axis"))
    if words.across:
        parts.append(text((left + right) / 2, bottom + 40, words.across, "axis-name", "middle"))
    return tag("g", {"class": "axes"}, *parts)


def _named(look: int, series: Series, across: Scale, up: Scale, words: Words) -> SafeString:
    found = [(number, value) for number, value in series.points if value is not None and math.isfinite(value)]
    path = _path(series, across, up)
    attributes: dict[str, object] = {"class": "line", "d": path}
    if DASHES[look]:
        attributes["stroke-dasharray"] = DASHES[look]
    marks = [
        marker(
            look,
            across.at(number),
            up.at(value),
            f"{series.name} · {_place(number, words)} · {score(value)}",
        )
        for number, value in (found if len(found) <= _MARKED else found[-1:])
    ]
    # A line of two pixels is hard to point at.
    return tag(
        "g",
        {"class": f"series look-{look + 1}"},
        tag("title", {}, series.name),
        tag("path", {"class": "near", "d": path}),
        tag("path", attributes),
        *marks,
    )


def _other(series: Series, across: Scale, up: Scale) -> SafeString:
    dots = [
        tag("circle", {"cx": across.at(number), "cy": up.at(value), "r": 1.6})
        for number, value in series.points[-_MARKED:]
        if value is not None and math.isfinite(value)
    ]
    return tag(
        "g",
        {"class": "series other"},
        tag("title", {}, series.name),
        tag("path", {"class": "line", "d": _path(series, across, up)}),
        *dots,
    )


def _end_labels(series: Sequence[Series], across: Scale, up: Scale) -> SafeString:
    ends = []
    for look, each in enumerate(series):
        last = [(n, value) for n, value in each.points if value is not None and math.isfinite(value)][-1:]
        ends += [(look, each.name, across.at(number), up.at(value), value) for number, value in last]
    places = spread([y for *_, y, _ in ends], _LABEL_GAP, _TOP, _HEIGHT - _BOTTOM)
    left = WIDTH - _RIGHT + 22
    parts = []
    for (look, name, x, y, value), place in zip(ends, places, strict=True):
        short = shortened(name, _LABEL_ROOM)
        parts.append(
            tag(
                "g",
                {"class": f"end look-{look + 1}"},
                tag(
                    "path",
                    {"class": "leader", "d": f"M{x + 7:.1f} {y:.1f}L{left - 12:.1f} {place:.1f}H{left - 4}"},
                ),
                tag(
                    "text",
                    {"x": left, "y": place + 4},
                    tag("title", {}, name),
                    tag("tspan", {"class": "end-name"}, short),
                    tag("tspan", {"class": "end-score", "dx": 6}, score(value)),
                ),
            )
        )
    return tag("g", {"class": "ends"}, *parts)


def _path(series: Series, across: Scale, up: Scale) -> str:
    drawn, pen_down = [], False
    for number, value in _thinned(series.points):
        if value is None or not math.isfinite(value):
            pen_down = False
            continue
        drawn.append(f"{'L' if pen_down else 'M'}{across.at(number):.1f} {up.at(value):.1f}")
        pen_down = True
    return "".join(drawn)


def _thinned(points: Sequence[tuple[int, float | None]]) -> Sequence[tuple[int, float | None]]:
    """No more points than the drawing has pixels: of each stretch the lowest and the highest."""
    if len(points) <= _POINTS:
        return points
    width = math.ceil(len(points) / (_POINTS / 2))
    kept: list[tuple[int, float | None]] = []
    for start in range(0, len(points), width):
        stretch = [point for point in points[start : start + width] if _has_place(point[1])]
        if stretch:
            ends = {min(stretch, key=_value), max(stretch, key=_value)}
            kept += sorted(ends, key=lambda point: point[0])
    return kept


def _value(point: tuple[int, float | None]) -> float:
    return point[1] or 0.0


def _has_place(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _place(number: int, words: Words) -> str:
    return (words.each or _("round %(number)d")) % {"number": number}


def _swatch(look: int) -> SafeString:
    if look >= NAMED:
        return tag(
            "svg",
            {
                "class": "swatch other",
                "view_box": "0 0 34 12",
                "width": 34,
                "height": 12,
                "aria-hidden": "true",
            },
            line(1, 6, 33, 6, "line"),
        )
    attributes: dict[str, object] = {"x1": 1, "y1": 6, "x2": 33, "y2": 6, "class": "line"}
    if DASHES[look]:
        attributes["stroke-dasharray"] = DASHES[look]
    return tag(
        "svg",
        {
            "class": f"swatch look-{look + 1}",
            "view_box": "0 0 34 12",
            "width": 34,
            "height": 12,
            "aria-hidden": "true",
        },
        tag("line", attributes),
        marker(look, 17.0, 6.0, ""),
    )


def marker(look: int, x: float, y: float, says: str) -> SafeString:
    title = (tag("title", {}, says),) if says else ()
    if look == 0:
        return tag("circle", {"class": "mark", "cx": x, "cy": y, "r": 4}, *title)
    if look == 5:
        return tag("circle", {"class": "mark hollow", "cx": x, "cy": y, "r": 4}, *title)
    path, kind = _SHAPES[look]
    placed = " ".join(
        f"{'M' if at == 0 or lift else 'L'}{x + dx:.1f} {y + dy:.1f}"
        for at, (dx, dy, lift) in enumerate(path)
    )
    return tag(
        "path", {"class": f"mark {kind}".strip(), "d": placed + ("" if kind == "cross" else "Z")}, *title
    )


_Shape = tuple[tuple[tuple[float, float, bool], ...], str]


def _solid(*corners: tuple[float, float]) -> _Shape:
    return tuple((x, y, False) for x, y in corners), ""


_SHAPES: dict[int, _Shape] = {
    1: _solid((-3.6, -3.6), (3.6, -3.6), (3.6, 3.6), (-3.6, 3.6)),
    2: _solid((0, -4.8), (4.6, 3.6), (-4.6, 3.6)),
    3: _solid((0, -5.2), (5.2, 0), (0, 5.2), (-5.2, 0)),
    4: _solid((0, 4.8), (4.6, -3.6), (-4.6, -3.6)),
    6: (((-4.2, -4.2, False), (4.2, 4.2, False), (-4.2, 4.2, True), (4.2, -4.2, False)), "cross"),
    7: (((-4.8, 0, False), (4.8, 0, False), (0, -4.8, True), (0, 4.8, False)), "cross"),
}
