"""Versions: one with its texts, two to be compared, an old one restored; labels and their moves."""

from django.contrib import messages
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from builder.errors import JailError
from studio.access.roles import Action, needs
from studio.editor.sets import reason, restore_version
from studio.preview.costs import version_costs
from studio.preview.saving import NothingChanged, Refused, VersionConflict
from studio.prompts.drafts import Draft
from studio.prompts.findings import Finding
from studio.prompts.forms import CompareForm, LabelForm, MovesForm, RestoreForm
from studio.prompts.labels import USUAL_LABELS, Label, LabelInUse
from studio.prompts.models import PromptSet, PromptVersion
from studio.prompts.protection import movable_label
from studio.prompts.texts import TEXT_FIELDS, TEXT_NAMES
from studio.shell.refusal import RequestRefused
from studio.shell.requests import person_of, valid_or_refuse
from studio.workspaces.exports.page import offers_of

MOVES_PER_PAGE = 50


@require_safe
def version_detail(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """A version: its texts as they are."""
    return version_page(request, _version(slug, number))


@require_POST
@needs(Action.EDIT)
def version_restore(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """A new version with the text of this one."""
    version, clean = _version(slug, number), valid_or_refuse(RestoreForm(request.POST)).cleaned_data
    message = clean["message"] or _("Restore v%(number)d") % {"number": number}
    try:
        made = restore_version(
            version, base=clean["base"], message=message, by=person_of(request), at=timezone.now()
        )
    except NothingChanged:
        text = _("The newest version already has the text of v%(number)d, so no version was saved.")
        messages.info(request, text % {"number": number})
        return redirect(version)
    except VersionConflict as conflict:
        raise RequestRefused(
            409,
            _("Someone else saved a version since you opened this page."),
            _("Check it in the history, then restore if you still want to."),
        ) from conflict
    except Refused as refused:
        messages.error(request, _("Not restored: v%(number)d has problems.") % {"number": number})
        return version_page(request, version, refused.findings, status=422)
    except JailError as error:
        raise RequestRefused(503, reason(error)) from error
    messages.success(request, _("v%(old)d restored as v%(new)d.") % {"old": number, "new": made.number})
    return redirect(made.prompt_set)


@require_safe
def compare_pick(request: HttpRequest, slug: str) -> HttpResponse:
    """From two versions picked in the history to the address of their comparison, the older one first.

    Where none is picked: the last change, be it the draft's or that of the newest version.
    """
    prompt_set = get_object_or_404(PromptSet, slug=slug)
    if not request.GET:
        return _last_change(request, prompt_set)
    clean = valid_or_refuse(CompareForm(request.GET)).cleaned_data
    old, new = clean["old"], clean["new"]
    if new != "draft":
        old, new = sorted((old, int(new)))
    if old == new:
        messages.info(request, _("Pick two different versions to compare."))
        return redirect(prompt_set)
    return redirect("prompt-compare", prompt_set.slug, old, new)


def _last_change(request: HttpRequest, prompt_set: PromptSet) -> HttpResponse:
    newest = prompt_set.revision
    if newest and Draft.objects.unsaved(prompt_set, person_of(request)):
        return redirect("prompt-compare", prompt_set.slug, newest, "draft")
    if newest > 1:
        return redirect("prompt-compare", prompt_set.slug, newest - 1, newest)
    messages.info(request, _("Nothing to compare yet: save a second version or start a draft."))
    return redirect(prompt_set)


def version_page(
    request: HttpRequest, version: PromptVersion, findings: list[Finding] | None = None, status: int = 200
) -> HttpResponse:
    """The page, whatever brought it about."""
    prompt_set = version.prompt_set
    points = prompt_set.pointers
    names = sorted({*USUAL_LABELS, *points})
    context = {
        "prompt_set": prompt_set,
        "version": version,
        "templates": [(kind, TEXT_NAMES[kind], text) for kind, text in version.templates.parts.items()],
        "draft": Draft.objects.unsaved(prompt_set, person_of(request)),
        "label_names": names,
        "labels": [name for name, number in points.items() if number == version.number],
        "movable": [
            movable_label(prompt_set, name, points.get(name), request.user)
            for name in names
            if points.get(name) != version.number
        ],
        "findings": findings,
        "offers": offers_of(version),
        "costs": version_costs(version, owner=str(person_of(request).pk)),
    }
    return render(request, "prompts/version.html", context, status=status)


def _version(slug: str, number: int) -> PromptVersion:
    versions = PromptVersion.objects.select_related("prompt_set__language_model", "author", "parent")
    versions = versions.defer(*(f"parent__{name}" for name in TEXT_FIELDS.values()))
    version: PromptVersion = get_object_or_404(versions, prompt_set__slug=slug, number=number)
    return version


@require_POST
@needs(Action.LABEL)
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
        _("%(label)s now points to v%(number)d.") if moved else _("%(label)s already points to v%(number)d.")
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
        files = label.followed_files.select_related("workspace")
        following = [*label.workspaces.all(), *label.system_workspaces.all(), *files]
        followers = _(", ").join(map(str, following))
        raise RequestRefused(
            409,
            _("Workspaces follow %(label)s: %(workspaces)s.") % {"label": name, "workspaces": followers},
            _("Let them follow another label first, or move this one."),
        ) from error
    messages.success(request, _("%(label)s removed; its history is kept.") % {"label": name})
    return redirect("label-history", prompt_set.slug, name)
