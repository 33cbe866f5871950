"""Sample contexts: the list and one of them."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from builder.models import context_json
from studio.forms import SearchForm, clean_or_refuse
from studio.models import SampleContext


@require_safe
def context_list(request: HttpRequest) -> HttpResponse:
    """All contexts, or those that match a search."""
    q = clean_or_refuse(SearchForm, request.GET)["q"]
    contexts = SampleContext.objects.select_related("prompt_set").search(q)
    part = request.headers.get("HX-Target") == "contexts"
    template = "contexts/_list.html" if part else "contexts/list.html"
    return render(request, template, {"contexts": contexts, "q": q})


@require_safe
def context_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """One context: the task, the rounds before, the ranking, and the JSON behind them."""
    context = get_object_or_404(SampleContext.objects.select_related("prompt_set"), slug=slug)
    round_context = context.round_context
    return render(
        request,
        "contexts/detail.html",
        {"context": context, "round": round_context, "json": context_json(round_context)},
    )
