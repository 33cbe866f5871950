"""HTML of a previewed prompt: the line of rounds above it, and the prompt with its marks."""

from collections.abc import Iterator
from functools import lru_cache
from html import escape

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from builder.diff.lines import Diff
from studio.preview.cacheable_prefix import CacheablePrefixes

MOST_BUTTONS = 5
"""Rounds that have a button each; more of them would push the text away."""

_SWAP = 'hx-target="#preview" hx-swap="outerHTML" hx-sync="closest form:replace"'


@lru_cache(maxsize=256)
def rounds_line(language: str | None, url: str, rounds: tuple[int, ...], current: int) -> str:
    """A button for each round, or of many a list between two arrows; ``language`` is the reader's."""
    word = escape(_("Round"))
    inside = _buttons(url, rounds, current) if len(rounds) <= MOST_BUTTONS else _list(url, rounds, current)
    return f'<div class="rounds" role="group" aria-label="{word}">{inside}</div>'


def _way(url: str) -> str:
    return f'formaction="{escape(url)}" formnovalidate hx-post="{escape(url)}" {_SWAP}'


def _after(rounds: tuple[int, ...], current: int) -> int:
    """The next round; after the last comes the first."""
    return rounds[(rounds.index(current) + 1) % len(rounds)]


def _buttons(url: str, rounds: tuple[int, ...], current: int) -> str:
    word, following = escape(_("Round")), _after(rounds, current)
    buttons = f'<span class="soft" aria-hidden="true">{word}</span>'
    for number in rounds:
        marks = ' aria-current="true"' if number == current else ""
        marks += " data-next-round" if number == following != current else ""
        buttons += (
            f'<button class="small" id="round-{number}" name="go" value="{number}" data-round="{number}"'
            f" {_way(url)}{marks}>{number}</button>"
        )
    return f'{buttons}<input type="hidden" name="round" value="{current}">'


def _list(url: str, rounds: tuple[int, ...], current: int) -> str:
    word, last = escape(_("Round")), rounds[-1]
    before, after = escape(_("Previous round")), escape(_("Next round"))
    options = "".join(
        f'<option value="{number}" data-round="{number}"{" selected" if number == current else ""}>'
        f"{number}</option>"
        for number in rounds
    )
    if last > len(rounds):
        left_out = _("Not listed: rounds without a submission, and the oldest of a long history")
        options += f"<option disabled>{escape(left_out)}</option>"
    of_all = _("of %(count)s") % {"count": number_format(last, force_grouping=True)}
    return (
        f'<button class="small" id="round-before" name="go" value="{rounds[rounds.index(current) - 1]}"'
        f' {_way(url)} title="{before}" aria-label="{before}">‹</button>'
        f'<select id="round" name="round" aria-label="{word}" hx-post="{escape(url)}" {_SWAP}>'
        f"{options}</select>"
        f'<span class="soft num of-all">{escape(of_all)}</span>'
        f'<button class="small" id="round-after" name="go" value="{_after(rounds, current)}"'
        f' {_way(url)} title="{after}" aria-label="{after}" data-next-round>›</button>'
    )


def marked_lines(text: str, diff: Diff) -> Iterator[str]:
    """The prompt; lines that the saved version's does not have are marked, and places where it has more."""
    lines = text.split("\n")
    done = 0

    def upto(stop: int) -> str:
        return escape("\n".join(lines[done:stop]) + ("\n" if stop < len(lines) else ""))

    for run in diff.runs:
        if run.kind == "equal":
            continue
        if run.right > done:
            yield upto(run.right)
            done = run.right
        if run.kind == "removed":
            gone = ngettext("%(n)d line removed", "%(n)d lines removed", run.size) % {"n": run.size}
            yield f'<span class="lines-gone" title="{escape(gone)}"></span>'
            continue
        yield f'<ins class="new-lines">{upto(run.right + run.size)}</ins>'
        done = run.right + run.size
    if done < len(lines):
        yield upto(len(lines))


def shaded(text: str, prefixes: CacheablePrefixes) -> str:
    """The prompt with its cacheable prefix marked."""
    # Beyond the basic plane a character is two units; as UTF-16, offsets are the browser's.
    units = text.encode("utf-16-le", "surrogatepass")
    task, end = (2 * prefix.units for prefix in (prefixes.task, prefixes.round))
    parts = (units[:task], units[task:end], units[max(task, end) :])
    same_task, same_round, rest = (escape(part.decode("utf-16-le", "surrogatepass")) for part in parts)
    shades = "".join(
        f'<span class="stable {name} end">{part}</span>'
        for name, part in (("task", same_task), ("round", same_round))
        if part
    )
    return f"{shades}{rest}"
