"""The live preview: what the text in the editor gives, what a cache could keep of it, and what it costs."""

from threading import BoundedSemaphore
from urllib.parse import urlencode

from django.contrib import messages
from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from builder.errors import JailError, Superseded
from builder.template.variables import KINDS, PromptKind
from studio.access.audit import Event, record
from studio.access.roles import Action, needs
from studio.compare.versions import SideName, sides
from studio.contexts.at_round import chosen_context, context_at, usual_context
from studio.editor.forms import DraftForm, ViewOf, read_draft, read_view, sent_text
from studio.editor.page import EditorPage, editor_with, with_preview
from studio.editor.views import conflict_page, editor_page
from studio.models import Draft, PromptSet
from studio.preview.all_rounds import all_rounds
from studio.preview.cacheable_prefix import (
    CacheablePrefixes,
    NoSuchHint,
    prefix_changes,
    prefixes_of,
    take_order,
)
from studio.preview.costs import prompt_cost
from studio.preview.forms import BudgetForm, PrefixesForm, TakeForm
from studio.preview.rendering import Preview, preview, preview_source
from studio.prompts.drafts import DraftConflict, StaleRevision
from studio.prompts.file_kinds import FileKind
from studio.prompts.texts import TEXT_KINDS, TextKind, user_prompts
from studio.prompts.views import settings_page
from studio.shell.jail import status_of
from studio.shell.refusal import RequestRefused
from studio.shell.requests import Request, person_of, refuse_other_encodings, valid_or_refuse
from studio.system.preview_page import SystemPreview, preview_text, workspace_choice

_ANALYSES = BoundedSemaphore(2)
"""Analyses under way: they can wait, and must not take the threads that previews are answered with."""
_TRIALS = BoundedSemaphore(2)
"""Texts that are tried in all rounds just now, likewise."""
_WANTED: dict[str, object] = {}
"""The newest question of each tab about all rounds; an older one ends at its next rendering."""


@require_POST
def prompt_preview(request: Request, slug: str) -> HttpResponse:
    """The part of the page for htmx; the whole page with the text that was sent for a plain form."""
    refuse_other_encodings(request)
    view = read_view(request.POST, TEXT_KINDS)
    if not request.htmx:
        return _whole_page(request, slug)
    try:
        shown = _preview(request, slug, view)
    except Superseded:
        # The newer one's answer is on its way; this one must not come after it.
        return HttpResponse(status=204)
    except Http404:
        # The context was deleted, or else the set: either way the page goes on, with a sentence.
        return HttpResponse(render_to_string("preview/_preview_gone.html", {"view": view}), status=404)
    # Without the context processors: the part needs nothing of what stands around a page.
    context = {
        "preview": shown,
        "findings": shown.remarks,  # the errors stand above the prompt
        "seq": view.seq,
        "part": True,
    }
    response = HttpResponse(render_to_string("preview/_preview.html", context), status=shown.status)
    if shown.seconds:
        response["Retry-After"] = str(shown.seconds)
    return response


def _preview(request: HttpRequest, slug: str, view: ViewOf[TextKind]) -> Preview | SystemPreview:
    owner, kind = str(person_of(request).pk), view.kind
    if kind == "system":
        prompt_set = get_object_or_404(PromptSet, slug=slug, holds=FileKind.SYSTEM)
        choice = workspace_choice(prompt_set, view.workspace)
        return preview_text(sent_text(request.POST, kind), choice, owner=owner)
    prompt_set, saved, at_round = preview_source(slug, view.context, view.round)
    text = sent_text(request.POST, kind)
    return preview(prompt_set, saved, kind, text, at_round, owner=owner, tab=view.tab)


def _whole_page(request: HttpRequest, slug: str) -> HttpResponse:
    page = _sent_page(request, get_object_or_404(PromptSet, slug=slug))
    page = with_preview(page, person_of(request))
    return editor_page(request, page, page.preview.status if page.preview else 200)


@require_POST
def prompt_rounds(request: HttpRequest, slug: str) -> HttpResponse:
    """Where the text in the editor fails or changes, in all contexts and rounds; 204 where it has to wait."""
    refuse_other_encodings(request)
    view, prompt_set = read_view(request.POST), _template_set(slug)
    text = sent_text(request.POST, view.kind)
    tab, question = f"{person_of(request).pk}:{slug}:{view.tab}", object()
    _WANTED[tab] = question
    if not _TRIALS.acquire(blocking=False):
        _WANTED.pop(tab, None)
        return HttpResponse(status=204)
    try:
        found = all_rounds(
            prompt_set,
            view.kind,
            text,
            (view.context, view.round),
            is_wanted=lambda: _WANTED.get(tab) is question,
        )
    except JailError:
        return HttpResponse(status=204)
    finally:
        _TRIALS.release()
        if _WANTED.get(tab) is question:
            del _WANTED[tab]
    return HttpResponse(render_to_string("preview/_rounds.html", {"found": found}))


@require_POST
def prompt_cacheable_prefix(request: Request, slug: str) -> HttpResponse:
    """The part of the page, 204 where it has to wait; the whole page for a plain form."""
    refuse_other_encodings(request)
    view, prompt_set = read_view(request.POST, KINDS), _template_set(slug)
    if not request.htmx:
        return _page_with_prefixes(request, prompt_set, view.kind)
    text = sent_text(request.POST, view.kind)
    _set, _saved, at_round = preview_source(slug, view.context, view.round)
    if not _ANALYSES.acquire(blocking=False):
        return HttpResponse(status=204)
    try:
        prefixes = prefixes_of(prompt_set, view.kind, text, at_round, str(person_of(request).pk))
    except JailError:
        return HttpResponse(status=204)
    finally:
        _ANALYSES.release()
    context = {"prompt_set": prompt_set, "prefixes": prefixes, "at_round": at_round, "is_asked": True}
    return render(request, "preview/cacheable_prefix/_block.html", context)


@require_POST
@needs(Action.EDIT)
def prompt_cacheable_prefix_take(request: HttpRequest, slug: str) -> HttpResponse:
    """Put a suggested order into the draft. Whatever comes between, the draft has the text first."""
    prompt_set, person, now = _template_set(slug), person_of(request), timezone.now()
    form, view = read_draft(request, prompt_set), read_view(request.POST, KINDS)
    key = valid_or_refuse(TakeForm(request.POST)).cleaned_data["take"]
    page = _sent_page(request, prompt_set)
    try:
        form.refuse_what_cannot_be_kept()
        draft = Draft.objects.keep(prompt_set, person, form.sent, at=now)
        take_order(draft, view.kind, page.at_round, key, at=now)
    except RequestRefused as problem:
        return _not_taken(request, page, f"{problem.what} {problem.advice}", problem.status)
    except DraftConflict as conflict:
        return conflict_page(request, prompt_set, conflict.draft, conflict.copy)
    except (NoSuchHint, StaleRevision):
        said = _("The text has changed meanwhile, so nothing was reordered. Your draft is saved.")
        return _not_taken(request, _sent_page(request, prompt_set), said, 409)
    except JailError as refusal:
        said = _("Not reordered. Your draft is saved.")
        return _not_taken(request, page, said, status_of(refusal))
    messages.success(request, _("Draft updated. The previous text is under “Saved drafts”."))
    query = {"kind": view.kind, "context": view.context, "round": view.round or ""}
    shown = urlencode({name: value for name, value in query.items() if value})
    return redirect(f"{reverse('prompt-edit', args=[slug])}?{shown}")


@require_safe
def prompt_prefixes(request: Request, slug: str) -> HttpResponse:
    """How long the cacheable prefixes are, and how they changed: the part of a page, or a page of its own."""
    prompt_set, person = _template_set(slug), person_of(request)
    clean = valid_or_refuse(PrefixesForm(request.GET)).cleaned_data
    new: SideName = clean["new"] or prompt_set.revision
    left, right = sides(prompt_set, person, clean["old"] or new, new)
    context = chosen_context(prompt_set, clean["context"]) if clean["context"] else None
    seen = context_at(context, clean["round"]) if context else usual_context(prompt_set)
    before, after = user_prompts(left.templates) if clean["old"] else None, user_prompts(right.templates)
    try:
        changes = prefix_changes(prompt_set, before, after, seen, owner=str(person.pk))
    except JailError:
        changes = {}
    table = {
        "at_round": seen,
        "rows": [
            {"kind": kind, "changes": of_kind}
            for kind, of_kind in changes.items()
            if not clean["changed"] or any(change.is_change for change in of_kind)
        ],
        "old_title": left.title if before else "",
        "new_title": right.title,
    }
    is_part = bool(request.htmx)
    if clean["changed"] and changes and not table["rows"]:
        return HttpResponse()  # takes the place of the part away
    values = {"prompt_set": prompt_set, "prefixes": table, "changed": clean["changed"]}
    return render(
        request,
        "preview/cacheable_prefix/_table.html" if is_part else "preview/cacheable_prefix/page.html",
        values,
    )


def _sent_page(request: HttpRequest, prompt_set: PromptSet) -> EditorPage:
    view = read_view(request.POST, prompt_set.kinds)
    sent = valid_or_refuse(DraftForm(request.POST, prompt_set.kinds)).sent
    return editor_with(prompt_set, person_of(request), view, sent)


def _page_with_prefixes(request: HttpRequest, prompt_set: PromptSet, kind: PromptKind) -> HttpResponse:
    person = person_of(request)
    page = with_preview(_sent_page(request, prompt_set), person)
    context = {
        "page": page,
        "prompt_set": prompt_set,
        "preview": page.preview,
        "prefixes": _of_page(page, kind, str(person.pk)),
        "at_round": page.at_round,
        "is_asked": True,
        "is_open": True,
    }
    return render(request, "editor/edit.html", context, status=page.preview.status if page.preview else 200)


def _of_page(page: EditorPage, kind: PromptKind, owner: str) -> CacheablePrefixes | None:
    if page.preview is None or page.preview.state != "text":
        return None
    text = user_prompts(page.sent.templates).by_kind[kind]
    try:
        return prefixes_of(page.prompt_set, kind, text, page.at_round, owner)
    except JailError:
        return None


def _not_taken(request: HttpRequest, page: EditorPage, said: str, status: int) -> HttpResponse:
    messages.error(request, said)
    return editor_page(request, with_preview(page, person_of(request)), status)


def _template_set(slug: str) -> PromptSet:
    sets = PromptSet.objects.select_related("language_model").filter(holds=FileKind.PROMPTS)
    prompt_set: PromptSet = get_object_or_404(sets, slug=slug)
    return prompt_set


@require_POST
def prompt_costs(request: HttpRequest, slug: str) -> HttpResponse:
    """What the text in the editor costs with a cache; 204 where that cannot be said now."""
    refuse_other_encodings(request)
    view = read_view(request.POST)
    prompt_set, _saved, at_round = preview_source(slug, view.context, view.round)
    text = sent_text(request.POST, view.kind)
    try:
        cost = prompt_cost(prompt_set, view.kind, text, at_round, owner=str(person_of(request).pk))
    except JailError:
        cost = None
    if cost is None:
        return HttpResponse(status=204)
    context = {"cost": cost, "model": prompt_set.language_model}
    return HttpResponse(render_to_string("preview/_cost.html", context))


@require_POST
@needs(Action.EDIT)
def prompt_budgets(request: HttpRequest, slug: str) -> HttpResponse:
    """Store what was said; an empty field is as usual."""
    prompt_set = get_object_or_404(PromptSet, slug=slug)
    form = BudgetForm(request.POST, prompt_set=prompt_set)
    if form.is_valid() and _stored(prompt_set, form):
        messages.success(request, _("Budgets and model saved."))
        return redirect(prompt_set)
    return settings_page(request, prompt_set, budget_form=form)


def _stored(prompt_set: PromptSet, form: BudgetForm) -> bool:
    said = {} if form.is_system else {"budgets": form.budgets, "round_config": form.round_config}
    try:
        with transaction.atomic():
            rows = PromptSet.objects.select_for_update()
            stored = rows.get(pk=prompt_set.pk)
            if not form.saw(stored):
                form.tell_changes(stored)
                return False
            model = form.cleaned_data["language_model"]
            rows.filter(pk=prompt_set.pk).update(language_model=model, **said)
            before = {name: getattr(stored, name) for name in said}
            record(
                Event.SET_CHANGED,
                prompt_set,
                before=before | {"language_model": str(stored.language_model or "")},
                after=said | {"language_model": str(model or "")},
            )
    except IntegrityError:
        form.add_error("language_model", _("Someone else just deleted this model."))
        return False
    return True
