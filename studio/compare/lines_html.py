"""Lines of a comparison as HTML, in one go: a page has thousands. Used by the tags of comparisons."""

from collections.abc import Iterable, Iterator
from html import escape
from typing import Literal

from django.utils.translation import ngettext

from builder.diff.lines import Line, Section


def marked(line: Line, tag: Literal["ins", "del"]) -> str:
    """The line with its changed words marked, safe to stand on a page."""
    if not line.marks:
        return escaped(line.text)
    return "".join(
        f"<{tag}>{escaped(segment.text)}</{tag}>" if segment.changed else escaped(segment.text)
        for segment in line.segments
    )


def escaped(text: str) -> str:
    """The text, escaped. A browser takes a carriage return for a line's end, so it gets a sign of its own."""
    return escape(text.replace("\r", "␍"))


def changed_rows(sections: Iterable[Section]) -> Iterator[str]:
    """Lines that changed with some around them; words marked, every line with its sign."""
    for section in sections:
        if section.folded:
            count = len(section)
            same = ngettext("%(count)d unchanged line", "%(count)d unchanged lines", count) % {"count": count}
            yield f'<p class="fold-mark soft">{escape(same)}</p>'
            continue
        for row in section.rows:
            if row.kind == "equal" and row.right:
                yield f'<p class="row"><span class="sign"> </span>{escaped(row.right.text)}</p>'
                continue
            if row.left:
                yield f'<p class="row removed"><span class="sign">−</span>{marked(row.left, "del")}</p>'
            if row.right:
                yield f'<p class="row added"><span class="sign">+</span>{marked(row.right, "ins")}</p>'
