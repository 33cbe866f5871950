"""A line of a comparison as HTML: what changed in it stands in <ins> or <del>."""

from html import escape
from typing import Literal

from builder.diff.lines import Line


def marked(line: Line, tag: Literal["ins", "del"]) -> str:
    """The line with its changed words marked, safe to stand on a page."""
    if not line.marks:
        return shown(line.text)
    return "".join(
        f"<{tag}>{shown(segment.text)}</{tag}>" if segment.changed else shown(segment.text)
        for segment in line.segments
    )


def shown(text: str) -> str:
    """The text, escaped. A browser takes a carriage return for a line's end, so it gets a sign of its own."""
    return escape(text.replace("\r", "␍"))
