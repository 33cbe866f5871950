"""Tags of a comparison: its lines as HTML, and addresses that differ from the page's own in one thing.

The lines that changed since the last saved version are made in one go, because a preview has them too.
"""

from collections.abc import Iterable, Iterator
from html import escape
from typing import Literal

from django import template
from django.http import HttpRequest, QueryDict
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from builder.diff.lines import Line, Section
from builder.template.variables import PromptKind
from studio.compare.stretches import Stretch
from studio.preview.rendering import Preview

register = template.Library()


@register.filter
def plain(line: Line) -> SafeString:
    """A line that is the same on both sides."""
    return mark_safe(_escaped(line.text))


@register.filter
def removed(line: Line) -> SafeString:
    """A line of the old side."""
    return mark_safe(_marked(line, "del"))


@register.filter
def added(line: Line) -> SafeString:
    """A line of the new side."""
    return mark_safe(_marked(line, "ins"))


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


def _marked(line: Line, tag: Literal["ins", "del"]) -> str:
    """The line with its changed words marked, safe to stand on a page."""
    if not line.marks:
        return _escaped(line.text)
    return "".join(
        f"<{tag}>{_escaped(segment.text)}</{tag}>" if segment.changed else _escaped(segment.text)
        for segment in line.segments
    )


def _escaped(text: str) -> str:
    """The text, escaped. A browser takes a carriage return for a line's end, so it gets a sign of its own."""
    return escape(text.replace("\r", "␍"))


@register.simple_tag
def changes(preview: Preview) -> SafeString:
    """What differs from the last saved version's prompt: a sentence, or the lines behind a summary."""
    if preview.saved is None or preview.text is None:
        return SafeString("")
    version, diff = {"number": preview.saved.number}, preview.diff
    if preview.template_changed and diff is not None and not diff.is_same:
        since, lines, rows = _("Since v%(number)s") % version, _("lines"), _("What changed in the prompt")
        return mark_safe(
            '<details class="changes" id="changes" data-keep-open>\n'
            f"  <summary>{escape(since)}\n"
            f'    <span class="count added num">+{diff.added}</span>'
            f' <span class="count removed num">−{diff.removed}</span>\n'
            f'    <span class="soft">{escape(lines)}</span></summary>\n'
            '  <div class="change-rows" tabindex="0" role="region"'
            f' aria-label="{escape(rows)}">\n'
            f"  {change_rows(diff.sections(context=2))}\n  </div>\n</details>"
        )
    if not preview.template_changed:
        said = _("As in v%(number)s") % version
    elif diff is None:
        said = (
            _("Not compared with v%(number)s: it gives no prompt here, or one of them is too long.") % version
        )
    else:
        said = _("The template changed since v%(number)s; the prompt is the same here.") % version
    return mark_safe(f'<p class="changes soft">{escape(said)}</p>')


@register.filter
def change_rows(sections: Iterable[Section]) -> SafeString:
    """Lines that changed with some around them; words marked, every line with its sign."""
    return mark_safe("".join(_changed_rows(sections)))


def _changed_rows(sections: Iterable[Section]) -> Iterator[str]:
    for section in sections:
        if section.folded:
            count = len(section)
            same = ngettext("%(count)d line the same", "%(count)d lines the same", count) % {"count": count}
            yield f'<p class="fold-mark soft">{escape(same)}</p>'
            continue
        for row in section.rows:
            if row.kind == "equal" and row.right:
                yield f'<p class="row"><span class="sign"> </span>{_escaped(row.right.text)}</p>'
                continue
            if row.left:
                yield f'<p class="row removed"><span class="sign">−</span>{_marked(row.left, "del")}</p>'
            if row.right:
                yield f'<p class="row added"><span class="sign">+</span>{_marked(row.right, "ins")}</p>'
