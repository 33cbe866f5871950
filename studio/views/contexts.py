"""Sample contexts: the list, one of them, and one as JSON."""

from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from builder.rounds import rounds_of
from studio.context_document import context_document
from studio.forms import clean_or_refuse
from studio.forms.contexts import SHARED, ContextSearchForm
from studio.htmx import Request
from studio.models import PromptSet, SampleContext
from studio.models.prompts import Holds
from studio.samples import add_samples, missing_samples, translated_texts
from studio.score_lines import write_details
from studio.sets import template_set

CONTEXTS_PER_PAGE = 50
SETS_OFFERED = 8
ROUNDS_OFFERED = 8


@require_safe
def context_list(request: Request) -> HttpResponse:
    """All contexts, or those that match a search or that one set uses."""
    wanted = clean_or_refuse(ContextSearchForm, request.GET)
    contexts = SampleContext.objects.select_related("prompt_set").defer("submission")
    prompt_set = None
    if wanted["set"] == SHARED:
        contexts = contexts.filter(prompt_set=None)
    elif wanted["set"]:
        prompt_set = template_set(wanted["set"])
        contexts = contexts.for_set(prompt_set)
    contexts = contexts.search(wanted["q"], translated_texts()).filter(pk__gt=wanted["after"] or 0)
    # One row more than shown tells whether there is another page, without counting them all.
    rows = list(contexts[: CONTEXTS_PER_PAGE + 1])
    shown, more = rows[:CONTEXTS_PER_PAGE], len(rows) > CONTEXTS_PER_PAGE
    asked = {name: wanted[name] for name in ("set", "q") if wanted[name]}
    context = {
        "contexts": shown,
        "first_url": "?" + urlencode(asked) if wanted["after"] else "",
        "next_url": "?" + urlencode({**asked, "after": shown[-1].pk}) if more else "",
        "q": wanted["q"],
        "set": wanted["set"],
        "sets": PromptSet.objects.filter(archived=False, holds=Holds.PROMPTS).order_by("name", "pk"),
        "prompt_set": prompt_set,
        "missing": missing_samples(),
    }
    part = request.htmx.target == "contexts"
    return render(request, "contexts/_list.html" if part else "contexts/list.html", context)


@require_safe
def context_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """One context: the task, the rounds before, the ranking, and the JSON behind them."""
    context = get_object_or_404(SampleContext.objects.select_related("prompt_set"), slug=slug)
    values = context.values
    sets = PromptSet.objects.filter(archived=False, holds=Holds.PROMPTS).order_by("-changed_at", "pk")
    if context.prompt_set is not None:
        sets = PromptSet.objects.filter(pk=context.prompt_set.pk)
    return render(
        request,
        "contexts/detail.html",
        {
            "context": context,
            "round": values.round,
            "history": [(state, write_details(state.score_details)) for state in values.round.round_history],
            "json": context_document(values),
            "sets": sets[:SETS_OFFERED],
            "rounds": rounds_of(values.round)[-ROUNDS_OFFERED:],
        },
    )


@require_safe
def context_json(request: HttpRequest, slug: str) -> HttpResponse:
    """The context as a file."""
    context = get_object_or_404(SampleContext.objects.select_related("prompt_set"), slug=slug)
    answer = HttpResponse(context_document(context.values) + "\n", content_type="application/json")
    name = content_disposition_header(as_attachment=True, filename=f"{context.slug}.json")
    answer.headers["Content-Disposition"] = name or "attachment"
    return answer


@require_POST
def context_samples(request: HttpRequest) -> HttpResponse:
    """Bring the contexts that the studio ships; what is there stays as it is."""
    added = add_samples(timezone.now())
    said = ngettext("%(n)d context is added.", "%(n)d contexts are added.", added) % {"n": added}
    messages.success(request, said if added else _("All of them are there already."))
    return redirect("context-list")
