"""What real runs and the templates themselves suggest; and coverage for the editor, beside its preview."""

from threading import BoundedSemaphore

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from builder.errors import JailError
from studio.coverage import reached
from studio.forms import clean_or_refuse
from studio.forms.editor import refuse_other_encodings
from studio.forms.editor_view import read_view, sent_text
from studio.forms.suggestions import SuggestionsForm
from studio.htmx import Request
from studio.people import person_of
from studio.sets import template_set
from studio.suggestion_page import suggestions_for

_AT_ONCE = BoundedSemaphore(2)
"""Coverages under way: it can wait, and must not take the threads that previews are answered with."""


@require_safe
def prompt_suggestions(request: Request, slug: str) -> HttpResponse:
    """Rounds to keep as sample contexts, lines that none reaches, variables that no template uses."""
    prompt_set = template_set(slug)
    wanted = clean_or_refuse(SuggestionsForm, request.GET)["version"]
    page = suggestions_for(prompt_set, person_of(request), wanted)
    part = request.htmx.target == "suggestion-counts"
    context = {"page": page, "prompt_set": prompt_set}
    return render(request, "suggestions/_counts.html" if part else "suggestions/page.html", context)


@require_POST
def prompt_coverage(request: HttpRequest, slug: str) -> HttpResponse:
    """The lines of the text in the editor that no sample context reaches; 204 where it has to wait."""
    refuse_other_encodings(request)
    view = read_view(request.POST)
    text = sent_text(request.POST, view.kind)
    prompt_set = template_set(slug)
    if not _AT_ONCE.acquire(blocking=False):
        return HttpResponse(status=204)
    try:
        found = reached(prompt_set, view.kind, text)
    except JailError:
        return HttpResponse(status=204)
    finally:
        _AT_ONCE.release()
    return JsonResponse({"kind": found.kind, "known": found.known, "unreached": found.unreached})
