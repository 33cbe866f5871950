"""The export page: save the draft, move a label, write the files, all with one confirmation.

Each step is a call of the function that does it everywhere else; what fails says which steps were done.
"""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from builder.errors import JailError
from studio.access.roles import Action, needs, require
from studio.editor.sets import reason, shared_failure
from studio.models import Draft, Export, Label, PromptSet, PromptVersion, Proposal
from studio.preview.saving import NothingChanged, Refused, VersionConflict, save_as_version
from studio.prompts.labels import LabelMoved
from studio.prompts.protection import protection_of
from studio.shell.jail import status_of
from studio.shell.refusal import RequestRefused
from studio.shell.requests import person_of, valid_or_refuse
from studio.shell.turns import heavy
from studio.workspaces.exports.confirming import orders_of
from studio.workspaces.exports.forms import DRAFT, ConfirmForm, PlanForm
from studio.workspaces.exports.page import NoDraft, export_page, require_label
from studio.workspaces.exports.plan import chosen_version
from studio.workspaces.exports.writing import confirm

Clean = dict[str, Any]


@require_http_methods(["GET", "HEAD", "POST"])
@heavy
@needs(Action.EXPORT)
def prompt_export(request: HttpRequest, slug: str) -> HttpResponse:
    """What would be saved, moved and written where; confirmed, it is carried out."""
    prompt_set = get_object_or_404(PromptSet, slug=slug)
    try:
        if request.method == "POST":
            return _sent(request, prompt_set)
        query = valid_or_refuse(PlanForm(request.GET)).cleaned_data
        if query["rows"]:
            return _rows(request, prompt_set, query)
        return _plan_page(request, prompt_set, query)
    except NoDraft:
        return redirect(_address(prompt_set, f"v{prompt_set.revision}" if prompt_set.revision else ""))
    except JailError as error:
        advice = _("Nothing was written. Try again in a moment.")
        raise RequestRefused(status_of(error), reason(error), advice) from error


def _plan_page(
    request: HttpRequest,
    prompt_set: PromptSet,
    query: Clean,
    status: int = 200,
    message: str | None = None,
    message_error: str = "",
) -> HttpResponse:
    if query["draft"]:
        draft = Draft.objects.unsaved(prompt_set, person_of(request))
        if draft is not None and draft.base != prompt_set.revision:
            return redirect("prompt-conflict", prompt_set.slug)
    page = export_page(prompt_set, query, person_of(request), timezone.localdate())
    context = {
        "page": page,
        "prompt_set": prompt_set,
        "message": page.version.message if message is None else message,
        "message_error": message_error,
        "why": query["why"],
    }
    return render(request, "workspaces/exports/plan.html", context, status=422 if page.errors else status)


def _rows(request: HttpRequest, prompt_set: PromptSet, query: Clean) -> HttpResponse:
    """Some rows of one workspace's comparison, for a page that is open already."""
    slug, rows = query["rows"][0]
    only = {**query, "workspace": [slug]}
    targets = export_page(prompt_set, only, person_of(request), timezone.localdate()).targets
    if not targets:
        raise Http404
    stretches = targets[0].diff.within(rows)
    return render(request, "compare/_rows.html", {"panel": targets[0], "stretches": stretches})


def _address(
    prompt_set: PromptSet,
    source: str,
    move: str | None = None,
    workspaces: Collection[str] | None = None,
    why: str = "",
) -> str:
    """Of a plan; without workspaces the page suggests some."""
    query: dict[str, Any] = {name: value for name, value in (("source", source), ("why", why)) if value}
    if move is not None:
        query["move"] = move
    if workspaces is not None:
        query |= {"workspace": sorted(workspaces), "chosen": "on"}
    return reverse("prompt-export", args=[prompt_set.slug], query=query)


# --- the form was sent -------------------------------------------------------------------


def _sent(request: HttpRequest, prompt_set: PromptSet) -> HttpResponse:
    clean = valid_or_refuse(ConfirmForm(request.POST)).cleaned_data
    if Export.objects.filter(batch=clean["batch"]).exists():
        return redirect("export-detail", clean["batch"])  # the same confirmation came twice
    clean["move"] = clean["move"] or ""
    draft = _draft(request, prompt_set, clean) if clean["draft"] else None
    unseen = set(clean["workspace"]) - set(clean["planned"])
    if "look" in request.POST or unseen or clean["move"] != clean["shown_move"]:
        ticked = clean["workspace"] if clean["move"] == clean["shown_move"] else None
        return _look_first(request, prompt_set, clean, ticked)
    if draft is not None and draft.revision != clean["revision"]:
        said = _("Your draft was written to since you looked, so nothing was done. This is what it says now.")
        messages.warning(request, said)
        return redirect(_address(prompt_set, DRAFT, clean["move"], clean["workspace"], clean["why"]))
    return _confirmed(request, prompt_set, clean, draft)


def _look_first(
    request: HttpRequest, prompt_set: PromptSet, clean: Clean, ticked: Collection[str] | None
) -> HttpResponse:
    if "look" not in request.POST:
        messages.warning(request, _("Nothing was done yet: look at what would change, then confirm."))
    return redirect(_address(prompt_set, clean["source"], clean["move"], ticked, clean["why"]))


def _draft(request: HttpRequest, prompt_set: PromptSet, clean: Clean) -> Draft:
    """The person's draft, with the message that was typed on this page."""
    draft = Draft.objects.unsaved(prompt_set, person_of(request))
    if draft is None:
        raise NoDraft
    Draft.objects.filter(pk=draft.pk, revision=clean["revision"] or 0).update(message=clean["message"])
    return draft


def _confirmed(
    request: HttpRequest, prompt_set: PromptSet, clean: Clean, draft: Draft | None
) -> HttpResponse:
    ticked = set(clean["workspace"])
    seen, knowingly = (
        [each for each in clean[name] if each[0] in ticked] for name in ("target", "overwrite")
    )
    orders = orders_of(seen, knowingly, prompt_set.holds)
    person, now, done = person_of(request), timezone.now(), list[str]()
    version = _version_as_seen(prompt_set, clean)
    if not (orders or draft or clean["move"]):
        messages.error(request, _("Nothing is selected. Select what to write."))
        return _plan_page(request, prompt_set, clean, status=422)
    # Everything is asked for before the first step.
    if draft is not None:
        require(person, Action.EDIT)
    proposes, approval = "propose" in request.POST, False
    if move := clean["move"]:
        protection = protection_of(prompt_set, move)
        require(person, Action.LABEL, protection)
        approval = protection.approval
    if proposes != approval:  # the page said otherwise
        return _look_first(request, prompt_set, clean, clean["workspace"])
    if draft is not None:
        saved = _saved(request, draft, clean, now)
        if isinstance(saved, HttpResponse):
            return saved
        version = saved
        done.append(_("Saved as v%(number)d.") % {"number": saved.number})
    try:
        if proposes:
            why = clean["why"] or clean["message"]
            proposal = Proposal.objects.propose(move, version, by=person, at=now, message=why)
            done.append(_("Proposed. Another releaser can approve it now."))
            return _told(request, done, proposal)
        if move:
            Label.objects.move(move, version, by=person, at=now, seen=clean["moved_from"])
            done.append(_("%(label)s now points to v%(number)d.") % {"label": move, "number": version.number})
        if orders:
            name = move or clean["label"]
            confirm(version, orders, batch=clean["batch"], by=person, at=now, label_name=name)
    except (LabelMoved, Refused, JailError, RequestRefused, PermissionDenied) as error:
        if not done:
            return _nothing_done(request, prompt_set, clean, error)
        return _half_done(request, version, clean, done, _why(error))
    if orders:
        return redirect("export-detail", clean["batch"])
    return _told(request, done, version)


def _told(request: HttpRequest, done: list[str], to: PromptVersion | Proposal) -> HttpResponse:
    for said in done:
        messages.success(request, said)
    return redirect(to)


def _version_as_seen(prompt_set: PromptSet, clean: Clean) -> PromptVersion:
    """The version that was chosen, or that the draft starts from, if all labels are where the page showed
    them; nothing is done otherwise."""
    points, move = prompt_set.pointers, clean["move"]
    require_label(prompt_set, move)
    if move and points.get(move) != clean["moved_from"]:
        raise _moved(move, points.get(move))
    number = prompt_set.revision if clean["draft"] else clean["version"]
    version, label_name = chosen_version(prompt_set, number, clean["label"])
    if label_name and version.number != clean["number"]:
        raise _moved(label_name, version.number)
    return version


def _moved(name: str, number: int | None) -> RequestRefused:
    return RequestRefused(409, _moved_words(name, number), _("Go back and check the changes again."))


def _moved_words(name: str, number: int | None) -> str:
    if number is None:
        return _("The label %(label)s was removed meanwhile, so nothing was written.") % {"label": name}
    return _("%(label)s now points to v%(number)d, so nothing was written.") % {
        "label": name,
        "number": number,
    }


def _saved(request: HttpRequest, draft: Draft, clean: Clean, now: datetime) -> PromptVersion | HttpResponse:
    """The version that the draft became, or the page that says why it did not."""
    prompt_set, message = draft.prompt_set, clean["message"]
    if not message:
        error = _("Describe the change briefly. It appears in the history.")
        return _plan_page(request, prompt_set, clean, 422, message, error)
    try:
        return save_as_version(
            prompt_set,
            draft.templates,
            base=draft.base,
            message=message,
            by=draft.person,
            at=now,
            draft=draft,
            warn=lambda finding: messages.warning(request, shared_failure(finding)),
        )
    except NothingChanged:
        raise NoDraft from None
    except VersionConflict:
        said = _("Nothing was done: someone else saved a version meanwhile. Your draft is saved.")
        messages.error(request, said)
        return redirect("prompt-conflict", prompt_set.slug)
    except Refused:
        return _plan_page(request, prompt_set, clean, 422, message)


def _nothing_done(
    request: HttpRequest, prompt_set: PromptSet, clean: Clean, error: Exception
) -> HttpResponse:
    if isinstance(error, Refused):
        return _plan_page(request, prompt_set, clean)
    if isinstance(error, LabelMoved):
        raise _moved(error.name, error.number) from error
    raise error


def _half_done(
    request: HttpRequest, version: PromptVersion, clean: Clean, done: list[str], why: str
) -> HttpResponse:
    """What was done stays, and the plan of the rest says what was not."""
    for said in done:
        messages.success(request, said)
    messages.error(request, _("Nothing was written to a workspace. %(why)s") % {"why": why})
    address = _address(version.prompt_set, f"v{version.number}", clean["move"], clean["workspace"])
    return redirect(address)


def _why(error: Exception) -> str:
    if isinstance(error, LabelMoved):
        return _moved_words(error.name, error.number)
    if isinstance(error, RequestRefused):
        return f"{error.what} {error.advice}".strip()
    if isinstance(error, Refused | JailError):
        return reason(error)
    return _("Your account may not do this.")
