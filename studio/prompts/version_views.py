"""Versions: one with its three templates, two to be compared, an old one to be restored."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from builder.errors import JailError
from studio.editor.sets import reason, restore_version
from studio.models import Draft, PromptSet, PromptVersion
from studio.preview.round_costs import version_costs
from studio.preview.saving import NothingChanged, Refused, VersionConflict
from studio.prompts.findings import Finding
from studio.prompts.forms import CompareForm, RestoreForm
from studio.prompts.labels import USUAL_LABELS
from studio.prompts.texts import text_name
from studio.shell.refusal import RequestRefused
from studio.shell.requests import person_of, valid_or_refuse
from studio.workspaces.exports.page import offers_of


@require_safe
def version_detail(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """A version: its texts as they are."""
    return version_page(request, _version(slug, number))


@require_POST
def version_restore(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """A new version with the text of this one."""
    version, clean = _version(slug, number), valid_or_refuse(RestoreForm(request.POST)).cleaned_data
    message = clean["message"] or _("Restore v%(number)d") % {"number": number}
    try:
        made = restore_version(
            version, base=clean["base"], message=message, by=person_of(request), at=timezone.now()
        )
    except NothingChanged:
        text = _("The newest version has the text of v%(number)d already, so no version was made.")
        messages.info(request, text % {"number": number})
        return redirect(version)
    except VersionConflict as conflict:
        raise RequestRefused(
            409,
            _("Somebody saved a version since you opened this page."),
            _("Go back to the history and look at it; restore then, if you still want to."),
        ) from conflict
    except Refused as refused:
        messages.error(request, _("Not restored: what v%(number)d says has problems.") % {"number": number})
        return version_page(request, version, refused.findings, status=422)
    except JailError as error:
        raise RequestRefused(503, reason(error)) from error
    messages.success(request, _("v%(old)d is restored as v%(new)d.") % {"old": number, "new": made.number})
    return redirect(made.prompt_set)


@require_safe
def compare_pick(request: HttpRequest, slug: str) -> HttpResponse:
    """From two versions picked in the history to the address of their comparison, the older one first."""
    prompt_set = get_object_or_404(PromptSet, slug=slug)
    clean = valid_or_refuse(CompareForm(request.GET)).cleaned_data
    old, new = clean["old"], clean["new"]
    if new != "draft":
        old, new = sorted((old, int(new)))
    if old == new:
        messages.info(request, _("Pick two different versions to compare."))
        return redirect(prompt_set)
    return redirect("prompt-compare", prompt_set.slug, old, new)


def version_page(
    request: HttpRequest, version: PromptVersion, findings: list[Finding] | None = None, status: int = 200
) -> HttpResponse:
    """The page, whatever brought it about."""
    prompt_set = version.prompt_set
    points = dict(prompt_set.labels.values_list("name", "version__number"))
    names = sorted({*USUAL_LABELS, *points})
    context = {
        "prompt_set": prompt_set,
        "version": version,
        "templates": [(kind, text_name(kind), text) for kind, text in version.templates.parts.items()],
        "draft": Draft.objects.unsaved(prompt_set, person_of(request)),
        "label_names": names,
        "movable": [(name, points.get(name)) for name in names if points.get(name) != version.number],
        "findings": findings,
        "offers": offers_of(version),
        "costs": version_costs(version, owner=str(person_of(request).pk)),
    }
    return render(request, "prompts/version.html", context, status=status)


def _version(slug: str, number: int) -> PromptVersion:
    versions = PromptVersion.objects.select_related("prompt_set__language_model", "author", "parent")
    found: PromptVersion = get_object_or_404(versions, prompt_set__slug=slug, number=number)
    return found
