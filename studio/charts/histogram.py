"""How often scores of each size occur."""

import math
from collections.abc import Sequence
from statistics import median

from django.utils.translation import gettext as _

from studio.charts.scale import drawable, scale
from studio.charts.svg import WIDTH, Chart, Words, drawing, line, tag, text
from studio.templatetags.scores import score

_HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 260.0, 56.0, 24.0, 40.0, 46.0
_BARS = 16


def histogram(identity: str, values: Sequence[float | None], words: Words) -> Chart:
    """Bars over equal ranges that begin and end at round numbers, with the median marked."""
    found = drawable(values)
    if not found:
        return Chart()
    left, right, bottom = _LEFT, WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    across = scale(found, left, right, about=min(_BARS, max(4, math.isqrt(len(found)) * 2)))
    counts = [0] * max(len(across.ticks) - 1, 1)
    for value in found:
        # The last range holds its upper end, too.
        counts[min(int((value - across.low) / across.step), len(counts) - 1)] += 1
    up = scale([0, max(counts)], bottom, _TOP, about=4)
    parts = [text(left - 8, 13, words.up, "axis-name", "start")] if words.up else []
    for tick in up.ticks:
        if tick == int(tick):
            parts.append(line(left, up.at(tick), right, up.at(tick), "grid"))
            parts.append(text(left - 8, up.at(tick) + 4, f"{tick:g}", "tick", "end"))
    for at, count in enumerate(counts):
        start, end = across.at(across.ticks[at]), across.at(across.ticks[at + 1])
        low, high = across.label(across.ticks[at]), across.label(across.ticks[at + 1])
        top = up.at(count)
        parts.append(
            tag(
                "rect",
                {"class": "bar", "x": start + 1, "y": top, "width": end - start - 2, "height": bottom - top},
                tag("title", {}, f"{low} – {high}: {count}"),
            )
        )
        if count and end - start >= 18:
            parts.append(text((start + end) / 2, top - 5, f"{count}", "bar-count", "middle"))
    every = math.ceil(len(across.ticks) / 12)
    for tick in across.ticks[::every]:
        parts.append(text(across.at(tick), bottom + 20, across.label(tick), "tick", "middle"))
    parts.append(line(left, bottom, right, bottom, "axis"))
    middle = median(found)
    x = across.at(middle)
    parts.append(line(x, _TOP - 16, x, bottom, "median"))
    side = "end" if x > (left + right) / 2 else "start"
    said = _("median %(score)s") % {"score": score(middle)}
    parts.append(text(x + (-6 if side == "end" else 6), _TOP - 16, said, "median-name", side))
    if words.across:
        parts.append(text((left + right) / 2, bottom + 40, words.across, "axis-name", "middle"))
    return Chart(drawing(identity, words, _HEIGHT, *parts), left_out=len(values) - len(found))
