"""Template filters and tags of every page: `{% load shell %}`."""

import re
from collections.abc import Iterable
from datetime import datetime

from django import template
from django.utils import formats, timezone
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext_lazy

from builder.errors import BuilderError
from studio.prompts.excerpts import Part
from studio.shell.language import reader_language
from studio.shell.numbers import percent, score, signed, took, way

register = template.Library()
for shown_number in (score, signed, way, took, percent):
    register.filter(shown_number)

_UNITS = (
    (31_556_952, ngettext_lazy("%(n)d year ago", "%(n)d years ago", "n")),
    (2_629_746, ngettext_lazy("%(n)d month ago", "%(n)d months ago", "n")),
    (604_800, ngettext_lazy("%(n)d week ago", "%(n)d weeks ago", "n")),
    (86_400, ngettext_lazy("%(n)d day ago", "%(n)d days ago", "n")),
    (3600, ngettext_lazy("%(n)d hour ago", "%(n)d hours ago", "n")),
    (60, ngettext_lazy("%(n)d minute ago", "%(n)d minutes ago", "n")),
)

_MARK, _MARK_END = SafeString("<mark>"), SafeString("</mark>")


@register.filter
def said(error: BuilderError) -> str:
    """What the builder says, in the reader's language."""
    return error.text(reader_language())


@register.filter
def as_lines(lines: Iterable[str]) -> str:
    """Texts below each other."""
    return "\n".join(lines)


@register.filter
def breakable(path: str) -> str:
    """A path that may go on in the next line after each slash."""
    return format_html_join(mark_safe("/<wbr>"), "{}", ((part,) for part in path.split("/")))


@register.filter
def advised(error: BuilderError) -> str:
    """What the builder says to do about it, in the reader's language."""
    return error.advice(reader_language())


def relative(moment: datetime, now: datetime) -> str:
    """How long ago, in its largest unit: «3 days ago»."""
    elapsed = int((now - moment).total_seconds())
    for seconds, words in _UNITS:
        if elapsed >= seconds:
            return words % {"n": elapsed // seconds}
    return _("just now")


@register.simple_tag
def when(moment: datetime | None) -> SafeString | str:
    """A time, relative, with the exact one on hover and kept fresh by the browser."""
    if moment is None:
        return "–"
    local = timezone.localtime(moment)
    exact = f"{formats.date_format(local, 'DATETIME_FORMAT')} {local:%Z}"
    return format_html(
        '<time datetime="{}" title="{}" data-relative>{}</time>',
        moment.isoformat(),
        exact,
        relative(moment, timezone.now()),
    )


@register.inclusion_tag("shell/_short_id.html")
def short_id(full: str, length: int = 8) -> dict[str, str]:
    """The beginning of an id, with a button that copies all of it."""
    return {"full": full, "short": full[:length]}


@register.simple_block_tag
def stripped(content: str) -> SafeString:
    """What a block holds, without the white space around it: empty where the block is."""
    return SafeString(content.strip())


@register.filter
def lines(text: str) -> list[str]:
    """The lines of a text; joined by newlines they are the text again."""
    return text.split("\n")


@register.filter
def with_code(sentence: str) -> SafeString:
    """A sentence whose `words between backticks` are shown as code."""
    plain = re.split("`([^`]+)`", str(sentence))  # a form's help may be lazy
    return format_html_join(
        "", "{}", ((format_html("<code>{}</code>", part) if n % 2 else part,) for n, part in enumerate(plain))
    )


@register.filter
def marked(parts: Iterable[Part]) -> SafeString:
    """Text in which the words of a search are marked."""
    # A template of its own for each of the many parts of a page would take most of the page's time.
    return format_html_join(
        "", "{}{}{}", ((_MARK, part.text, _MARK_END) if part.mark else ("", part.text, "") for part in parts)
    )


@register.filter
def exact(text: str) -> SafeString:
    """A text for ``<pre>``, to the byte: browsers would make a line end of every carriage return."""
    return mark_safe(escape(text).replace("\r", "&#13;"))
