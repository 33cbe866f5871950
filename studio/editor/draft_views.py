"""Drafts: kept while somebody types, discarded when asked, taken up again."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from studio.editor.forms import RevisionForm, read_draft
from studio.editor.page import is_changed
from studio.models import Draft, DraftCopy, PromptSet
from studio.prompts.drafts import CopyReason, DraftConflict, SentDraft, StaleRevision
from studio.shell.refusal import RequestRefused
from studio.shell.requests import person_of, valid_or_refuse


@require_POST
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
def prompt_discard(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask first; then put the draft aside and start from the newest version again."""
    prompt_set = get_object_or_404(PromptSet, slug=slug)
    draft = get_object_or_404(Draft, prompt_set=prompt_set, person=person_of(request))
    latest = prompt_set.latest
    if not is_changed(draft, latest):
        messages.info(request, _("There is nothing to discard."))
        return redirect("prompt-edit", slug)
    if request.method != "POST":
        return render(request, "prompts/discard.html", {"prompt_set": prompt_set, "draft": draft})
    seen = valid_or_refuse(RevisionForm(request.POST)).cleaned_data["revision"]
    try:
        fresh = SentDraft(prompt_set.starting_text(latest), prompt_set.revision, seen)
        Draft.objects.replace(draft, fresh, reason=CopyReason.DISCARDED, at=timezone.now())
    except StaleRevision:
        changed = _("The draft was written to since you were asked.")
        raise RequestRefused(409, changed, _("Look at it again first.")) from None
    messages.success(request, _("Your draft is discarded. It is put aside below, in case you want it back."))
    return redirect("prompt-edit", slug)


@require_POST
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
    messages.success(request, _("Your text is back."))
    return redirect("prompt-edit", slug)
