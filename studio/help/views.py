"""The help's pages."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from studio.help.glossary import TERMS
from studio.help.pages import PAGES, page_named
from studio.shell.language import reader_language


@require_safe
def help_index(request: HttpRequest) -> HttpResponse:
    """The list of pages, and the glossary by title in the reader's language."""
    terms = sorted(TERMS.values(), key=lambda term: str(term.title).casefold())
    return render(request, "help/index.html", {"pages": PAGES, "terms": terms})


@require_safe
def help_page(request: HttpRequest, slug: str) -> HttpResponse:
    """One page in the reader's language."""
    page = page_named(slug)
    if page is None:
        raise Http404
    place = PAGES.index(page)
    context = {
        "page": page,
        "language": reader_language(),
        "terms": [term for term in TERMS.values() if term.page == slug],
        "previous": PAGES[place - 1] if place else None,
        "next": PAGES[place + 1] if place + 1 < len(PAGES) else None,
    }
    return render(request, f"help/{reader_language()}/{slug}.html", context)
