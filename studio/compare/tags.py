"""Tags of comparisons: lines as HTML, cells of a matrix, and addresses that differ from the page's own.

The lines that changed since the last saved version are made in one go, because a preview has them too.
"""

from collections.abc import Iterable, Sequence
from html import escape
from urllib.parse import urlencode

from django import template
from django.http import HttpRequest, QueryDict
from django.utils.formats import number_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from builder.diff.lines import Line, Section
from builder.template.variables import PromptKind
from studio.compare.lines_html import changed_rows, escaped, marked
from studio.compare.matrix import Column, Group, MatrixCell
from studio.compare.matrix_page import MatrixPage, Row
from studio.compare.page import Offer
from studio.compare.versions import Panel, SideName, Stretch
from studio.preview.budgets import Fill
from studio.preview.rendering import Preview

register = template.Library()

_SIGNS = {"same": "=", "changed": "≠", "gained": "✓", "error": "!", "unknown": "?"}


@register.filter
def plain(line: Line) -> SafeString:
    """A line that is the same on both sides."""
    return mark_safe(escaped(line.text))


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
    request: HttpRequest = context["request"]
    query = {name: values for name, values in request.GET.lists() if name not in ("open", "rows")}
    for name, value in changes.items():
        if value is None:
            query.pop(name, None)
        else:
            query[name] = [str(value)]
    path = path or request.path
    return f"{path}?{urlencode(query, doseq=True)}" if query else path


@register.simple_tag(takes_context=True)
def opening(
    context: template.RequestContext, stretch: Stretch, kind: PromptKind, at_round: int | str | None
) -> str:
    """This page's address with these rows unfolded, beside those that are already."""
    query = _query(context, at_round)
    query.appendlist("open", f"{kind}.{stretch.start}-{stretch.stop}")
    return f"{context['request'].path}?{query.urlencode()}#{kind}-rows-{stretch.start}"


@register.simple_tag(takes_context=True)
def rows_alone(
    context: template.RequestContext, stretch: Stretch, kind: PromptKind, at_round: int | str | None
) -> str:
    """Where these rows alone are, for a page that is open already."""
    query = _query(context, at_round)
    query["rows"] = f"{kind}.{stretch.start}-{stretch.stop}"
    return f"{context['request'].path}?{query.urlencode()}"


@register.simple_tag
def options(offers: Iterable[Offer], chosen: SideName) -> SafeString:
    """What a picker offers. In one go: a picker has up to a hundred of them, and a page two pickers."""
    parts = ((offer.name, " selected" if offer.name == chosen else "", offer.title) for offer in offers)
    return format_html_join("\n", '<option value="{}"{}>{}</option>', parts)


@register.simple_tag(takes_context=True)
def overview_cells(context: template.RequestContext, row: Sequence[Panel], shown: int) -> SafeString:
    """A template's rounds, each a link to its prompt. In one go: a context can have sixty rounds."""
    parts = (
        (
            cell.state,
            " current" if cell.round == shown else "",
            address(context, round=cell.round),
            cell.kind,
            *_overview_words(cell),
        )
        for cell in row
    )
    return format_html_join(
        "\n",
        '<td class="cell {}{}"><a href="{}#{}"><span aria-hidden="true">{}</span> {}</a></td>',
        parts,
    )


def _overview_words(cell: Panel) -> tuple[str, str]:
    """The sign of a round's state, and the words or counts beside it."""
    if cell.state == "same":
        return _SIGNS["same"], _("same")
    if cell.state == "problems":
        return _SIGNS["error"], _("can’t render")
    if cell.state == "unknown":
        return _SIGNS["unknown"], _("not checked")
    if cell.text is None or cell.text.diff is None:
        return _SIGNS["changed"], _("changed")
    counts = '<span class="count added num">+{}</span> <span class="count removed num">−{}</span>'
    numbers = (
        number_format(number, force_grouping=True)
        for number in (cell.text.diff.added, cell.text.diff.removed)
    )
    return _SIGNS["changed"], format_html(counts, *numbers)


def _query(context: template.RequestContext, at_round: int | str | None = None) -> QueryDict:
    """The page's own; rows of a prompt are those of its round, which the address may have left open."""
    request: HttpRequest = context["request"]
    query = request.GET.copy()
    query.pop("rows", None)
    if at_round:
        query["round"] = str(at_round)
    return query


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
        return SafeString("")
    if diff is None:
        said = (
            _("Not compared with v%(number)s: it can’t be rendered here, or one of the prompts is too long.")
            % version
        )
    else:
        said = _("The template changed since v%(number)s; the prompt is the same here.") % version
    return mark_safe(f'<p class="changes soft">{escape(said)}</p>')


@register.filter
def change_rows(sections: Iterable[Section]) -> SafeString:
    """Lines that changed with some around them; words marked, every line with its sign."""
    return mark_safe("".join(changed_rows(sections)))


@register.simple_tag
def compared_at(page: MatrixPage, row: Row, group: Group, cell: MatrixCell) -> str:
    """The address of the rendered comparison behind a cell."""
    return page.compare_url(row, group, cell)


@register.simple_tag
def one_prompt(kind: PromptKind, slug: str | None, number: int) -> str:
    """The query that names a template, a context and one of its rounds."""
    return urlencode({"kind": kind, "context": slug or "", "round": number})


@register.filter
def sign(cell: MatrixCell) -> str:
    """The state in one character."""
    return _SIGNS[cell.state]


@register.filter
def signed_count(number: int) -> str:
    """A difference: +1,024, −3 or ±0."""
    way = "+" if number > 0 else "−" if number < 0 else "±"
    return f"{way}{number_format(abs(number), force_grouping=True)}"


@register.simple_tag
def cell_words(cell: MatrixCell) -> str:
    """The cell in a sentence."""
    if cell.state == "same":
        return _("unchanged")
    if cell.state == "gained":
        return _("renders here, but the baseline does not")
    if cell.state == "unknown":
        return _("not checked")
    if cell.state == "error":
        why = _("line %(line)d") % {"line": cell.line} + f": {cell.why}" if cell.line else cell.why
        return _("can’t render: %(why)s") % {"why": why}
    more = cell.tokens_more or 0
    parts = [_("changed")]
    if cell.added is not None and cell.removed is not None:
        added = ngettext("%(n)d line added", "%(n)d lines added", cell.added) % {"n": cell.added}
        removed = ngettext("%(n)d line removed", "%(n)d lines removed", cell.removed) % {"n": cell.removed}
        parts += [added, removed]
    parts.append(ngettext("%(n)s token", "%(n)s tokens", abs(more)) % {"n": signed_count(more)})
    return _(", ").join(parts)


@register.simple_tag
def against_budget(
    page: MatrixPage, row: Row, group: Group, cell: MatrixCell, only_round: bool
) -> SafeString:
    """The longest prompt of the cell against the budget, a word where it is over, the sum of all rounds."""
    shown = (cell,) if only_round else group.cells
    cells = [cell for cell in shown if cell.tokens is not None]
    if not cells:
        return SafeString("")
    drawn, several = "", not only_round and len(group.cells) > 1
    if page.budget:
        longest = max(cells, key=lambda cell: cell.tokens or 0)
        drawn += _thin_bar(longest.tokens or 0, longest.fill(page.budget), page.budget)
        over = sum(cell.fill(page.budget) == "over" for cell in cells)
        if over:
            word, where = _("over"), {"n": over, "all": len(group.cells)}
            more = _("over budget in %(n)d of %(all)d rounds") % where if several else _("over budget")
            drawn += (
                f'<span class="over-budget" title="{escape(more)}">'
                f'<span aria-hidden="true">▲ {escape(word)}</span>'
                f'<span class="visually-hidden">{escape(more)}</span></span>'
            )
    if several and row.is_baseline and group.total is not None:
        tokens = number_format(group.total, force_grouping=True)
        words = _("all rounds together: %(tokens)s tokens") % {"tokens": tokens}
        drawn += (
            f'<span class="cell-more" title="{escape(words)}"><span aria-hidden="true">Σ {tokens}</span>'
            f'<span class="visually-hidden">{escape(words)}</span></span>'
        )
    return mark_safe(drawn)


@register.filter
def open_in(column: Column, page: MatrixPage) -> bool:
    """Whether each round of the context has a column."""
    return column.slug in page.opened and len(column.at_rounds) > 1


@register.simple_tag
def width(page: MatrixPage) -> str:
    """How many columns there are beside the versions."""
    return str(sum(len(column.at_rounds) if open_in(column, page) else 1 for column in page.columns))


@register.simple_tag(takes_context=True)
def turned(context: template.RequestContext, column: Column, page: MatrixPage) -> str:
    """This page with the context's rounds unfolded, or folded where they are not."""
    query = _matrix_query(context)
    opened = {other.slug for other in page.columns if open_in(other, page)} ^ {column.slug}
    query.pop("all", None)
    query.setlist("open", [other.slug for other in page.columns if other.slug in opened])
    return f"{context['request'].path}?{query.urlencode()}"


@register.simple_tag(takes_context=True)
def based_on(context: template.RequestContext, page: MatrixPage, row: Row) -> str:
    """This page with that version as the baseline, and the present one among the versions."""
    query = _matrix_query(context)
    if page.clean["versions"]:
        query.appendlist("versions", str(page.baseline.name))
    query["baseline"] = str(row.side.name)
    query.pop("after", None)
    return f"{context['request'].path}?{query.urlencode()}"


@register.simple_tag(takes_context=True)
def row_alone(context: template.RequestContext, page: MatrixPage, row: Row) -> str:
    """Where that row alone is, against the very version that stands above it, though a label may move."""
    query = _matrix_query(context)
    query["baseline"], query["row"] = str(page.baseline.name), str(row.side.name)
    query["of"] = page.signature
    for name in ("versions", "plain", "after"):
        query.pop(name, None)
    return f"{context['request'].path}?{query.urlencode()}"


@register.simple_tag(takes_context=True)
def row_plain(context: template.RequestContext, page: MatrixPage, row: Row) -> str:
    """A page with that row, for a browser without scripts."""
    query = _matrix_query(context)
    query["baseline"], query["plain"], query["versions"] = str(page.baseline.name), "on", str(row.side.name)
    query.pop("after", None)
    return f"{context['request'].path}?{query.urlencode()}#{row.id}"


def _matrix_query(context: template.RequestContext) -> QueryDict:
    request: HttpRequest = context["request"]
    query = request.GET.copy()
    for name in ("row", "of"):
        query.pop(name, None)
    return query


def _thin_bar(tokens: int, fill: Fill, budget: int) -> str:
    """The bar of a table's cell."""
    length = max(tokens, budget)
    drawn = f'<rect class="share own" x="0" y="0" width="{100 * tokens / length:.2f}" height="4"/>'
    if tokens > budget:
        edge = 100 * budget / length
        drawn += f'<rect class="beyond" x="{edge:.2f}" y="0" width="{100 - edge:.2f}" height="4"/>'
    return (
        f'<svg class="cell-bar {fill}" viewBox="0 0 100 4" preserveAspectRatio="none"'
        f' aria-hidden="true">{drawn}</svg>'
    )
