"""The three-way view: two texts from one version, and the choice between them."""

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from builder.errors import JailError
from studio.editor.conflicts import CHOICES, TAKES, Conflict, between
from studio.editor.sets import reason
from studio.models import Draft, DraftCopy, PromptSet
from studio.prompts.drafts import CopyReason, SentDraft, StaleRevision
from studio.shell.refusal import RequestRefused
from studio.shell.requests import person_of, valid_or_refuse


class CopyForm(forms.Form):
    """Which copy the draft is held against; none means the newest version."""

    copy = forms.IntegerField(min_value=1, max_value=10**18, required=False)


@require_http_methods(["GET", "HEAD", "POST"])
def prompt_conflict(request: HttpRequest, slug: str) -> HttpResponse:
    """Show both texts, or take what the person chose of them."""
    try:
        return _both_texts(request, slug)
    except JailError as error:
        raise RequestRefused(503, reason(error)) from error


def _both_texts(request: HttpRequest, slug: str) -> HttpResponse:
    prompt_set = get_object_or_404(PromptSet, slug=slug)
    person = person_of(request)
    draft = get_object_or_404(Draft, prompt_set=prompt_set, person=person)
    number = valid_or_refuse(CopyForm(request.POST or request.GET)).cleaned_data["copy"]
    copy = get_object_or_404(DraftCopy, prompt_set=prompt_set, person=person, pk=number) if number else None
    if request.method != "POST":
        return conflict_page(request, prompt_set, draft, copy, status=200)
    conflict = between(prompt_set, draft, copy)
    if conflict is None:
        return redirect("prompt-edit", slug)
    if request.POST.get("pin") != conflict.pin:
        return conflict_page(request, prompt_set, draft, copy, moved=True)
    try:
        _take(request, conflict)
    except StaleRevision:
        return conflict_page(request, prompt_set, Draft.objects.get(pk=draft.pk), copy, moved=True)
    messages.success(request, _("Your draft is what you chose. The text it had before is put aside below."))
    return redirect("prompt-edit", slug)


def conflict_page(
    request: HttpRequest,
    prompt_set: PromptSet,
    draft: Draft,
    copy: DraftCopy | None = None,
    *,
    status: int = 409,
    moved: bool = False,
) -> HttpResponse:
    """The page with both texts; where there is nothing to decide, back to the editor.

    Raises the jail's errors, for the texts are put together there.
    """
    conflict = between(prompt_set, draft, copy)
    if conflict is None:
        return redirect("prompt-edit", prompt_set.slug)
    context = {"prompt_set": prompt_set, "conflict": conflict, "moved": moved}
    return render(request, "prompts/conflict.html", context, status=status)


def _take(request: HttpRequest, conflict: Conflict) -> None:
    takes = {
        each.kind: take
        for each in conflict.templates
        for take in TAKES
        if request.POST.get(each.kind) == take
    }
    fields = [dispute.field for each in conflict.templates for dispute in each.disputes if dispute.field]
    choices = {field: choice for field in fields for choice in CHOICES if request.POST.get(field) == choice}
    draft, copy = conflict.draft, conflict.copy
    message = draft.message or (copy.message if copy else "")
    outcome = SentDraft(conflict.resolved(takes, choices), conflict.next_base, draft.revision, message)
    with transaction.atomic():
        Draft.objects.replace(draft, outcome, reason=CopyReason.REPLACED, at=timezone.now())
        if copy is not None:
            DraftCopy.objects.filter(pk=copy.pk).update(reason=CopyReason.REPLACED, tab="")
