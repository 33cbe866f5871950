"""The matrix: versions × contexts, against a baseline."""

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe
from django_htmx.http import HttpResponseClientRefresh

from builder.template.variables import KINDS
from studio.compare.matrix_forms import MatrixForm
from studio.compare.matrix_page import MatrixPage
from studio.editor.sets import template_set
from studio.shell.downloads import download
from studio.shell.requests import person_of, valid_or_refuse


@require_safe
def prompt_matrix(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The page with the rows that are known, one row alone, or some rows for a browser without scripts."""
    prompt_set = template_set(slug)
    clean = valid_or_refuse(MatrixForm(request.GET)).cleaned_data
    page = MatrixPage(prompt_set, person_of(request), clean)
    if not prompt_set.revision and page.draft is None:
        return render(request, "matrix/none.html", {"prompt_set": prompt_set})
    if (file := download(request, {"matrix": page.download})) is not None:
        return file
    if clean["row"]:
        if clean["of"] and clean["of"] != page.signature:
            # A context came, went or grew since: the page has to begin anew.
            return HttpResponseClientRefresh()
        row = page.one_row(clean["row"])
        return render(request, "matrix/_row.html", {"page": page, "row": row}, status=row.status)
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
    return render(request, "matrix/page.html", context)
