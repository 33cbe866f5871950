"""Lines of a comparison as HTML: what changed in them stands in <ins> or <del>."""

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from builder.diff import Line
from builder.variables import PromptKind
from studio.stretches import Stretch

register = template.Library()


def _text(text: str) -> str:
    # A browser takes a carriage return for a line's end, and shows a new line instead of a loss.
    return escape(text.replace("\r", "␍"))


def _marked(line: Line, tag: str) -> SafeString:
    pieces = [
        f"<{tag}>{_text(segment.text)}</{tag}>" if segment.changed else _text(segment.text)
        for segment in line.segments
    ]
    return mark_safe("".join(pieces))  # every piece is escaped above


@register.filter
def plain(line: Line) -> SafeString:
    """A line that is the same on both sides."""
    return mark_safe(_text(line.text))  # escaped


@register.filter
def removed(line: Line) -> SafeString:
    """A line of the old side."""
    return _marked(line, "del")


@register.filter
def added(line: Line) -> SafeString:
    """A line of the new side."""
    return _marked(line, "ins")


@register.simple_tag(takes_context=True)
def opening(context: template.RequestContext, stretch: Stretch, kind: PromptKind) -> str:
    """The page's query with these rows unfolded, beside those that are already."""
    query = context["request"].GET.copy()
    query.pop("rows", None)
    query.appendlist("open", _address(stretch, kind))
    return f"?{query.urlencode()}"


@register.simple_tag(takes_context=True)
def rows_url(context: template.RequestContext, stretch: Stretch, kind: PromptKind) -> str:
    """Where these rows alone are, for a page that is open already."""
    query = context["request"].GET.copy()
    query["rows"] = _address(stretch, kind)
    return f"{context['request'].path}?{query.urlencode()}"


def _address(stretch: Stretch, kind: PromptKind) -> str:
    return f"{kind}.{stretch.start}-{stretch.stop}"
