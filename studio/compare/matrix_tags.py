"""The cells of a matrix: where they lead, and what they say to who cannot see them."""

from html import escape

from django import template
from django.http import HttpRequest, QueryDict
from django.utils.formats import number_format
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from studio.compare.matrix import Column, Group, MatrixCell
from studio.compare.matrix_page import MatrixPage, Row
from studio.preview.budgets import Fill

register = template.Library()

_SIGNS = {"same": "=", "changed": "≠", "gained": "✓", "error": "!", "unknown": "?"}


@register.simple_tag
def compared_at(page: MatrixPage, row: Row, group: Group, cell: MatrixCell) -> str:
    """The address of the rendered comparison behind a cell."""
    return page.compare_url(row, group, cell)


@register.filter
def sign(cell: MatrixCell) -> str:
    """The state in one character."""
    return _SIGNS[cell.state]


@register.filter
def signed(number: int) -> str:
    """A difference: +1,024, −3 or ±0."""
    way = "+" if number > 0 else "−" if number < 0 else "±"
    return f"{way}{number_format(abs(number), force_grouping=True)}"


@register.simple_tag
def told(cell: MatrixCell) -> str:
    """The cell in a sentence."""
    if cell.state == "same":
        return _("unchanged")
    if cell.state == "gained":
        return _("gives a prompt here, which the baseline does not")
    if cell.state == "unknown":
        return _("not tried")
    if cell.state == "error":
        why = _("line %(line)d") % {"line": cell.line} + f": {cell.why}" if cell.line else cell.why
        return _("no prompt: %(why)s") % {"why": why}
    more = cell.tokens_more or 0
    parts = [_("changed")]
    if cell.added is not None and cell.removed is not None:
        added = ngettext("%(n)d line added", "%(n)d lines added", cell.added) % {"n": cell.added}
        removed = ngettext("%(n)d line removed", "%(n)d lines removed", cell.removed) % {"n": cell.removed}
        parts += [added, removed]
    parts.append(ngettext("%(n)s token", "%(n)s tokens", abs(more)) % {"n": signed(more)})
    return _(", ").join(parts)


@register.simple_tag
def against_budget(
    page: MatrixPage, row: Row, group: Group, cell: MatrixCell, only_round: bool
) -> SafeString:
    """The longest prompt of the cell against the budget, a word where it is over, the sum of all rounds."""
    cells = [each for each in ((cell,) if only_round else group.cells) if each.tokens is not None]
    if not cells:
        return SafeString("")
    drawn, several = "", not only_round and len(group.cells) > 1
    if page.budget:
        longest = max(cells, key=lambda each: each.tokens or 0)
        drawn += _thin_bar(longest.tokens or 0, longest.fill(page.budget), page.budget)
        over = sum(each.fill(page.budget) == "over" for each in cells)
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
    return str(sum(len(each.at_rounds) if open_in(each, page) else 1 for each in page.columns))


@register.simple_tag(takes_context=True)
def turned(context: template.RequestContext, column: Column, page: MatrixPage) -> str:
    """This page with the context's rounds unfolded, or folded where they are not."""
    query = _query(context)
    opened = {each.slug for each in page.columns if open_in(each, page)} ^ {column.slug}
    query.pop("all", None)
    query.setlist("open", [each.slug for each in page.columns if each.slug in opened])
    return f"{context['request'].path}?{query.urlencode()}"


@register.simple_tag(takes_context=True)
def based_on(context: template.RequestContext, page: MatrixPage, row: Row) -> str:
    """This page with that version as the baseline, and the present one among the versions."""
    query = _query(context)
    if page.clean["versions"]:
        query.appendlist("versions", str(page.baseline.name))
    query["baseline"] = str(row.side.name)
    query.pop("after", None)
    return f"{context['request'].path}?{query.urlencode()}"


@register.simple_tag(takes_context=True)
def row_alone(context: template.RequestContext, page: MatrixPage, row: Row) -> str:
    """Where that row alone is, against the very version that stands above it, though a label may move."""
    query = _query(context)
    query["baseline"], query["row"] = str(page.baseline.name), str(row.side.name)
    query["of"] = page.signature
    for name in ("versions", "plain", "after"):
        query.pop(name, None)
    return f"{context['request'].path}?{query.urlencode()}"


@register.simple_tag(takes_context=True)
def row_plain(context: template.RequestContext, page: MatrixPage, row: Row) -> str:
    """A page with that row, for a browser without scripts."""
    query = _query(context)
    query["baseline"], query["plain"], query["versions"] = str(page.baseline.name), "on", str(row.side.name)
    query.pop("after", None)
    return f"{context['request'].path}?{query.urlencode()}#{row.id}"


def _query(context: template.RequestContext) -> QueryDict:
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
