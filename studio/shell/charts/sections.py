"""A bar for the sections of a text, each as long as its share. Used by the page of a system prompt."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString

from studio.shell.charts.svg import WIDTH, Chart, Words, drawing, line, shortened, tag, text

_TOP, _BAR, _BOTTOM = 20.0, 34.0, 24.0
_NUMBER_ROOM, _LETTER = 16.0, 6.6


@dataclass(frozen=True)
class Segment:
    """A section: its sign above the bar, its name below where there is room, and how it looks."""

    sign: str
    name: str
    share: float
    look: str
    tip: str


def section_bar(identity: str, segments: Sequence[Segment], words: Words) -> Chart:
    """The segments from left to right; ``look`` names a pattern that ``patterns`` drew."""
    if not segments:
        return Chart()
    parts: list[str] = []
    at, total = 0.0, sum(segment.share for segment in segments) or 1.0
    for segment in segments:
        width = WIDTH * segment.share / total
        box: dict[str, object] = {
            "class": "segment",
            "x": at,
            "y": _TOP,
            "width": max(width, 0.5),
            "height": _BAR,
            "fill": f"url(#look-{segment.look})",
        }
        parts.append(tag("rect", box, tag("title", {}, segment.tip)))
        parts.append(line(at, _TOP, at, _TOP + _BAR, "segment-edge"))
        if width >= _NUMBER_ROOM:
            parts.append(text(at + width / 2, _TOP - 6, segment.sign, "segment-sign", "middle"))
            room = int(width / _LETTER)
            if room >= 4:
                name = shortened(segment.name, room)
                parts.append(text(at + width / 2, _TOP + _BAR + 16, name, "segment-name", "middle"))
        at += width
    return Chart(drawing(identity, words, _TOP + _BAR + _BOTTOM, *parts))


def patterns() -> SafeString:
    """What the bars of a page are filled with: plain, slanted strokes, dots; the theme colours them."""
    size: dict[str, object] = {"width": 8, "height": 8, "patternUnits": "userSpaceOnUse"}
    ground = {"width": 8, "height": 8, "class": "pattern-ground"}
    stroke = tag("path", {"d": "M-2 2 2 -2M0 8 8 0M6 10 10 6", "class": "pattern-stroke"})
    dots = tag("circle", {"cx": 4, "cy": 4, "r": 1.6, "class": "pattern-dot"})
    marks = {"static": "", "workspace": stroke, "session": dots}
    made = [
        tag("pattern", {"id": f"look-{look}", "class": f"pattern {look}", **size}, tag("rect", ground), mark)
        for look, mark in marks.items()
    ]
    hidden: dict[str, object] = {"class": "patterns", "width": 0, "height": 0, "aria-hidden": "true"}
    return tag("svg", hidden, tag("defs", {}, *made))
