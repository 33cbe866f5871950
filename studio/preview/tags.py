"""The parts of a preview with many small pieces, made in one go: it is rendered at every pause.

Sentences stand outside of the f-strings: what collects them for translation does not look into those.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from html import escape

from django import template
from django.utils.formats import localize
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

from builder.diff.lines import Section
from studio.compare.marked_lines import marked, shown
from studio.preview.rendering import Change, Preview

register = template.Library()


@register.simple_tag
def round_buttons(preview: Preview) -> SafeString:
    """A button for each round of the context; the next one is marked for the key that goes on."""
    seen = preview.at_round
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


@register.simple_tag
def figures(preview: Preview) -> SafeString:
    """How long the prompt is, and in which dialect it was rendered."""
    size, counted = preview.characters, preview.tokens
    characters = ngettext("%(count)s character", "%(count)s characters", size) % {"count": localize(size)}
    tokens = ngettext("%(count)s token", "%(count)s tokens", counted.tokens) % {
        "count": localize(counted.tokens)
    }
    tokenizer, about = escape(counted.tokenizer), _("The dialect its prompts are rendered in")
    sample = ""
    if preview.shows_sample_time:
        why = _("So that two previews can be compared, `current_datetime` is always this.")
        said = _("sample time")
        sample = f'\n  <span class="soft" title="{escape(why)}">{escape(said)}</span>'
    return mark_safe(
        f'<p class="figures">\n  <span class="num">{escape(characters)}</span>\n'
        f'  <span class="num" title="{tokenizer}">{"" if counted.exact else "≈ "}{escape(tokens)}'
        f' <span class="soft">({tokenizer})</span></span>\n'
        f'  <span class="tag plain" title="{escape(about)}">'
        f"{escape(preview.dialect.name)}</span>{sample}\n</p>"
    )


@register.simple_tag
def changes(change: Change | None) -> SafeString:
    """What differs from the last saved version's prompt: a sentence, or the lines behind a summary."""
    if change is None:
        return SafeString("")
    version = {"number": change.version}
    if change.template_changed and change.prompt_changed:
        since, lines, rows = _("Since v%(number)s") % version, _("lines"), _("What changed in the prompt")
        return mark_safe(
            '<details class="changes" id="changes" data-keep-open>\n'
            f"  <summary>{escape(since)}\n"
            f'    <span class="count added num">+{change.added}</span>'
            f' <span class="count removed num">−{change.removed}</span>\n'
            f'    <span class="soft">{escape(lines)}</span></summary>\n'
            '  <div class="change-rows" tabindex="0" role="region"'
            f' aria-label="{escape(rows)}">\n'
            f"  {change_rows(change.sections)}\n  </div>\n</details>"
        )
    if not change.template_changed:
        said = _("As in v%(number)s") % version
    elif change.diff is None:
        said = (
            _("Not compared with v%(number)s: it gives no prompt here, or one of them is too long.") % version
        )
    else:
        said = _("The template changed since v%(number)s; the prompt is the same here.") % version
    return mark_safe(f'<p class="changes soft">{escape(said)}</p>')


@register.filter
def change_rows(sections: Iterable[Section]) -> SafeString:
    """Lines that changed with some around them; words marked, every line with its sign."""
    return mark_safe("".join(_rows(sections)))


def _rows(sections: Iterable[Section]) -> Iterator[str]:
    for section in sections:
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
