"""Prompt sets: the list, a set with its history, making and changing sets."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from builder.errors import JailError
from studio.access.roles import Action, needs
from studio.editor.sets import (
    archive_set,
    change_set,
    create_set,
    duplicate_set,
    reason,
    save_defaults,
    start_empty,
)
from studio.preview.forms import BudgetForm
from studio.preview.saving import Refused
from studio.prompts.forms import (
    ArchiveForm,
    DuplicateForm,
    HistoryForm,
    NewPromptSetForm,
    PromptSetForm,
    ProtectionForm,
)
from studio.prompts.history_page import HistoryLines
from studio.prompts.list_page import set_rows
from studio.prompts.models import PromptSet, Tag
from studio.prompts.proposals import Proposal
from studio.shell.forms import PromptSearchForm
from studio.shell.refusal import RequestRefused
from studio.shell.requests import Request, person_of, valid_or_refuse
from studio.workspaces.release import other_releases

SETS_PER_PAGE = 100


@require_safe
def prompt_list(request: Request) -> HttpResponse:
    """All sets, or those that match a search or a tag; the archived ones apart."""
    wanted = valid_or_refuse(PromptSearchForm(request.GET)).cleaned_data
    kept = PromptSet.objects.filter(archived=wanted["archived"])
    sets = kept.search(wanted["q"])
    if wanted["tag"]:
        sets = sets.filter(tags__name=wanted["tag"])
    page = wanted["page"] or 1
    rows = set_rows(sets, (page - 1) * SETS_PER_PAGE, page * SETS_PER_PAGE + 1)
    asked = {name: wanted[name] for name in ("q", "tag") if wanted[name]}
    if wanted["archived"]:
        asked["archived"] = "1"
    context = {
        "rows": rows[:SETS_PER_PAGE],
        "first_url": "?" + urlencode(asked) if page > 1 else "",
        "next_url": "?" + urlencode({**asked, "page": page + 1}) if len(rows) > SETS_PER_PAGE else "",
        "q": wanted["q"],
        "tag": wanted["tag"],
        "archived": wanted["archived"],
        "tags": Tag.objects.filter(prompt_sets__archived=wanted["archived"]).distinct(),
        "any_archived": wanted["archived"] or PromptSet.objects.filter(archived=True).exists(),
    }
    part = request.htmx.target == "prompts"
    return render(request, "prompts/_list.html" if part else "prompts/list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Action.EDIT)
def prompt_new(request: HttpRequest) -> HttpResponse:
    """Make a set, from the defaults or empty."""
    form = NewPromptSetForm(request.POST if request.method == "POST" else None)
    if not form.is_valid():
        return _form_page(request, "prompts/new.html", {"form": form})
    clean, person, now = form.cleaned_data, person_of(request), timezone.now()
    made = create_set(
        clean["name"], tags=clean["tags"], dialect=clean["dialect"], by=person, at=now, holds=clean["holds"]
    )
    if clean["start"] == "empty":
        start_empty(made, by=person, at=now)
        return redirect("prompt-edit", made.slug)
    try:
        save_defaults(made, by=person, at=now)
    except (Refused, JailError) as error:
        messages.warning(
            request, _("The set was created, but without a version: %(why)s") % {"why": reason(error)}
        )
    return redirect("prompt-edit", made.slug)


@require_safe
def prompt_detail(request: Request, slug: str) -> HttpResponse:
    """A set: its labels and its versions, the newest first, or those that a search finds."""
    prompt_set = get_object_or_404(PromptSet, slug=slug)
    wanted = valid_or_refuse(HistoryForm(request.GET)).cleaned_data
    page = HistoryLines(prompt_set, person_of(request), wanted)
    searched = {"q": wanted["q"]} if wanted["q"] else {}
    if wanted["anyway"]:
        searched["anyway"] = "1"
    older = page.found.older
    context = {
        "prompt_set": prompt_set,
        "page": page,
        "anyway": wanted["anyway"],
        "newest_url": "?" + urlencode(searched),
        "older_url": "?" + urlencode({**searched, "before": older}) if older else "",
        "q": wanted["q"],
        "before": wanted["before"],
    }
    if request.htmx.target == "history":
        return render(request, "prompts/_history.html", context)
    context["proposals"] = [one for one in Proposal.objects.open_of(prompt_set) if one.is_open]
    context["other_releases"] = other_releases(prompt_set) if prompt_set.file_kind.has_templates else ()
    return render(request, "prompts/detail.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Action.EDIT)
def prompt_settings(request: HttpRequest, slug: str) -> HttpResponse:
    """Name, tags and dialect of a set; its address stays, so that links go on working."""
    prompt_set = get_object_or_404(PromptSet, slug=slug)
    form = PromptSetForm(request.POST) if request.method == "POST" else None
    if form is None or not form.is_valid():
        return settings_page(request, prompt_set, form=form)
    clean = form.cleaned_data
    change_set(prompt_set, name=clean["name"], dialect=clean["dialect"], tags=clean["tags"])
    messages.success(request, _("Settings saved."))
    return redirect(prompt_set)


@require_POST
@needs(Action.EDIT)
def prompt_archive(request: HttpRequest, slug: str) -> HttpResponse:
    """Take a set off the list, or put it back; nothing of it is lost."""
    archived = valid_or_refuse(ArchiveForm(request.POST)).cleaned_data["archived"]
    prompt_set = get_object_or_404(PromptSet, slug=slug)
    archive_set(prompt_set, archived)
    said = (
        _("Archived. You can find it under «Archived» in the list.")
        if archived
        else _("Restored from the archive.")
    )
    messages.success(request, said)
    return redirect(prompt_set)


@require_POST
@needs(Action.PROTECT)
def prompt_protection(request: HttpRequest, slug: str) -> HttpResponse:
    """Which labels only releasers move, and whether another one has to approve."""
    prompt_set = get_object_or_404(PromptSet, slug=slug)
    form = ProtectionForm(request.POST)
    if not form.is_valid():
        return settings_page(request, prompt_set, protection_form=form)
    change_set(prompt_set, **form.cleaned_data)
    messages.success(request, _("Settings saved."))
    return redirect(prompt_set)


@require_POST
@needs(Action.EDIT)
def prompt_duplicate(request: HttpRequest, slug: str) -> HttpResponse:
    """A new set with the newest text of this one."""
    prompt_set = get_object_or_404(PromptSet, slug=slug)
    form = DuplicateForm(request.POST)
    if not form.is_valid():
        return settings_page(request, prompt_set, duplicate_form=form)
    try:
        copy = duplicate_set(prompt_set, form.cleaned_data["name"], by=person_of(request), at=timezone.now())
    except Refused as refused:
        messages.error(
            request, _("Not duplicated: the text has a problem. %(why)s") % {"why": reason(refused)}
        )
        return settings_page(request, prompt_set, duplicate_form=form)
    except JailError as error:
        raise RequestRefused(503, reason(error)) from error
    messages.success(request, _("Copy created."))
    return redirect(copy)


def settings_page(
    request: HttpRequest,
    prompt_set: PromptSet,
    *,
    form: PromptSetForm | None = None,
    duplicate_form: DuplicateForm | None = None,
    budget_form: BudgetForm | None = None,
    protection_form: ProtectionForm | None = None,
) -> HttpResponse:
    """The page, whichever of its forms was sent."""
    tags = ", ".join(tag.name for tag in prompt_set.tags.all())
    stored = {"name": prompt_set.name, "tags": tags, "dialect": prompt_set.dialect}
    protection = {
        "protected_labels": ", ".join(prompt_set.protected_labels),
        "needs_approval": prompt_set.needs_approval,
    }
    copy = {"name": _("Copy of %(name)s") % {"name": prompt_set.name}}
    context = {
        "prompt_set": prompt_set,
        "form": form or PromptSetForm(initial=stored),
        "duplicate_form": duplicate_form or DuplicateForm(initial=copy),
        "budget_form": budget_form or BudgetForm(prompt_set=prompt_set),
        "protection_form": protection_form or ProtectionForm(initial=protection),
    }
    return _form_page(request, "prompts/settings.html", context)


def _form_page(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    """A page with a form; 422 where what was sent does not do."""
    return render(request, template, context, status=422 if request.method == "POST" else 200)
