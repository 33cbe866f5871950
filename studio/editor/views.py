"""The editor: the page itself, and saving what it holds as a version."""

from collections.abc import Sequence
from dataclasses import replace

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from builder.errors import JailError
from studio.editor.conflict_views import conflict_page
from studio.editor.forms import read_draft
from studio.editor.page import EditorPage, editor_with, not_saved, open_editor, with_preview
from studio.editor.view_forms import read_view
from studio.models import Draft, DraftCopy, PromptSet
from studio.preview.saving import NothingChanged, Refused, VersionConflict, save_as_version
from studio.prompts.drafts import DraftConflict
from studio.prompts.findings import Finding
from studio.shell.refusal import RequestRefused
from studio.shell.requests import person_of


@require_safe
def prompt_edit(request: HttpRequest, slug: str) -> HttpResponse:
    """The texts of a set, as the person's draft has them."""
    prompt_set = get_object_or_404(PromptSet, slug=slug)
    person = person_of(request)
    page = open_editor(prompt_set, person, read_view(request.GET, prompt_set.kinds))
    return editor_page(request, with_preview(page, person))


def editor_page(request: HttpRequest, page: EditorPage, status: int = 200) -> HttpResponse:
    """The page, whatever brought it about."""
    context = {"page": page, "prompt_set": page.prompt_set, "preview": page.preview}
    return render(request, "prompts/edit.html", context, status=status)


@require_POST
def prompt_save(request: HttpRequest, slug: str) -> HttpResponse:
    """Make the text a version. Whatever comes between, the draft has it first."""
    prompt_set = get_object_or_404(PromptSet, slug=slug)
    form, person, now = read_draft(request, prompt_set), person_of(request), timezone.now()
    page = editor_with(prompt_set, person, read_view(request.POST, prompt_set.kinds), form.sent)
    try:
        form.refuse_what_cannot_be_kept()
        draft = Draft.objects.keep(prompt_set, person, form.sent, at=now)
    except RequestRefused as problem:
        messages.error(request, f"{problem.what} {problem.advice}")
        return editor_page(request, with_preview(page, person), problem.status)
    except DraftConflict as conflict:
        page = editor_with(prompt_set, person, read_view(request.POST, prompt_set.kinds), form.sent)
        return _undecided(request, page, conflict.draft, conflict.copy)
    page = replace(page, kept=True, sent=replace(page.sent, revision=draft.revision))
    if form.message_error:
        page = replace(page, message_error=form.message_error)
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
        )
    except NothingChanged:
        note = _("Nothing changed since v%(number)d, so no version was made.")
        messages.info(request, note % {"number": draft.base})
        return redirect("prompt-edit", slug)
    except VersionConflict:
        prompt_set.refresh_from_db()
        return _undecided(request, page, draft)
    except Refused as refused:
        return _refused(request, page, refused.findings)
    except JailError as refusal:
        return _put_off(request, page, refusal, _("Not saved, but your draft is kept."))
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
            _("Not saved: another tab wrote to this draft. Both texts are kept.")
            if copy
            else _("Not saved: somebody saved v%(number)d since. Your draft is kept.")
            % {"number": page.prompt_set.revision}
        )
        return _put_off(request, page, refusal, said)


def _put_off(request: HttpRequest, page: EditorPage, refusal: JailError, said: str) -> HttpResponse:
    page = not_saved(page, refusal=refusal)
    messages.error(request, said)
    return editor_page(request, page, page.preview.status if page.preview else 503)


def _refused(request: HttpRequest, page: EditorPage, findings: Sequence[Finding]) -> HttpResponse:
    said = _("Not saved, but your draft is kept: mend the problems below first.")
    messages.error(request, said, extra_tags="refused")
    return editor_page(request, not_saved(page, findings=findings), 422)
