"""The view of a set in another release of MixSeek."""

from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from builder.errors import JailError
from builder.template.dialect import dialect_named
from studio.access.roles import Action, needs
from studio.compare.forms import OpenedField
from studio.compare.versions import View
from studio.editor.conflicts import is_changed
from studio.editor.forms import read_choices, read_view
from studio.editor.release_page import ReleasePage, release_page
from studio.editor.sets import change_set, reason
from studio.models import Draft, PromptSet
from studio.prompts.drafts import CopyReason, DraftConflict, SentDraft, StaleRevision
from studio.prompts.file_kinds import FileKind
from studio.prompts.forms import FormatField
from studio.prompts.texts import TextKind, texts_of
from studio.shell.refusal import RequestRefused
from studio.shell.requests import person_of, refuse_other_encodings, valid_or_refuse
from studio.shell.turns import heavy


class ReleaseForm(forms.Form):
    """From which format to which, and what of the comparison is unfolded."""

    old = FormatField(otherwise="", label=gettext_lazy("From"))
    new = FormatField(otherwise="", label=gettext_lazy("To"))
    open = OpenedField(required=False)
    rows = OpenedField(required=False)
    all = forms.BooleanField(required=False)


@require_http_methods(["GET", "HEAD", "POST"])
@heavy
@needs(Action.EDIT, posts=True)
def prompt_release(request: HttpRequest, slug: str) -> HttpResponse:
    """The set in two formats; a POST takes the new defaults, or the format for the set's previews."""
    prompt_set = get_object_or_404(PromptSet, slug=slug, holds=FileKind.PROMPTS)
    if request.method != "POST":
        page = _page(request, prompt_set, request.GET)
        if page.panel is not None and page.panel.text is not None and (rows := _rows(request)) is not None:
            stretches = page.panel.text.within(rows)
            context = {"stretches": stretches, "panel": page.panel, "page": page}
            return render(request, "compare/_rows.html", context)
        return render(request, "editor/release.html", {"page": page, "prompt_set": prompt_set})
    refuse_other_encodings(request)
    page = _page(request, prompt_set, request.POST)
    if "switch" in request.POST:
        change_set(prompt_set, dialect=page.after.name)
        messages.success(request, _("Previews of this set now use %(format)s.") % {"format": page.after.name})
        query = urlencode({"old": page.before.name, "new": page.after.name})
        return redirect(f"{reverse('prompt-release', args=[slug])}?{query}")
    try:
        _take(request, page)
    except (DraftConflict, StaleRevision):
        changed = _("The draft has changed since you opened this page.")
        raise RequestRefused(409, changed, _("Check it again first.")) from None
    except JailError as error:
        raise RequestRefused(503, reason(error)) from error
    messages.success(request, _("Draft updated with your choices. Check it, then save."))
    return redirect("prompt-edit", slug)


def _page(request: HttpRequest, prompt_set: PromptSet, data: QueryDict) -> ReleasePage:
    clean = valid_or_refuse(ReleaseForm(data)).cleaned_data
    asked = read_view(data)
    opened: dict[TextKind, list[range]] = {}
    for part in clean["open"]:
        opened.setdefault(part.kind, []).append(part.rows)
    view = View(unfold=clean["all"], opened=opened)
    formats = dialect_named(clean["old"]), dialect_named(clean["new"])
    page = release_page(prompt_set, person_of(request), asked, *formats, view)
    if "kind" in data or "context" in data or page.is_same:
        return page
    return release_page(prompt_set, page.person, page.most_changed, *formats, view)


def _rows(request: HttpRequest) -> range | None:
    rows = valid_or_refuse(ReleaseForm(request.GET)).cleaned_data["rows"]
    return rows[0].rows if rows else None


def _take(request: HttpRequest, page: ReleasePage) -> None:
    """The templates as chosen become the draft; a text that it held is put aside."""
    if request.POST.get("pin") != page.pin:
        raise StaleRevision
    takes, choices = read_choices(request.POST, page.merges)
    parts = dict(page.templates.parts)
    for text in page.merges:
        parts[text.kind] = text.taken(takes.get(text.kind, text.suggested), choices)
    prompt_set, person, now = page.prompt_set, page.person, timezone.now()
    sent = page.editor.sent
    outcome = SentDraft(texts_of(parts), sent.base, sent.revision, sent.message)
    draft = Draft.objects.of(prompt_set, person)
    if draft is not None and is_changed(draft, page.editor.saved):
        Draft.objects.replace(draft, outcome, reason=CopyReason.REPLACED, at=now)
    else:
        Draft.objects.keep(prompt_set, person, outcome, at=now)
