"""A set's budgets and its model."""

from django.contrib import messages
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from studio.forms.budgets import BudgetForm
from studio.models import PromptSet
from studio.views.prompts import settings_page


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
