"""The parts of a preview with many small pieces, made in one go: it is rendered at every pause."""

from collections.abc import Iterator
from functools import lru_cache
from html import escape

from django import template
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

from studio.marked_lines import marked, shown
from studio.previewing import Change, Preview

register = template.Library()


@register.simple_tag
def round_buttons(preview: Preview) -> SafeString:
    """A button for each round of the context; the next one is marked for the key that goes on."""
    seen = preview.situation
    return _round_buttons(get_language(), preview.url, seen.rounds, seen.round, seen.next_round)


@lru_cache(maxsize=256)
def _round_buttons(
    language: str | None, url: str, rounds: tuple[int, ...], current: int, following: int | None
) -> SafeString:
    way = f'formaction="{escape(url)}" formnovalidate hx-post="{escape(url)}"'
    swap = 'hx-target="#preview" hx-swap="outerHTML" hx-sync="closest form:replace"'
    buttons = []
    for number in rounds:
        marks = ' aria-current="true"' if number == current else ""
        marks += " data-next-round" if number == following else ""
        buttons.append(
            f'<button class="small" id="round-{number}" name="go" value="{number}" {way} {swap}{marks}>'
            f"{number}</button>"
        )
    word = escape(_("Round"))
    return mark_safe(
        f'<div class="rounds" role="group" aria-label="{word}"><span class="soft">{word}</span>'
        f"{''.join(buttons)}</div>"
    )


@register.filter
def change_rows(change: Change) -> SafeString:
    """The lines that changed with some around them; words marked, every line with its sign."""
    return mark_safe("".join(_rows(change)))


def _rows(change: Change) -> Iterator[str]:
    for section in change.sections:
        if section.folded:
            count = len(section)
            same = ngettext("%(count)d line the same", "%(count)d lines the same", count) % {"count": count}
            yield f'<p class="fold-mark soft">{escape(same)}</p>'
            continue
        for row in section.rows:
            if row.kind == "equal" and row.right:
                yield f'<p class="row"><span class="sign"> </span>{shown(row.right.text)}</p>'
                continue
            if row.left:
                yield f'<p class="row removed"><span class="sign">−</span>{marked(row.left, "del")}</p>'
            if row.right:
                yield f'<p class="row added"><span class="sign">+</span>{marked(row.right, "ins")}</p>'
