"""Template filters and tags of every page: `{% load shell %}`."""

import re
from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache

from django import template
from django.templatetags.static import static
from django.utils import formats, timezone
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language, ngettext_lazy
from django.utils.translation import gettext as _

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
    unit = next((unit for unit, (seconds, _words) in enumerate(_UNITS) if elapsed >= seconds), None)
    return _("just now") if unit is None else _ago(unit, elapsed // _UNITS[unit][0], get_language())


# A page has many times: to translate and format each anew would take longer than all else about it.
@lru_cache(maxsize=4096)
def _ago(unit: int, number: int, language: str) -> str:
    return str(_UNITS[unit][1] % {"n": number})


@lru_cache(maxsize=4096)
def _to_the_minute(local: datetime, zone: str, language: str) -> str:
    return f"{formats.date_format(local, 'DATETIME_FORMAT')} {zone}"


@register.simple_tag
def when(moment: datetime | None) -> SafeString | str:
    """A time, relative, with the exact one on hover and kept fresh by the browser."""
    if moment is None:
        return "–"
    local = timezone.localtime(moment)
    minute = local.replace(second=0, microsecond=0, tzinfo=None)
    exact = _to_the_minute(minute, local.tzname() or "", get_language())
    ago = relative(moment, timezone.now())
    return SafeString(
        f'<time datetime="{moment.isoformat()}" title="{escape(exact)}" data-relative>{escape(ago)}</time>'
    )


@register.inclusion_tag("shell/_short_id.html")
def short_id(full: str, length: int = 8) -> dict[str, str]:
    """The beginning of an id, with a button that copies all of it."""
    return {"full": full, "short": full[:length]}


@register.simple_tag
def icon(name: str) -> SafeString:
    """A drawing of `icons.svg`. A tag, for a list of rows has hundreds of them."""
    return format_html(
        '<svg class="icon" aria-hidden="true" width="18" height="18"><use href="{}#{}"></use></svg>',
        static("icons.svg"),
        name,
    )


@register.simple_block_tag
def stripped(content: str) -> SafeString:
    """What a block holds, without the white space around it: empty where the block is."""
    return SafeString(content.strip())


@register.filter
def listed(words: Iterable[object]) -> str:
    """The words with the reader's comma between them."""
    return _(", ").join(map(str, words))


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
    # Neither a template for each of a page's many parts nor `format_html`: they would take most of its time.
    texts = ((escape(part.text), part.mark) for part in parts)
    return SafeString("".join(f"<mark>{text}</mark>" if mark else text for text, mark in texts))


@register.simple_tag
def source_lines(text: str, anchor: str = "") -> SafeString:
    """The lines of a text for `<pre>`, each an element; with an ``anchor``, `#ANCHOR-7` is the seventh."""
    lines = escape(text).split("\n")
    if not anchor:
        return SafeString("\n".join(f'<span class="line">{line}</span>' for line in lines))
    start = f'<span class="line" id="{escape(anchor)}-'
    return SafeString("\n".join(f'{start}{number}">{line}</span>' for number, line in enumerate(lines, 1)))


@register.filter
def exact(text: str) -> SafeString:
    """A text for ``<pre>``, to the byte: browsers would make a line end of every carriage return."""
    return mark_safe(escape(text).replace("\r", "&#13;"))
