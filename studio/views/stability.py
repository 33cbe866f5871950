"""What a cache can keep of a prompt: beside the editor's preview, and from version to version."""

from threading import BoundedSemaphore
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from builder.errors import CoolingDown, JailError
from builder.variables import KINDS, PromptKind
from studio.comparison import SideName, sides
from studio.editor_page import EditorPage, chosen_context, editor_with, with_preview
from studio.forms import clean_or_refuse
from studio.forms.editor import DraftForm, read_draft, read_or_refuse, refuse_other_encodings
from studio.forms.editor_view import read_view, sent_text
from studio.forms.stability import PrefixesForm, TakeForm
from studio.htmx import Request
from studio.models import Draft, PromptSet
from studio.models.drafts import DraftConflict, StaleRevision
from studio.models.preview_source import preview_source
from studio.models.prompts import Holds, user_prompts
from studio.people import person_of
from studio.problems import Problem
from studio.reordering import NoSuchHint, take_order
from studio.situations import situation, usual_situation
from studio.stability import StabilityView, stability_of
from studio.stability_page import prefix_table
from studio.views.conflicts import conflict_page
from studio.views.editor import editor_page

_AT_ONCE = BoundedSemaphore(2)
"""Analyses under way: they can wait, and must not take the threads that previews are answered with."""


@require_POST
def prompt_stability(request: Request, slug: str) -> HttpResponse:
    """The part of the page, 204 where it has to wait; the whole page for a plain form."""
    refuse_other_encodings(request)
    view, prompt_set = read_view(request.POST, KINDS), _prompt_set(slug)
    if not request.htmx:
        return _whole_page(request, prompt_set, view.kind)
    text = sent_text(request.POST, view.kind)
    source = preview_source(slug, view.context)
    seen = situation(source.context, view.round, source.whole)
    if not _AT_ONCE.acquire(blocking=False):
        return HttpResponse(status=204)
    try:
        found = stability_of(prompt_set, view.kind, text, seen, str(person_of(request).pk))
    except JailError:
        return HttpResponse(status=204)
    finally:
        _AT_ONCE.release()
    context = {"prompt_set": prompt_set, "stability": found, "situation": seen, "is_asked": True}
    return render(request, "stability/_block.html", context)


@require_POST
def prompt_stability_take(request: HttpRequest, slug: str) -> HttpResponse:
    """Put a suggested order into the draft. Whatever comes between, the draft has the text first."""
    prompt_set, person, now = _prompt_set(slug), person_of(request), timezone.now()
    form, view = read_draft(request, prompt_set), read_view(request.POST, KINDS)
    key = read_or_refuse(TakeForm(request.POST)).cleaned_data["take"]
    page = _page(request, prompt_set)
    try:
        form.refuse_what_cannot_be_kept()
        draft = Draft.objects.keep(prompt_set, person, form.sent, at=now)
        take_order(draft, view.kind, page.situation, key, at=now)
    except Problem as problem:
        return _not_taken(request, page, f"{problem.what} {problem.advice}", problem.status)
    except DraftConflict as conflict:
        return conflict_page(request, prompt_set, conflict.draft, conflict.copy)
    except (NoSuchHint, StaleRevision):
        said = _("The text is another one by now, so nothing was reordered. Your draft is kept.")
        return _not_taken(request, _page(request, prompt_set), said, 409)
    except JailError as refusal:
        said = _("Not reordered just now, but your draft is kept.")
        return _not_taken(request, page, said, 429 if isinstance(refusal, CoolingDown) else 503)
    messages.success(request, _("Taken into your draft. The text it had before is put aside."))
    query = {"kind": view.kind, "context": view.context, "round": view.round or ""}
    shown = urlencode({name: value for name, value in query.items() if value})
    return redirect(f"{reverse('prompt-edit', args=[slug])}?{shown}")


@require_safe
def prompt_prefixes(request: Request, slug: str) -> HttpResponse:
    """How long the stable beginnings are, and how they changed: the part of a page, or a page of its own."""
    prompt_set, person = _prompt_set(slug), person_of(request)
    clean = clean_or_refuse(PrefixesForm, request.GET)
    new: SideName = clean["new"] or prompt_set.revision
    left, right = sides(prompt_set, person, clean["old"] or new, new)
    context = chosen_context(prompt_set, clean["context"]) if clean["context"] else None
    seen = situation(context, clean["round"]) if context else usual_situation(prompt_set)
    table = prefix_table(prompt_set, left if clean["old"] else None, right, seen, owner=str(person.pk))
    values = {"prompt_set": prompt_set, "prefixes": table}
    return render(request, "stability/_table.html" if request.htmx else "stability/page.html", values)


def _page(request: HttpRequest, prompt_set: PromptSet) -> EditorPage:
    view = read_view(request.POST, prompt_set.kinds)
    sent = read_or_refuse(DraftForm(request.POST, prompt_set.kinds)).sent
    return editor_with(prompt_set, person_of(request), view, sent)


def _whole_page(request: HttpRequest, prompt_set: PromptSet, kind: PromptKind) -> HttpResponse:
    person = person_of(request)
    page = with_preview(_page(request, prompt_set), person)
    context = {
        "page": page,
        "prompt_set": prompt_set,
        "preview": page.preview,
        "stability": _of_page(page, kind, str(person.pk)),
        "situation": page.situation,
        "is_asked": True,
        "is_open": True,
    }
    return render(request, "prompts/edit.html", context, status=page.preview.status if page.preview else 200)


def _of_page(page: EditorPage, kind: PromptKind, owner: str) -> StabilityView | None:
    if page.preview is None or page.preview.state != "text":
        return None
    text = user_prompts(page.sent.templates).by_kind[kind]
    try:
        return stability_of(page.prompt_set, kind, text, page.situation, owner)
    except JailError:
        return None


def _not_taken(request: HttpRequest, page: EditorPage, said: str, status: int) -> HttpResponse:
    messages.error(request, said)
    return editor_page(request, with_preview(page, person_of(request)), status)


def _prompt_set(slug: str) -> PromptSet:
    sets = PromptSet.objects.select_related("language_model").filter(holds=Holds.PROMPTS)
    found: PromptSet = get_object_or_404(sets, slug=slug)
    return found
