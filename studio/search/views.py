"""The search page, and the palette's answers."""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from studio.prompts.history import words_of
from studio.search.contexts import search_contexts
from studio.search.folded_texts import Matches, TextSearch
from studio.search.forms import PaletteForm, SearchPageForm
from studio.search.names import find_names
from studio.search.tasks import search_tasks
from studio.search.versions import search_versions
from studio.shell.requests import person_of, valid_or_refuse

_FEW, _MANY = 10, 30
"""Matches of each part on the page of all parts, and on the page of one."""
_NAMES = 6
_SEARCHES: Mapping[str, Callable[..., Matches[Any]]] = {
    "prompts": search_versions,
    "contexts": search_contexts,
    "runs": search_tasks,
}


@require_safe
def search(request: HttpRequest) -> HttpResponse:
    """What texts say: versions of all sets, contexts and tasks of runs; above them, what has such a name."""
    form = SearchPageForm(request.GET)
    context: dict[str, Any] = {"form": form, "q": request.GET.get("q", "")[:200]}
    if not form.is_valid():
        return render(request, "search/page.html", context, status=400)
    wanted = form.cleaned_data
    words = words_of(wanted["q"])
    if words:
        search = TextSearch(words)
        size = _MANY if wanted["part"] else _FEW
        parts = [wanted["part"]] if wanted["part"] else list(_SEARCHES)
        context["part"] = wanted["part"]
        context["names"] = [] if wanted["part"] else find_names(wanted["q"], person_of(request))[:_NAMES]
        for part in parts:
            found = _SEARCHES[part](search, start=wanted["start"] or 0, size=size)
            more = {"q": wanted["q"], "part": part, "start": found.next}
            context[part] = found
            context[f"more_{part}"] = f"?{urlencode(more)}" if found.next is not None else ""
        context["nothing"] = not any(context[part] for part in (*parts, "names"))
    return render(request, "search/page.html", context)


@require_safe
def palette(request: HttpRequest) -> HttpResponse:
    """The palette's list, as a part of a page."""
    form = valid_or_refuse(PaletteForm(request.GET))
    query = form.cleaned_data["q"]
    context = {
        "names": find_names(query, person_of(request), form.actions()),
        "q": query,
        "search_url": f"{reverse('search')}?{urlencode({'q': query})}",
    }
    return render(request, "search/_palette.html", context)
