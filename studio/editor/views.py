"""The editor: its page, saving, drafts, and the choice between two texts from one version."""

from collections.abc import Sequence
from dataclasses import replace

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from builder.errors import JailError
from studio.access.roles import Action, needs
from studio.editor.conflicts import Conflict, between, is_changed
from studio.editor.forms import RevisionForm, read_choices, read_draft, read_view
from studio.editor.page import EditorPage, editor_with, not_saved, open_editor, with_preview
from studio.editor.sets import reason, shared_failure
from studio.editor.variables import variable_rows
from studio.models import Draft, DraftCopy, PromptSet
from studio.preview.rendering import preview_source
from studio.preview.saving import NothingChanged, Refused, VersionConflict, save_as_version
from studio.prompts.drafts import CopyReason, DraftConflict, SentDraft, StaleRevision
from studio.prompts.findings import Finding
from studio.shell.refusal import RequestRefused
from studio.shell.requests import person_of, valid_or_refuse


@require_safe
@needs(Action.EDIT)
def prompt_edit(request: HttpRequest, slug: str) -> HttpResponse:
    """The texts of a set, as the person's draft has them."""
    prompt_set = get_object_or_404(PromptSet, slug=slug)
    person = person_of(request)
    page = open_editor(prompt_set, person, read_view(request.GET, prompt_set.kinds))
    return editor_page(request, with_preview(page, person))


def editor_page(request: HttpRequest, page: EditorPage, status: int = 200) -> HttpResponse:
    """The page, whatever brought it about."""
    context = {"page": page, "prompt_set": page.prompt_set, "preview": page.preview}
    return render(request, "editor/edit.html", context, status=status)


@require_safe
def prompt_variables(request: HttpRequest, slug: str) -> HttpResponse:
    """The variables of a template, with their values in a context at a round."""
    view = read_view(request.GET)
    prompt_set, _saved, at_round = preview_source(slug, view.context, view.round)
    context = {"kind": view.kind, "variables": variable_rows(prompt_set, view.kind, at_round)}
    return HttpResponse(render_to_string("editor/_variables.html", context))


@require_POST
@needs(Action.EDIT)
def prompt_save(request: HttpRequest, slug: str) -> HttpResponse:
    """Make the text a version. Whatever comes between, the draft has it first."""
    prompt_set = get_object_or_404(PromptSet, slug=slug)
    form, person, now = read_draft(request, prompt_set), person_of(request), timezone.now()

    def page_with(sent: SentDraft) -> EditorPage:
        """Made only where no version comes of it."""
        return editor_with(prompt_set, person, read_view(request.POST, prompt_set.kinds), sent)

    try:
        form.refuse_what_cannot_be_kept()
        draft = Draft.objects.keep(prompt_set, person, form.sent, at=now)
    except RequestRefused as problem:
        messages.error(request, f"{problem.what} {problem.advice}")
        return editor_page(request, with_preview(page_with(form.sent), person), problem.status)
    except DraftConflict as conflict:
        return _undecided(request, page_with(form.sent), conflict.draft, conflict.copy)
    if request.POST.get("then") == "export":
        return redirect(reverse("prompt-export", args=[slug], query={"source": "draft"}))
    sent = replace(form.sent, revision=draft.revision)
    if form.message_error:
        page = replace(page_with(sent), message_error=form.message_error)
        return editor_page(request, with_preview(page, person), 422)
    try:
        version = save_as_version(
            prompt_set,
            draft.templates,
            base=draft.base,
            message=form.sent.message,
            by=person,
            at=now,
            draft=draft,
            warn=lambda finding: messages.warning(request, shared_failure(finding)),
        )
    except NothingChanged:
        note = _("Nothing changed since v%(number)d, so no version was saved.")
        messages.info(request, note % {"number": draft.base})
        return redirect("prompt-edit", slug)
    except VersionConflict:
        prompt_set.refresh_from_db()
        return _undecided(request, page_with(sent), draft)
    except Refused as refused:
        return _refused(request, page_with(sent), refused.findings)
    except JailError as refusal:
        return _put_off(request, page_with(sent), refusal, _("Not saved as a version. Your draft is saved."))
    messages.success(request, _("Saved as v%(number)d.") % {"number": version.number})
    return redirect(prompt_set)


def _undecided(
    request: HttpRequest, page: EditorPage, draft: Draft, copy: DraftCopy | None = None
) -> HttpResponse:
    """Both texts, for the person to decide; the editor with what was typed where they cannot be shown."""
    try:
        return conflict_page(request, page.prompt_set, draft, copy)
    except JailError as refusal:
        said = (
            _("Not saved: another tab changed this draft. Both texts are saved as drafts.")
            if copy
            else _("Not saved: someone else saved v%(number)d first. Your draft is saved.")
            % {"number": page.prompt_set.revision}
        )
        return _put_off(request, page, refusal, said)


def _put_off(request: HttpRequest, page: EditorPage, refusal: JailError, said: str) -> HttpResponse:
    page = not_saved(page, person_of(request), refusal=refusal)
    messages.error(request, said)
    return editor_page(request, page, page.preview.status if page.preview else 503)


def _refused(request: HttpRequest, page: EditorPage, findings: Sequence[Finding]) -> HttpResponse:
    said = _("Not saved: fix the problems below. Your draft is saved.")
    messages.error(request, said, extra_tags="refused")
    return editor_page(request, not_saved(page, person_of(request), findings=findings), 422)


@require_POST
@needs(Action.EDIT)
def prompt_draft(request: HttpRequest, slug: str) -> JsonResponse:
    """Keep what a tab holds; the answer tells the revision that it may write over next."""
    prompt_set = get_object_or_404(PromptSet, slug=slug)
    try:
        form = read_draft(request, prompt_set)
        form.refuse_what_cannot_be_kept()
        draft = Draft.objects.keep(prompt_set, person_of(request), form.sent, at=timezone.now())
    except RequestRefused as problem:
        return JsonResponse({"message": f"{problem.what} {problem.advice}".strip()}, status=problem.status)
    except DraftConflict as conflict:
        url = f"{reverse('prompt-conflict', args=[slug])}?copy={conflict.copy.pk}"
        return JsonResponse({"revision": conflict.draft.revision, "conflict_url": url}, status=409)
    return JsonResponse({"revision": draft.revision, "saved_at": draft.changed_at.isoformat()})


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Action.EDIT)
def prompt_discard(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask first; then put the draft aside and start from the newest version again."""
    prompt_set = get_object_or_404(PromptSet, slug=slug)
    draft = get_object_or_404(Draft, prompt_set=prompt_set, person=person_of(request))
    latest = prompt_set.latest
    if not is_changed(draft, latest):
        messages.info(request, _("There is nothing to discard."))
        return redirect("prompt-edit", slug)
    if request.method != "POST":
        return render(request, "editor/discard.html", {"prompt_set": prompt_set, "draft": draft})
    seen = valid_or_refuse(RevisionForm(request.POST)).cleaned_data["revision"]
    try:
        fresh = SentDraft(prompt_set.starting_text(latest), prompt_set.revision, seen)
        Draft.objects.replace(draft, fresh, reason=CopyReason.DISCARDED, at=timezone.now())
    except StaleRevision:
        changed = _("The draft has changed since you opened this page.")
        raise RequestRefused(409, changed, _("Check it again first.")) from None
    messages.success(request, _("Draft discarded. You can restore it under “Saved drafts”."))
    return redirect("prompt-edit", slug)


@require_POST
@needs(Action.EDIT)
def prompt_copy(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Take a text that was put aside up again; beside a draft with changes, the person decides."""
    prompt_set = get_object_or_404(PromptSet, slug=slug)
    person = person_of(request)
    copy = get_object_or_404(DraftCopy, prompt_set=prompt_set, person=person, pk=number)
    draft = get_object_or_404(Draft, prompt_set=prompt_set, person=person)
    if is_changed(draft, prompt_set.latest):
        return redirect(f"{reverse('prompt-conflict', args=[slug])}?copy={copy.pk}")
    again = SentDraft(copy.templates, copy.base, draft.revision, copy.message)
    try:
        Draft.objects.replace(draft, again, reason=CopyReason.REPLACED, at=timezone.now())
    except StaleRevision:
        return redirect(f"{reverse('prompt-conflict', args=[slug])}?copy={copy.pk}")
    copy.delete()
    messages.success(request, _("Text restored."))
    return redirect("prompt-edit", slug)


class CopyForm(forms.Form):
    """Which copy the draft is held against; none means the newest version."""

    copy = forms.IntegerField(min_value=1, max_value=10**18, required=False)


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Action.EDIT)
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
    messages.success(request, _("Draft updated. The previous text is under “Saved drafts”."))
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
    return render(request, "editor/conflict.html", context, status=status)


def _take(request: HttpRequest, conflict: Conflict) -> None:
    takes, choices = read_choices(request.POST, conflict.templates)
    draft, copy = conflict.draft, conflict.copy
    message = draft.message or (copy.message if copy else "")
    outcome = SentDraft(conflict.resolved(takes, choices), conflict.next_base, draft.revision, message)
    with transaction.atomic():
        Draft.objects.replace(draft, outcome, reason=CopyReason.REPLACED, at=timezone.now())
        if copy is not None:
            DraftCopy.objects.filter(pk=copy.pk).update(reason=CopyReason.REPLACED, tab="")
