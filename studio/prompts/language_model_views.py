"""Views of the table of language models: the list, adding, correcting, resetting and deleting."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from studio.access.roles import Action, needs
from studio.prompts import language_models
from studio.prompts.language_model_forms import LanguageModelForm, SeenModelForm, name_taken
from studio.prompts.language_models import SHIPPED, LanguageModel, ListedModel, ModelConflict, NameTaken
from studio.prompts.models import PromptSet
from studio.shell import downloads
from studio.shell.refusal import RequestRefused
from studio.shell.requests import person_of, valid_or_refuse

_METHODS = ["GET", "HEAD", "POST"]


@require_safe
def model_list(request: HttpRequest) -> HttpResponseBase:
    """Every model with its figures, and how old they are."""
    rows = language_models.listed(timezone.localdate())
    if (file := downloads.download(request, {"models": lambda: _file(rows)})) is not None:
        return file
    context = {
        "rows": rows,
        "oldest": min(rows, key=lambda row: row.model.as_of, default=None),
        "missing": language_models.missing(),
    }
    return render(request, "prompts/language_models/list.html", context)


@require_http_methods(_METHODS)
@needs(Action.EDIT)
def model_new(request: HttpRequest) -> HttpResponse:
    """Add a model to the table."""
    form = LanguageModelForm(request.POST if request.method == "POST" else None, today=timezone.localdate())
    if form.is_valid():
        try:
            made = language_models.make(form.cleaned_data, by=person_of(request), at=timezone.now())
        except NameTaken:
            form.add_error("name", name_taken())
        else:
            messages.success(request, _("%(name)s added.") % {"name": made.name})
            return redirect("model-list")
    return _form_page(request, form, None)


@require_http_methods(_METHODS)
@needs(Action.EDIT)
def model_edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Correct a model's figures; whoever has not seen the newest ones is shown them first."""
    model = get_object_or_404(LanguageModel.objects.select_related("changed_by"), pk=pk)
    form = LanguageModelForm(
        request.POST if request.method == "POST" else None, model=model, today=timezone.localdate()
    )
    if request.method != "POST":
        return _form_page(request, form, model)
    seen = valid_or_refuse(SeenModelForm(request.POST)).cleaned_data["revision"]
    if not form.is_valid():
        return _form_page(request, form, model, revision=seen)
    try:
        language_models.change(
            model, form.cleaned_data, revision=seen, by=person_of(request), at=timezone.now()
        )
    except NameTaken:
        form.add_error("name", name_taken())
        return _form_page(request, form, model, revision=seen)
    except ModelConflict:
        stored = LanguageModel.objects.select_related("changed_by").filter(pk=pk).first()
        if stored is None:
            raise RequestRefused(
                409, _("Someone else deleted this model."), _("Add it again from the list.")
            ) from None
        return _form_page(request, form, stored, status=409, differences=form.differences(stored))
    messages.success(request, _("%(name)s saved.") % {"name": form.cleaned_data["name"]})
    return redirect("model-list")


@require_POST
@needs(Action.EDIT)
def model_reset(request: HttpRequest, pk: int) -> HttpResponse:
    """The figures that the studio shipped."""
    model = get_object_or_404(LanguageModel, pk=pk)
    seen = valid_or_refuse(SeenModelForm(request.POST)).cleaned_data["revision"]
    if model.name not in SHIPPED:
        raise RequestRefused(404, _("There are no bundled prices for %(name)s.") % {"name": model.name})
    try:
        language_models.back_to_shipped(model, revision=seen)
    except ModelConflict:
        raise _conflict() from None
    messages.success(request, _("Bundled prices of %(name)s restored.") % {"name": model.name})
    return redirect("model-list")


@require_http_methods(_METHODS)
@needs(Action.EDIT)
def model_delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Take a model out of the table, once it was said which sets name it."""
    model = get_object_or_404(LanguageModel, pk=pk)
    if request.method == "POST":
        seen = valid_or_refuse(SeenModelForm(request.POST)).cleaned_data
        try:
            language_models.discard(model, revision=seen["revision"], sets=seen["sets"] or 0)
        except ModelConflict:
            raise _conflict() from None
        messages.success(request, _("%(name)s deleted.") % {"name": model.name})
        return redirect("model-list")
    sets = list(PromptSet.objects.filter(language_model=model).order_by("name", "pk"))
    return render(request, "prompts/language_models/delete.html", {"model": model, "sets": sets})


@require_POST
@needs(Action.EDIT)
def model_shipped(request: HttpRequest) -> HttpResponse:
    """Put the shipped models back that are not in the table."""
    added = language_models.add_missing()
    said = ngettext("%(count)d model was added.", "%(count)d models were added.", added)
    messages.success(request, said % {"count": added})
    return redirect("model-list")


def _conflict() -> RequestRefused:
    return RequestRefused(
        409,
        _("This model was changed, or chosen in a set, since you opened the page."),
        _("Check it in the table of models again."),
    )


def _form_page(
    request: HttpRequest,
    form: LanguageModelForm,
    model: LanguageModel | None,
    *,
    status: int = 422,
    revision: int | None = None,
    **more: Any,
) -> HttpResponse:
    context = {
        "form": form,
        "model": model,
        "row": ListedModel(model, timezone.localdate()) if model else None,
        "revision": revision or (model.revision if model else 0),
        **more,
    }
    return render(
        request,
        "prompts/language_models/edit.html",
        context,
        status=status if request.method == "POST" else 200,
    )


def _file(rows: list[ListedModel]) -> downloads.Table:
    numbers = ("context_tokens", "cache_minimum", "cache_step")
    prices = ("input_price", "cached_price", "cache_write_price", "output_price")
    columns = ("name", "provider", *numbers, *prices, "as_of", "shipped", "changed_at", "note")
    lines = [
        (
            row.model.name,
            row.model.provider,
            *(getattr(row.model, name) for name in numbers),
            *(None if (price := getattr(row.model, name)) is None else float(price) for name in prices),
            row.model.as_of,
            row.is_shipped and not row.is_changed,
            row.model.changed_at,
            row.model.note,
        )
        for row in rows
    ]
    return downloads.Table("models", columns, lines)
