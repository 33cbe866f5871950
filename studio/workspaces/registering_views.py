"""Views of the register page: a folder becomes a workspace, a folder is allowed or taken back."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from studio.access.roles import Action, needs
from studio.models import Workspace
from studio.shell.refusal import RequestRefused, Way
from studio.shell.requests import person_of, valid_or_refuse
from studio.workspaces.allowed_folders import AllowedFolder
from studio.workspaces.allowing import allow, every_allowed_folder, take_back
from studio.workspaces.candidates import offered, scan
from studio.workspaces.forms import (
    AllowFolderForm,
    NewWorkspaceForm,
    NewWorkspaceQuery,
    TakeBackForm,
    sentences_of,
)
from studio.workspaces.registering import AlreadyRegistered, register
from studio.workspaces.roots import (
    FolderOutside,
    FolderRefused,
    allowed_folder,
    are_fixed,
    is_below_roots,
    named_roots,
)


@dataclass(frozen=True)
class FolderRow:
    """A folder that was allowed, with the workspaces below it."""

    folder: AllowedFolder
    workspaces: list[Workspace]


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Action.WORKSPACE)
def workspace_new(request: HttpRequest) -> HttpResponse:
    """Register a folder: the one of $MIXSEEK_WORKSPACE, one that was found, or any other below the roots."""
    if request.method != "POST":
        wanted = valid_or_refuse(NewWorkspaceQuery(request.GET)).cleaned_data
        return _page(request, NewWorkspaceForm(initial=wanted))
    form = NewWorkspaceForm(request.POST)
    if form.is_valid():
        try:
            made = register(
                form.cleaned_data["path"],
                name=form.cleaned_data["name"],
                dialect=form.cleaned_data["dialect"],
                label=form.cleaned_data["label"],
                by=person_of(request),
                at=timezone.now(),
            )
        except AlreadyRegistered as known:
            form.add_error("path", str(known))
        else:
            messages.success(request, _("%(name)s was added to the list.") % {"name": made.name})
            return redirect(made)
    return _page(request, form, status=422)


@require_POST
@needs(Action.FOLDER)
def folder_allow(request: HttpRequest) -> HttpResponse:
    """Let workspaces below a folder be used; then back to registering one."""
    form = AllowFolderForm(request.POST)
    if form.is_valid():
        try:
            folder = allow(
                form.cleaned_data["folder"], by=person_of(request).get_username(), at=timezone.now()
            )
        except FolderRefused as refusal:
            form.add_error("folder", sentences_of(refusal))
        else:
            messages.success(
                request, _("Workspaces in %(folder)s can be registered now.") % {"folder": folder}
            )
            path = form.cleaned_data["register"]
            return _to_registering({"path": path} if path else {})
    return _page(request, NewWorkspaceForm(), form, status=422)


@require_POST
@needs(Action.FOLDER)
def folder_take_back(request: HttpRequest) -> HttpResponse:
    """Allow a folder no longer; the workspaces that this concerns are named."""
    folder = Path(valid_or_refuse(TakeBackForm(request.POST)).cleaned_data["folder"])
    below = _workspaces_below(folder, list(Workspace.objects.filter(archived=False)))
    if not take_back(folder):
        raise RequestRefused(
            409, _("%(folder)s is not allowed any more.") % {"folder": folder}, ways=[_way_back()]
        )
    messages.success(request, _("%(folder)s is no longer allowed.") % {"folder": folder})
    if names := [workspace.name for workspace in below if not is_below_roots(workspace.folder)]:
        messages.warning(
            request,
            _("No longer read or written: %(names)s.") % {"names": _(", ").join(names)},
        )
    return _to_registering({})


def _page(
    request: HttpRequest,
    form: NewWorkspaceForm,
    allow_form: AllowFolderForm | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    listed = list(Workspace.objects.filter(archived=False))
    offer, paths = offered(listed), [workspace.path for workspace in listed]
    named = form["path"].value() or ""
    outside = _outside(named)
    context: dict[str, Any] = {
        "form": form,
        "allow_form": allow_form or AllowFolderForm(initial={"folder": outside, "register": outside}),
        "offer": offer,
        # Whoever has named a folder looks for none.
        "scan": None if named else scan([*paths, *([offer.folder] if offer else [])]),
        "roots": named_roots(),
        "fixed": are_fixed(),
        "outside": outside,
    }
    if not are_fixed():
        try:
            context["folders"] = [
                FolderRow(folder, _workspaces_below(folder.path, listed)) for folder in every_allowed_folder()
            ]
        except FolderRefused as refusal:
            context["broken"] = refusal
    return render(request, "workspaces/new.html", context, status=status)


def _outside(named: str) -> str:
    """The folder that somebody named, where it only lacks being allowed."""
    try:
        allowed_folder(named)
    except FolderOutside as outside:
        return str(outside.folder)
    except FolderRefused:
        pass
    return ""


def _workspaces_below(folder: Path, workspaces: Iterable[Workspace]) -> list[Workspace]:
    return [workspace for workspace in workspaces if workspace.folder.is_relative_to(folder)]


def _way_back() -> Way:
    return _("Register a workspace"), reverse("workspace-new")


def _to_registering(query: dict[str, str]) -> HttpResponse:
    return HttpResponseRedirect(reverse("workspace-new", query=query))
