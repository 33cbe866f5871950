"""SVG elements that every chart is drawn with, and places for labels that would run into each other."""

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

WIDTH = 760


@dataclass(frozen=True)
class Words:
    """What a chart says besides its data."""

    title: str
    description: str
    """For those who do not see it: what goes up, what stands out."""
    across: str = ""
    """What the horizontal axis counts."""
    up: str = ""
    """What the vertical axis counts."""
    place: str = ""
    """What one place across is called, such as «run %(number)d»; without it, a round."""


@dataclass(frozen=True)
class Chart:
    """A drawing; false where there was nothing to draw."""

    svg: SafeString = SafeString("")  # noqa: RUF009 (it never changes)
    left_unnamed: int = 0
    """How many series are drawn without a label, for want of room."""
    left_out: int = 0
    """How many values are no numbers that could be drawn."""

    def __bool__(self) -> bool:
        return bool(self.svg)


def tag(name: str, attributes: Mapping[str, object], *children: str) -> SafeString:
    """An element; ``class_`` is written ``class``, and ``view_box`` in SVG's spelling."""
    written = format_html_join(
        "", ' {}="{}"', ((_spelled(key), _number(value)) for key, value in attributes.items())
    )
    inside = mark_safe("".join(conditional_escape(child) for child in children))
    return format_html("<{}{}>{}</{}>", name, written, inside, name)


def joined(parts: Iterable[str]) -> SafeString:
    return mark_safe("".join(conditional_escape(part) for part in parts))


def drawing(
    identity: str,
    words: Words,
    height: float,
    *children: str,
    width: float = WIDTH,
    has_links: bool = False,
) -> SafeString:
    """The picture as a whole, with a name and a description: one image, or a group where parts are links."""
    return tag(
        "svg",
        {
            "class": "chart",
            "view_box": f"0 0 {width:g} {height:g}",
            "role": "group" if has_links else "img",
            "aria-labelledby": f"{identity}-title {identity}-desc",
        },
        tag("title", {"id": f"{identity}-title"}, words.title),
        tag("desc", {"id": f"{identity}-desc"}, words.description),
        *children,
    )


def text(x: float, y: float, words: str, class_: str = "", anchor: str = "start") -> SafeString:
    return tag("text", {"x": x, "y": y, "class": class_, "text-anchor": anchor}, words)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> SafeString:
    return tag("line", {"x1": x1, "y1": y1, "x2": x2, "y2": y2, "class": class_})


def shortened(words: str, room: int) -> str:
    """Cut to so many columns; a Japanese character takes two of them."""
    used = 0
    for at, character in enumerate(words):
        used += 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if used > room:
            return words[: max(at - 1, 0)].rstrip() + "…"
    return words


def spread(wanted: list[float], gap: float, low: float, high: float) -> list[float]:
    """Places as near as can be to those wanted, in their order, at least ``gap`` apart and within bounds."""
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    gap = min(gap, (high - low) / max(len(wanted) - 1, 1))
    # Neighbours that are too close become one block, which settles around the mean of what its members want.
    blocks: list[tuple[float, int]] = []
    for index in order:
        centre, count = min(max(wanted[index], low), high), 1
        while blocks:
            before, size = blocks[-1]
            if centre - before >= gap * (size + count) / 2:
                break
            blocks.pop()
            centre = (before * size + centre * count) / (size + count)
            count += size
            reach = gap * (count - 1) / 2
            centre = min(max(centre, low + reach), high - reach)
        blocks.append((centre, count))
    places = [centre + gap * (at - (size - 1) / 2) for centre, size in blocks for at in range(size)]
    return [place for _, place in sorted(zip(order, places, strict=True))]


def _spelled(key: str) -> str:
    return "viewBox" if key == "view_box" else key


def _number(value: object) -> object:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else value
