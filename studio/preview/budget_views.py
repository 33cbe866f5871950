"""A set's budgets and its model."""

from django.contrib import messages
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from builder.errors import JailError
from studio.contexts.at_round import context_at
from studio.editor.view_forms import read_view, sent_text
from studio.models import PromptSet
from studio.preview.budget_forms import BudgetForm
from studio.preview.round_costs import prompt_cost
from studio.preview.source import preview_source
from studio.prompts.views import settings_page
from studio.shell.requests import person_of, refuse_other_encodings


@require_POST
def prompt_costs(request: HttpRequest, slug: str) -> HttpResponse:
    """What the text in the editor costs with a cache; 204 where that cannot be said now."""
    refuse_other_encodings(request)
    view = read_view(request.POST)
    source = preview_source(slug, view.context)
    text, seen = sent_text(request.POST, view.kind), context_at(source.context, view.round, source.whole)
    try:
        cost = prompt_cost(source.prompt_set, view.kind, text, seen, owner=str(person_of(request).pk))
    except JailError:
        cost = None
    if cost is None:
        return HttpResponse(status=204)
    context = {"cost": cost, "model": source.prompt_set.language_model}
    return HttpResponse(render_to_string("budgets/_cost.html", context))


@require_POST
def prompt_budgets(request: HttpRequest, slug: str) -> HttpResponse:
    """Store what was said; an empty field is as usual."""
    prompt_set = get_object_or_404(PromptSet, slug=slug)
    form = BudgetForm(request.POST, prompt_set=prompt_set)
    if form.is_valid():
        if _stored(prompt_set, form):
            messages.success(request, _("Budgets and model are saved."))
            return redirect(prompt_set)
        form.add_error("language_model", _("Somebody deleted this model just now."))
    return settings_page(request, prompt_set, budget_form=form)


def _stored(prompt_set: PromptSet, form: BudgetForm) -> bool:
    said = {} if form.is_system else {"budgets": form.budgets, "round_config": form.round_config}
    try:
        with transaction.atomic():
            PromptSet.objects.filter(pk=prompt_set.pk).update(
                language_model=form.cleaned_data["language_model"], **said
            )
    except IntegrityError:
        return False
    return True
