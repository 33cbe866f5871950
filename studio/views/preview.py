"""The live preview: what the text in the editor would give, now."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.views.decorators.http import require_POST

from builder.errors import Superseded
from studio.editor_page import chosen_context, editor_with, preview_topic, set_with_latest, with_preview
from studio.forms.editor import DraftForm, PreviewForm, read_or_refuse, refuse_other_encodings
from studio.models import PromptSet
from studio.people import person_of
from studio.previewing import Preview, preview
from studio.situations import situation
from studio.views.editor import editor_page


@require_POST
def prompt_preview(request: HttpRequest, slug: str) -> HttpResponse:
    """The part of the page for htmx; the whole page with the text that was sent for a plain form."""
    refuse_other_encodings(request)
    form = read_or_refuse(PreviewForm(request.POST))
    if request.headers.get("HX-Request") != "true":
        return _whole_page(request, slug, form)
    try:
        shown = _preview(request, slug, form)
    except Superseded:
        # The newer one's answer is on its way; this one must not come after it.
        return HttpResponse(status=204)
    # Without the context processors: the part needs nothing of what stands around a page.
    context = {
        "preview": shown,
        "findings": shown.findings,
        "seq": form.cleaned_data["seq"] or 0,
        "part": True,
    }
    response = HttpResponse(render_to_string("prompts/_preview.html", context), status=shown.status)
    if shown.seconds:
        response["Retry-After"] = str(shown.seconds)
    return response


def _preview(request: HttpRequest, slug: str, form: PreviewForm) -> Preview:
    prompt_set, saved = set_with_latest(slug)
    slug = form.cleaned_data["context"]
    context = chosen_context(prompt_set, slug) if slug else None
    kind = form.chosen_kind
    return preview(
        prompt_set,
        saved,
        kind,
        form.text,
        situation(context, form.chosen_round),
        owner=str(person_of(request).pk),
        topic=preview_topic(prompt_set, kind, form.cleaned_data["tab"]),
    )


def _whole_page(request: HttpRequest, slug: str, form: PreviewForm) -> HttpResponse:
    prompt_set = get_object_or_404(PromptSet, slug=slug)
    person = person_of(request)
    sent = read_or_refuse(DraftForm(request.POST)).sent
    page = with_preview(editor_with(prompt_set, person, form, sent), person)
    return editor_page(request, page, page.preview.status if page.preview else 200)
