"""The live preview: what the text in the editor would give, now."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.views.decorators.http import require_POST

from builder.errors import Superseded
from studio.editor_page import editor_with, preview_topic, with_preview
from studio.forms.editor import DraftForm, read_or_refuse, refuse_other_encodings
from studio.forms.editor_view import ViewOf, read_view, sent_text
from studio.htmx import Request
from studio.models import PromptSet
from studio.models.preview_source import preview_source
from studio.models.prompts import TEXT_KINDS, Holds, TextKind
from studio.people import person_of
from studio.previewing import Preview, preview
from studio.situations import situation
from studio.system_preview import SystemPreview, preview_text, workspace_choice
from studio.views.editor import editor_page


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
        return HttpResponse(render_to_string("prompts/_preview_gone.html", {"view": view}), status=404)
    # Without the context processors: the part needs nothing of what stands around a page.
    context = {
        "preview": shown,
        "findings": shown.findings,
        "seq": view.seq,
        "part": True,
    }
    response = HttpResponse(render_to_string("prompts/_preview.html", context), status=shown.status)
    if shown.seconds:
        response["Retry-After"] = str(shown.seconds)
    return response


def _preview(request: HttpRequest, slug: str, view: ViewOf[TextKind]) -> Preview | SystemPreview:
    owner, kind = str(person_of(request).pk), view.kind
    if kind == "system":
        prompt_set = get_object_or_404(PromptSet, slug=slug, holds=Holds.SYSTEM)
        choice = workspace_choice(prompt_set, view.workspace)
        return preview_text(sent_text(request.POST, kind), choice, owner=owner)
    source = preview_source(slug, view.context)
    return preview(
        source.prompt_set,
        source.saved,
        kind,
        sent_text(request.POST, kind),
        situation(source.context, view.round, source.whole),
        owner=owner,
        topic=preview_topic(source.prompt_set, kind, view.tab),
    )


def _whole_page(request: HttpRequest, slug: str) -> HttpResponse:
    prompt_set = get_object_or_404(PromptSet, slug=slug)
    view = read_view(request.POST, prompt_set.kinds)
    person = person_of(request)
    sent = read_or_refuse(DraftForm(request.POST, prompt_set.kinds)).sent
    page = with_preview(editor_with(prompt_set, person, view, sent), person)
    return editor_page(request, page, page.preview.status if page.preview else 200)
