"""The live preview: what the text in the editor would give, now."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.views.decorators.http import require_POST

from builder.errors import Superseded
from studio.contexts.at_round import context_at
from studio.editor.forms import DraftForm
from studio.editor.page import editor_with, preview_topic, with_preview
from studio.editor.view_forms import ViewOf, read_view, sent_text
from studio.editor.views import editor_page
from studio.models import PromptSet
from studio.preview.rendering import Preview, preview
from studio.preview.source import preview_source
from studio.prompts.file_kinds import FileKind
from studio.prompts.texts import TEXT_KINDS, TextKind
from studio.shell.requests import person_of, refuse_other_encodings, valid_or_refuse
from studio.system.preview_page import SystemPreview, preview_text, workspace_choice


@require_POST
def prompt_preview(request: HttpRequest, slug: str) -> HttpResponse:
    """The part of the page for htmx; the whole page with the text that was sent for a plain form."""
    refuse_other_encodings(request)
    view = read_view(request.POST, TEXT_KINDS)
    if request.headers.get("HX-Request") != "true":
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
        prompt_set = get_object_or_404(PromptSet, slug=slug, holds=FileKind.SYSTEM)
        choice = workspace_choice(prompt_set, view.workspace)
        return preview_text(sent_text(request.POST, kind), choice, owner=owner)
    source = preview_source(slug, view.context)
    return preview(
        source.prompt_set,
        source.saved,
        kind,
        sent_text(request.POST, kind),
        context_at(source.context, view.round, source.whole),
        owner=owner,
        topic=preview_topic(source.prompt_set, kind, view.tab),
    )


def _whole_page(request: HttpRequest, slug: str) -> HttpResponse:
    prompt_set = get_object_or_404(PromptSet, slug=slug)
    view = read_view(request.POST, prompt_set.kinds)
    person = person_of(request)
    sent = valid_or_refuse(DraftForm(request.POST, prompt_set.kinds)).sent
    page = with_preview(editor_with(prompt_set, person, view, sent), person)
    return editor_page(request, page, page.preview.status if page.preview else 200)
