"""A chart with a line for each team over the rounds, told apart by colour, dash and marker."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from studio.shell.charts.scale import Scale, counting_scale, drawable, left_axis, scale
from studio.shell.charts.svg import WIDTH, Chart, Words, drawing, joined, line, shortened, spread, tag, text
from studio.shell.numbers import score

NAMED = 8
"""So many looks can be told apart; lines beyond them are drawn thin, for the field they make."""

_HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 340.0, 56.0, 196.0, 26.0, 46.0
_LABEL_GAP, _LABEL_ROOM = 17.0, 18
_MARKED = 40
"""Markers on more rounds than this would be a smear."""
_POINTS = 600
_LINKED = 600
"""With more points than this, only those of named lines are links."""

DASHES = ("", "7 4", "2 3", "10 3 2 3", "14 5", "4 2 1 2 1 2", "5 5", "1 3 6 3")


@dataclass(frozen=True)
class Series:
    """A team's scores by round; a round without a score breaks the line."""

    name: str
    points: tuple[tuple[int, float | None], ...]
    urls: Mapping[int, str] = field(default_factory=dict)
    """Where the point of a round leads."""

    @property
    def drawn(self) -> list[tuple[int, float]]:
        """The points that have a place."""
        return [
            (number, value) for number, value in self.points if value is not None and math.isfinite(value)
        ]


def line_chart(identity: str, series: Sequence[Series], words: Words) -> Chart:
    """The first of the series are the ones that are named: give them in the order of the ranking.

    ``identity`` begins the ids of the drawing's parts, which must be unique in a page.
    """
    values = drawable(value for team in series for _, value in team.points)
    if not values:
        return Chart()
    rounds = [number for team in series for number, _ in team.drawn]
    across = counting_scale(min(rounds), max(rounds), _LEFT + 14, WIDTH - _RIGHT - 14)
    up = scale(values, _HEIGHT - _BOTTOM, _TOP)
    named, others = list(series[:NAMED]), series[NAMED:]
    if len(values) > _LINKED:
        others = [replace(team, urls={}) for team in others]  # the table beside the chart has them
    svg = drawing(
        identity,
        words,
        _HEIGHT,
        _axes(across, up, words),
        joined(_other(team, across, up, words) for team in others),
        joined(reversed([_named(look, team, across, up, words) for look, team in enumerate(named)])),
        _end_labels(named, across, up),
        has_links=any(team.urls for team in series),
    )
    total = sum(len(team.points) for team in series)
    return Chart(svg, left_unnamed=len(others), left_out=total - len(values))


def swatches(count: int) -> list[SafeString]:
    """The look of each series in turn, for the table beside the chart."""
    return [_swatch(look) for look in range(count)]


def _axes(across: Scale, up: Scale, words: Words) -> SafeString:
    left, right, bottom = _LEFT, WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    parts = left_axis(up, left, right, words.up)
    for tick in across.ticks:
        parts.append(text(across.at(tick), bottom + 20, f"{tick:g}", "tick", "middle"))
    parts.append(line(left, bottom, right, bottom, "axis"))
    if words.across:
        parts.append(text((left + right) / 2, bottom + 40, words.across, "axis-name", "middle"))
    return tag("g", {"class": "axes"}, *parts)


def _named(look: int, series: Series, across: Scale, up: Scale, words: Words) -> SafeString:
    path = _path(series, across, up)
    marked = series.drawn if len(series.drawn) <= _MARKED else series.drawn[-1:]
    marks = [
        _leading(series, number, says, marker(look, across.at(number), up.at(value), says))
        for number, value in marked
        for says in [_says(series, number, value, words)]
    ]
    # A line of two pixels is hard to point at.
    return tag(
        "g",
        {"class": f"series look-{look + 1}"},
        tag("title", {}, series.name),
        tag("path", {"class": "near", "d": path}),
        tag("path", {"class": "line", "d": path, **_dash(look)}),
        *marks,
    )


def _says(series: Series, number: int, value: float, words: Words) -> str:
    place = words.place or _("round %(number)d")
    return f"{series.name} · {place % {'number': number}} · {score(value)}"


def _leading(series: Series, number: int, says: str, mark: SafeString) -> SafeString:
    """The mark as a link, where the point leads somewhere. Tab stops at the end of each line only."""
    url = series.urls.get(number)
    if url is None:
        return mark
    is_end = number == series.drawn[-1][0]
    return tag("a", {"href": url} | ({"aria-label": says} if is_end else {"tabindex": "-1"}), mark)


def _other(series: Series, across: Scale, up: Scale, words: Words) -> SafeString:
    """Thin and grey until somebody points at it: then it has its name, too."""
    path, drawn = _path(series, across, up), Series("", series.points[-_MARKED:]).drawn
    dots = []
    for number, value in drawn:
        says = _says(series, number, value, words)
        title = (tag("title", {}, says),) if series.urls else ()
        dot = tag("circle", {"cx": across.at(number), "cy": up.at(value), "r": 1.8}, *title)
        dots.append(_leading(series, number, says, dot))
    end = drawn[-1:]
    names = [
        text(across.at(number), up.at(value) - 8, f"{series.name} {score(value)}", "raised-name", "end")
        for number, value in end
    ]
    return tag(
        "g",
        {"class": "series other"},
        tag("title", {}, series.name),
        tag("path", {"class": "near", "d": path}),
        tag("path", {"class": "line", "d": path}),
        *dots,
        *names,
    )


def _end_labels(series: Sequence[Series], across: Scale, up: Scale) -> SafeString:
    ends = []
    for look, team in enumerate(series):
        last = team.drawn[-1:]
        ends += [(look, team.name, across.at(number), up.at(value), value) for number, value in last]
    places = spread([y for *_, y, _ in ends], _LABEL_GAP, _TOP, _HEIGHT - _BOTTOM)
    left = WIDTH - _RIGHT + 22
    parts = []
    for (look, name, x, y, value), place in zip(ends, places, strict=True):
        leader = f"M{x + 7:.1f} {y:.1f}L{left - 12:.1f} {place:.1f}H{left - 4}"
        label = tag(
            "text",
            {"x": left, "y": place + 4},
            tag("title", {}, name),
            tag("tspan", {"class": "end-name"}, shortened(name, _LABEL_ROOM)),
            tag("tspan", {"class": "end-score", "dx": 6}, score(value)),
        )
        parts.append(
            tag("g", {"class": f"end look-{look + 1}"}, tag("path", {"class": "leader", "d": leader}), label)
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
        stretch = Series("", tuple(points[start : start + width])).drawn
        if stretch:
            kept += sorted({min(stretch, key=itemgetter(1)), max(stretch, key=itemgetter(1))})
    return kept


def _dash(look: int) -> dict[str, str]:
    return {"stroke-dasharray": DASHES[look]} if DASHES[look] else {}


def _swatch(look: int) -> SafeString:
    is_named = look < NAMED
    kind = f"look-{look + 1}" if is_named else "other"
    stroke = {"x1": 1, "y1": 6, "x2": 33, "y2": 6, "class": "line", **(_dash(look) if is_named else {})}
    frame = {
        "class": f"swatch {kind}",
        "view_box": "0 0 34 12",
        "width": 34,
        "height": 12,
        "aria-hidden": "true",
    }
    return tag("svg", frame, tag("line", stroke), *([marker(look, 17.0, 6.0, "")] if is_named else []))


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
