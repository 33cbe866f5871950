"""Comparisons: two versions, or a version with the reader's draft, side by side; and versions × contexts."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe
from django_htmx.http import HttpResponseClientRefresh

from builder.template.variables import KINDS
from studio.compare.forms import CompareForm, MatrixForm
from studio.compare.matrix_page import MatrixPage
from studio.compare.page import ComparePage, compare_page, offers
from studio.compare.versions import MissingSide, NoDraft, SideName, missing_side
from studio.editor.sets import template_set
from studio.models import PromptSet
from studio.results.version_scores import scores_of
from studio.shell.downloads import attachment, download
from studio.shell.requests import person_of, valid_or_refuse
from studio.shell.turns import heavy


@require_safe
@heavy
def prompt_compare(request: HttpRequest, slug: str, old: SideName, new: SideName) -> HttpResponse:
    """The page; only some of its rows where it asks for those."""
    form = valid_or_refuse(CompareForm(request.GET))
    clean = form.cleaned_data
    if clean["old"] or clean["new"]:
        return _picked(request, slug, (old, new), (clean["old"] or old, clean["new"] or new))
    try:
        page = compare_page(slug, person_of(request), old, new, form)
    except MissingSide as missing:
        if clean["rows"]:
            raise
        return _without_side(request, slug, old, new, missing)
    if clean["rows"]:
        return rows_of(request, page, form)
    context = comparison(page, form) | {"old": old, "new": new, "offers": page.offers}
    return render(request, "compare/page.html", context, status=page.status)


def rows_of(request: HttpRequest, page: ComparePage, form: CompareForm) -> HttpResponse:
    """Some rows of a comparison, for a page that unfolds them."""
    wanted = form.cleaned_data["rows"][0]
    panel = page.panel(wanted.kind)
    stretches = panel.text.within(wanted.rows) if panel.text else []
    return render(request, "compare/_rows.html", {"page": page, "panel": panel, "stretches": stretches})


def comparison(page: ComparePage, form: CompareForm) -> dict[str, Any]:
    """What `compare/_comparison.html` shows: texts or prompts, and scores."""
    numbers = {side.name for side in (page.old, page.new) if isinstance(side.name, int)}
    scores = {} if page.is_same else scores_of(page.prompt_set, numbers, uncounted=False)
    return {
        "page": page,
        "prompt_set": page.prompt_set,
        "view": form.cleaned_data,
        "detect": form.cleaned_data["detect"],
        "scores": [score for score in scores.values() if score.main],
    }


@require_safe
@heavy
def prompt_compare_text(request: HttpRequest, slug: str, old: SideName, new: SideName) -> HttpResponse:
    """The same as unified text, to be downloaded."""
    form = valid_or_refuse(CompareForm(request.GET))
    page = compare_page(slug, person_of(request), old, new, form)
    answer = HttpResponse(page.unified(), content_type="text/plain; charset=utf-8")
    name = f"{slug}-{page.old.file_name}...{page.new.file_name}.diff"
    answer["Content-Disposition"] = attachment(name)
    return answer


def _without_side(
    request: HttpRequest, slug: str, old: SideName, new: SideName, missing: MissingSide
) -> HttpResponse:
    """The page without its texts. Who comes back to a draft most likely saved it, as the newest version."""
    prompt_set = get_object_or_404(PromptSet, slug=slug)
    newest = prompt_set.revision
    if isinstance(missing, NoDraft) and newest:
        left, right = (newest if side == "draft" else side for side in (old, new))
        if left != right:
            said = _("You have no unsaved draft of this set. Shown instead: v%(number)d, the newest version.")
            messages.info(request, said % {"number": newest})
            return _other_pair(request, slug, left, right)
    context = {
        "prompt_set": prompt_set,
        "missing": missing,
        "offers": offers(prompt_set, person_of(request)),
        "old": old,
        "new": new,
        "newest": prompt_set.latest,
    }
    return render(request, "compare/missing.html", context, status=404)


def _picked(
    request: HttpRequest, slug: str, present: tuple[SideName, SideName], picked: tuple[SideName, SideName]
) -> HttpResponse:
    """To the pair that was picked; where there is no such version, the page stays and says so."""
    prompt_set = get_object_or_404(PromptSet, slug=slug)
    for name in picked:
        if name != "draft" and name > prompt_set.revision:
            missing = missing_side(prompt_set, name)
            messages.warning(request, f"{missing.what} {missing.advice}")
            return _other_pair(request, slug, *present)
    return _other_pair(request, slug, *picked)


def _other_pair(request: HttpRequest, slug: str, old: SideName, new: SideName) -> HttpResponse:
    """To the address of the pair that was picked; rows that were unfolded are not those of another pair."""
    query = request.GET.copy()
    for name in ("old", "new", "open", "rows"):
        query.pop(name, None)
    address = reverse("prompt-compare", args=[slug, old, new])
    return redirect(f"{address}?{query.urlencode()}" if query else address)


@require_safe
def prompt_matrix(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The page with the rows that are known, one row alone, or some rows for a browser without scripts."""
    prompt_set = template_set(slug)
    clean = valid_or_refuse(MatrixForm(request.GET)).cleaned_data
    page = MatrixPage(prompt_set, person_of(request), clean)
    if clean["plain"] or "format" in request.GET:
        return _whole_matrix(request, page, clean)
    return _matrix(request, page, clean)


@heavy
def _whole_matrix(request: HttpRequest, page: MatrixPage, clean: dict[str, Any]) -> HttpResponseBase:
    """All at once: with scripts a page asks for row after row."""
    return _matrix(request, page, clean)


def _matrix(request: HttpRequest, page: MatrixPage, clean: dict[str, Any]) -> HttpResponseBase:
    prompt_set = page.prompt_set
    if not prompt_set.revision and page.draft is None:
        return render(request, "compare/matrix/none.html", {"prompt_set": prompt_set})
    if (file := download(request, {"matrix": page.download})) is not None:
        return file
    if clean["row"]:
        if clean["of"] and clean["of"] != page.signature:
            # A context came, went or grew since: the page has to begin anew.
            return HttpResponseClientRefresh()
        row = page.one_row(clean["row"])
        return render(request, "compare/matrix/_row.html", {"page": page, "row": row}, status=row.status)
    after = clean["after"] or 0
    rows = page.some_rows(after) if clean["plain"] else page.rows
    ready = sum(row.groups is not None for row in rows)
    context = {
        "page": page,
        "prompt_set": prompt_set,
        "rows": rows,
        "ready": ready,
        "plain": clean["plain"],
        "kinds": KINDS,
        # Of a plain page, the baseline comes first each time.
        "next": after + len(rows) - 1 if clean["plain"] and after + len(rows) - 1 < len(page.sides) else None,
        "first": after,
        "last": after + len(rows) - 1,
    }
    return render(request, "compare/matrix/page.html", context)
