"""Labels: moving them to versions, taking them off, and where they have been."""

from django.contrib import messages
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from studio.models import Label, PromptSet
from studio.prompts.forms import LabelForm, MovesForm
from studio.prompts.labels import LabelInUse
from studio.shell.refusal import RequestRefused
from studio.shell.requests import person_of, valid_or_refuse

MOVES_PER_PAGE = 50


@require_POST
def label_move(request: HttpRequest, slug: str) -> HttpResponse:
    """Point a label at a version, or take it off where no version is named."""
    prompt_set = get_object_or_404(PromptSet, slug=slug)
    clean = valid_or_refuse(LabelForm(request.POST)).cleaned_data
    if clean["version"] is None:
        return _remove(request, prompt_set, clean["name"], clean["note"])
    version = prompt_set.versions.filter(number=clean["version"]).first()
    if version is None:
        what = _("This set has no version %(number)d.") % {"number": clean["version"]}
        raise RequestRefused(404, what, _("Look up the version's number in the history."))
    moved = Label.objects.move(
        clean["name"], version, by=person_of(request), at=timezone.now(), note=clean["note"]
    )
    said = (
        _("%(label)s points at v%(number)d now.") if moved else _("%(label)s points at v%(number)d already.")
    )
    messages.success(request, said % {"label": clean["name"], "number": version.number})
    return redirect(version)


@require_safe
def label_history(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Where a label points, and every move that it made; those of a label taken off too."""
    prompt_set = get_object_or_404(PromptSet, slug=slug)
    before = valid_or_refuse(MovesForm(request.GET)).cleaned_data["before"]
    moves = prompt_set.label_moves.filter(name=name).select_related("from_version", "to_version", "moved_by")
    older_than = Q(pk__lt=before) if before else Q()
    page = list(moves.filter(older_than)[: MOVES_PER_PAGE + 1])
    if not page and not before:
        raise Http404
    context = {
        "prompt_set": prompt_set,
        "name": name,
        "label": prompt_set.labels.filter(name=name).select_related("version__prompt_set").first(),
        "moves": page[:MOVES_PER_PAGE],
        "older": page[MOVES_PER_PAGE - 1].pk if len(page) > MOVES_PER_PAGE else None,
        "before": before,
    }
    return render(request, "prompts/labels.html", context)


def _remove(request: HttpRequest, prompt_set: PromptSet, name: str, note: str) -> HttpResponse:
    label = get_object_or_404(prompt_set.labels, name=name)
    try:
        Label.objects.remove(label, by=person_of(request), at=timezone.now(), note=note)
    except LabelInUse as error:
        following = [*label.workspaces.all(), *label.system_workspaces.all()]
        followers = ", ".join(map(str, following))
        raise RequestRefused(
            409,
            _("Workspaces follow %(label)s: %(workspaces)s.") % {"label": name, "workspaces": followers},
            _("Let them follow another label first, or move this one."),
        ) from error
    messages.success(request, _("%(label)s is taken off; its history stays.") % {"label": name})
    return redirect("label-history", prompt_set.slug, name)
