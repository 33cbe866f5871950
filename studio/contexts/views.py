"""Sample contexts: the list, one of them as a page and as JSON, making, changing and deleting them."""

import uuid
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from builder.template.rounds import rounds_of
from studio.access.roles import Action, needs
from studio.contexts.forms import (
    SHARED,
    AboutForm,
    ContextForm,
    ContextSearchForm,
    RevisionSeenForm,
    SetContextsForm,
    name_taken,
)
from studio.contexts.json_forms import ContextJsonForm
from studio.contexts.list_page import CheckedContexts, listed
from studio.contexts.models import ContextConflict, ContextValues, NameTaken, SampleContext
from studio.contexts.pasted_json import write_details
from studio.contexts.samples import add_samples, missing_samples, translated_texts
from studio.contexts.text import LISTS, MOST_ROWS, RANKING, ContextText, dotted
from studio.editor.sets import template_set
from studio.prompts.models import PromptSet
from studio.shell.downloads import attachment
from studio.shell.refusal import RequestRefused
from studio.shell.requests import Request, person_of, refuse_other_encodings, valid_or_refuse
from studio.shell.turns import heavy

SETS_OFFERED = 8
ROUNDS_OFFERED = 8
_METHODS = ["GET", "HEAD", "POST"]


@require_safe
def context_list(request: Request) -> HttpResponse:
    """All contexts, or those that match a search or that one set uses."""
    wanted = valid_or_refuse(ContextSearchForm(request.GET)).cleaned_data
    contexts = SampleContext.objects.select_related("prompt_set").defer("submission")
    prompt_set = None
    if wanted["set"] == SHARED:
        contexts = contexts.filter(prompt_set=None)
    elif wanted["set"]:
        prompt_set = template_set(wanted["set"])
        contexts = contexts.for_set(prompt_set)
    contexts = contexts.search(wanted["q"], translated_texts())
    asked = {name: wanted[name] for name in ("set", "q") if wanted[name]}
    context = listed(contexts, asked, wanted["after"]) | {
        "q": wanted["q"],
        "set": wanted["set"],
        "sets": PromptSet.objects.of_templates().filter(archived=False).order_by("name", "pk"),
        "prompt_set": prompt_set,
        "missing": missing_samples(),
    }
    part = request.htmx.target == "contexts"
    return render(request, "contexts/_list.html" if part else "contexts/list.html", context)


@require_safe
def prompt_contexts(request: Request, slug: str) -> HttpResponseBase:
    """The contexts that a set is tried in. Whether its newest version renders there, a page asks for."""
    prompt_set = template_set(slug)
    wanted = valid_or_refuse(SetContextsForm(request.GET)).cleaned_data
    template = "contexts/_list.html" if request.htmx.target == "contexts" else "contexts/of_set.html"
    answer = _checked_contexts if wanted["checked"] else _contexts_of_set
    return answer(request, prompt_set, template, wanted["after"])


@heavy
def _checked_contexts(
    request: HttpRequest, prompt_set: PromptSet, template: str, after: int | None
) -> HttpResponse:
    return _contexts_of_set(request, prompt_set, template, after, CheckedContexts.against(prompt_set.latest))


def _contexts_of_set(
    request: HttpRequest,
    prompt_set: PromptSet,
    template: str,
    after: int | None,
    checked: CheckedContexts | None = None,
) -> HttpResponse:
    contexts = SampleContext.objects.for_set(prompt_set).select_related("prompt_set").defer("submission")
    page = listed(contexts, {"checked": "on"} if checked else {}, after, checked)
    return render(request, template, page | {"prompt_set": prompt_set, "of_set": True, "checked": checked})


@require_safe
def context_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """One context: the task, the rounds before, the ranking, and the JSON behind them."""
    context = get_object_or_404(SampleContext.objects.select_related("prompt_set", "author"), slug=slug)
    values = context.values
    sets = PromptSet.objects.of_templates().filter(archived=False).order_by("-changed_at", "pk")
    if context.prompt_set is not None:
        sets = PromptSet.objects.filter(pk=context.prompt_set.pk)
    return render(
        request,
        "contexts/detail.html",
        {
            "context": context,
            "round": values.round,
            "history": [(state, write_details(state.score_details)) for state in values.round.round_history],
            "json": values.document,
            "sets": sets[:SETS_OFFERED],
            "rounds": rounds_of(values.round)[-ROUNDS_OFFERED:],
        },
    )


@require_safe
def context_json(request: HttpRequest, slug: str) -> HttpResponse:
    """The context as a file."""
    context = get_object_or_404(SampleContext.objects.select_related("prompt_set"), slug=slug)
    answer = HttpResponse(context.values.document + "\n", content_type="application/json")
    answer.headers["Content-Disposition"] = attachment(f"{context.slug}.json")
    return answer


@require_POST
@needs(Action.CONTEXT)
def context_samples(request: HttpRequest) -> HttpResponse:
    """Bring the contexts that the studio ships; what is there stays as it is."""
    added = add_samples(timezone.now())
    said = ngettext("%(n)d context added.", "%(n)d contexts added.", added) % {"n": added}
    messages.success(request, said if added else _("All of them have already been added."))
    return redirect("context-list")


@require_http_methods(_METHODS)
@needs(Action.CONTEXT)
def context_new(request: HttpRequest) -> HttpResponse:
    """Make a context field by field."""
    if request.method == "POST":
        return _take_form(request, None)
    text = ContextText.blank(_wanted_set(request), str(uuid.uuid4()))
    return _page(request, ContextForm(text), None)


@require_http_methods(_METHODS)
@needs(Action.CONTEXT)
def context_duplicate(request: HttpRequest, slug: str) -> HttpResponse:
    """Make a context that begins as a copy; nothing is stored until it is saved."""
    source = _context(slug)
    if request.method == "POST":
        return _take_form(request, None)
    values = source.values
    values = replace(values, name=_("Copy of %(name)s") % {"name": values.name[:100]})
    if _too_long(values):
        return _page(request, _json_form(values, None), None)
    return _page(request, ContextForm(ContextText.of(values)), None)


@require_http_methods(_METHODS)
@needs(Action.CONTEXT)
def context_edit(request: HttpRequest, slug: str) -> HttpResponse:
    """Change a context field by field."""
    if request.method == "POST":
        return _take_form(request, _context_if_there(slug))
    context = _context(slug)
    if _too_long(context.values):
        messages.info(request, _("This context has too many rows for a form, so here it is as JSON."))
        return redirect("context-edit-json", slug)
    return _page(request, ContextForm(ContextText.of(context.values), context=context), context)


@require_http_methods(_METHODS)
@needs(Action.CONTEXT)
def context_new_json(request: HttpRequest) -> HttpResponse:
    """Make a context from JSON."""
    if request.method == "POST":
        return _take_json(request, None)
    initial = {"prompt_set": _wanted_set(request)}
    return _page(request, ContextJsonForm(None, initial), None)


@require_http_methods(_METHODS)
@needs(Action.CONTEXT)
def context_edit_json(request: HttpRequest, slug: str) -> HttpResponse:
    """Change a context as JSON."""
    if request.method == "POST":
        return _take_json(request, _context_if_there(slug))
    context = _context(slug)
    return _page(request, _json_form(context.values, context), context)


@require_http_methods(_METHODS)
@needs(Action.CONTEXT)
def context_delete(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask first; versions and drafts hold no context, so nothing of them is lost."""
    context = _context(slug)
    if request.method != "POST":
        return render(request, "contexts/delete.html", {"context": context})
    seen = valid_or_refuse(RevisionSeenForm(request.POST)).cleaned_data["revision"]
    try:
        SampleContext.objects.discard(context, revision=seen)
    except ContextConflict:
        changed = _("The context has changed since you opened this page.")
        raise RequestRefused(409, changed, _("Check it again first.")) from None
    messages.success(request, _("“%(name)s” deleted.") % {"name": context.title})
    return redirect("context-list")


def _context(slug: str) -> SampleContext:
    return get_object_or_404(SampleContext.objects.select_related("prompt_set"), slug=slug)


def _context_if_there(slug: str) -> SampleContext | None:
    """``None`` where somebody deleted it while another wrote on it: what they wrote is not lost."""
    return SampleContext.objects.select_related("prompt_set").filter(slug=slug).first()


def _wanted_set(request: HttpRequest) -> str:
    slug: str = valid_or_refuse(ContextSearchForm(request.GET)).cleaned_data["set"]
    return "" if slug == SHARED else slug


def _too_long(values: ContextValues) -> bool:
    return max(len(values.round.round_history), len(values.round.ranking or [])) > MOST_ROWS


def _json_form(values: ContextValues, context: SampleContext | None) -> ContextJsonForm:
    about = {
        "name": values.name,
        "description": values.description,
        "prompt_set": values.prompt_set.slug if values.prompt_set else "",
    }
    return ContextJsonForm(None, about | {"json": values.document}, context)


def _take_form(request: HttpRequest, context: SampleContext | None) -> HttpResponse:
    refuse_other_encodings(request)
    text = ContextText.sent(request.POST)
    if "do" in request.POST:
        return _change_rows(request, text, context)
    return _take(request, ContextForm(text, context=context, sent=True), context)


def _take_json(request: HttpRequest, context: SampleContext | None) -> HttpResponse:
    refuse_other_encodings(request)
    return _take(request, ContextJsonForm(request.POST.dict(), {}, context), context)


def _change_rows(request: HttpRequest, text: ContextText, context: SampleContext | None) -> HttpResponse:
    """The same page with a row more or less: nothing is judged yet, nothing typed is lost."""
    focus = ""
    match request.POST["do"].split():
        case ["add", rows] if rows in LISTS:
            text = text.with_row(rows)
            first = {RANKING: "team_name"}.get(rows, "evaluation_score")
            focus = dotted((rows, len(text.rows[rows]) - 1, first))
        case ["remove", rows, index] if rows in LISTS and index.isdecimal() and len(index) < 5:
            text = text.without_row(rows, int(index))
        case ["sort", "ranking"]:
            text = text.ranked_by_score()
        case _:
            raise RequestRefused(400, _("Unknown button."))
    form = ContextForm(text, context=context)
    if focus:
        form.focus(focus)
    back_to = "" if focus else request.POST["do"].split()[1]
    return _page(request, form, context, revision=_seen(request, context), focus_add=back_to)


def _take(request: HttpRequest, form: AboutForm, context: SampleContext | None) -> HttpResponse:
    seen = _seen(request, context)
    if context is None and "revision" in request.POST:
        return _page(request, form, None, status=409)
    if form.is_valid():
        try:
            saved = _save(form, context, seen, person_of(request))
        except NameTaken:
            form.add_error("name", name_taken())
        except ContextConflict as conflict:
            return _conflict(request, form, conflict.context)
        else:
            _say_saved(request, form)
            return redirect(saved)
    form.focus_first_problem()
    return _page(request, form, context, status=422, revision=seen)


def _seen(request: HttpRequest, context: SampleContext | None) -> int:
    """The revision that the form was opened with; it stays until the person has seen a newer one."""
    return valid_or_refuse(RevisionSeenForm(request.POST)).cleaned_data["revision"] if context else 0


def _save(form: AboutForm, context: SampleContext | None, seen: int, person: User) -> SampleContext:
    if context is None:
        return SampleContext.objects.make(form.values, by=person, at=timezone.now())
    SampleContext.objects.change(context, form.values, revision=seen, at=timezone.now())
    return context


def _say_saved(request: HttpRequest, form: AboutForm) -> None:
    messages.success(request, _("Context saved."))
    if isinstance(form, ContextJsonForm) and form.stand_in:
        stand_in = _("The JSON has no submission for this round, so that of round %(round)d is used.")
        messages.info(request, stand_in % {"round": form.stand_in})


def _conflict(request: HttpRequest, form: AboutForm, context: SampleContext) -> HttpResponse:
    """409 with both: what was sent stays in the form, theirs stands beside it."""
    stored = SampleContext.objects.select_related("prompt_set").filter(pk=context.pk).first()
    if stored is None:
        return _page(request, form, None, status=409)
    mine = ContextText.of(form.values)
    differences = mine.differences(ContextText.of(stored.values))
    return _page(request, form, stored, status=409, conflict=True, differences=differences)


def _page(
    request: HttpRequest,
    form: AboutForm,
    context: SampleContext | None,
    *,
    status: int = 200,
    revision: int = 0,
    **more: Any,
) -> HttpResponse:
    as_json = isinstance(form, ContextJsonForm)
    kind = "context-edit" if context else "context-new"
    address = [context.slug] if context else []
    page = {
        "form": form,
        "context": context,
        "revision": revision or (context.revision if context else 0),
        "gone": context is None and "revision" in request.POST,
        "action": reverse(kind + ("-json" if as_json else ""), args=address),
        "other_way": reverse(kind + ("" if as_json else "-json"), args=address),
        **more,
    }
    template = "contexts/edit_json.html" if as_json else "contexts/edit.html"
    return render(request, template, page, status=status)
