"""The pieces of a comparison's page: its lines, and the addresses that differ from its own in one thing."""

from django import template
from django.http import HttpRequest, QueryDict
from django.utils.safestring import SafeString, mark_safe

from builder.diff.lines import Line
from builder.template.variables import PromptKind
from studio.compare.marked_lines import marked, shown
from studio.compare.stretches import Stretch

register = template.Library()


@register.filter
def plain(line: Line) -> SafeString:
    """A line that is the same on both sides."""
    return mark_safe(shown(line.text))


@register.filter
def removed(line: Line) -> SafeString:
    """A line of the old side."""
    return mark_safe(marked(line, "del"))


@register.filter
def added(line: Line) -> SafeString:
    """A line of the new side."""
    return mark_safe(marked(line, "ins"))


@register.simple_tag(takes_context=True)
def address(context: template.RequestContext, path: str = "", **changes: object) -> str:
    """This page's address, or that of another one, with some of its query changed and nothing unfolded."""
    query = _query(context)
    query.pop("open", None)
    for name, value in changes.items():
        if value is None:
            query.pop(name, None)
        else:
            query[name] = str(value)
    path = path or context["request"].path
    return f"{path}?{query.urlencode()}" if query else path


@register.simple_tag(takes_context=True)
def opening(context: template.RequestContext, stretch: Stretch, kind: PromptKind) -> str:
    """This page's address with these rows unfolded, beside those that are already."""
    query = _query(context)
    query.appendlist("open", _rows(stretch, kind))
    return f"{context['request'].path}?{query.urlencode()}#{kind}-rows-{stretch.start}"


@register.simple_tag(takes_context=True)
def rows_alone(context: template.RequestContext, stretch: Stretch, kind: PromptKind) -> str:
    """Where these rows alone are, for a page that is open already."""
    query = _query(context)
    query["rows"] = _rows(stretch, kind)
    return f"{context['request'].path}?{query.urlencode()}"


def _query(context: template.RequestContext) -> QueryDict:
    request: HttpRequest = context["request"]
    query = request.GET.copy()
    query.pop("rows", None)
    return query


def _rows(stretch: Stretch, kind: PromptKind) -> str:
    return f"{kind}.{stretch.start}-{stretch.stop}"
