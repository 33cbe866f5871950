"""A small line for a row of a table: how a score went from round to round."""

import math
from collections.abc import Sequence

from django.utils.safestring import SafeString

from studio.shell.charts.svg import tag
from studio.shell.numbers import score

_WIDTH, _HEIGHT, _EDGE = 96.0, 26.0, 4.0


def spark(points: Sequence[tuple[int, float]], says: str) -> SafeString:
    """Nothing where there is nothing to draw; ``says`` is what the line is, for those who do not see it."""
    drawn = [(number, value) for number, value in points if math.isfinite(value)]
    if not drawn:
        return SafeString("")
    (first, _), (last, _) = drawn[0], drawn[-1]
    low, high = min(value for _, value in drawn), max(value for _, value in drawn)
    places = [
        (
            _between(number, first, last, _EDGE, _WIDTH - _EDGE),
            _between(value, low, high, _HEIGHT - _EDGE, _EDGE),
        )
        for number, value in drawn
    ]
    words = f"{says}: {', '.join(score(value) for _, value in drawn)}"
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    frame = {
        "class": "spark look-1",
        "view_box": f"0 0 {_WIDTH:g} {_HEIGHT:g}",
        "width": _WIDTH,
        "height": _HEIGHT,
        "role": "img",
        "aria-label": words,
    }
    x, y = places[-1]
    return tag(
        "svg",
        frame,
        tag("title", {}, words),
        tag("path", {"class": "line", "d": path}),
        tag("circle", {"class": "mark", "cx": x, "cy": y, "r": 3}),
    )


def _between(value: float, low: float, high: float, start: float, end: float) -> float:
    if high <= low:
        return (start + end) / 2
    # Halves, for the difference of two large numbers may be none.
    return start + (end - start) * ((value / 2 - low / 2) / (high / 2 - low / 2))
