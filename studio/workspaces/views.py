"""Workspaces: the list, one of them, registering and changing them."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from studio.access.roles import Action, needs
from studio.models import Workspace
from studio.prompts.file_kinds import FileKind
from studio.prompts.forms import ArchiveForm
from studio.shell.language import reader_language
from studio.shell.live import take_marks
from studio.shell.refusal import RequestRefused
from studio.shell.requests import Request, person_of, valid_or_refuse
from studio.workspaces.candidates import offered
from studio.workspaces.changing import (
    ChangedMeanwhile,
    archive_workspace,
    change_settings,
    find_release_again,
    mark_of_settings,
    read_database_again,
)
from studio.workspaces.file_kinds import OtherPromptsFile, kind_of_file, prompt_files_of
from studio.workspaces.forms import (
    WorkspaceListForm,
    WorkspacePreviewForm,
    WorkspaceSettingsForm,
)
from studio.workspaces.glance import glances, mark_of, seconds_to_next
from studio.workspaces.imports.incoming import other_file
from studio.workspaces.models import LABELLED
from studio.workspaces.page import detail_page
from studio.workspaces.preview_page import preview_of
from studio.workspaces.registering import AlreadyRegistered
from studio.workspaces.roots import are_fixed
from studio.workspaces.stores import NotAllowed


@require_safe
def workspace_list(request: Request) -> HttpResponse:
    """Every registered workspace at a glance; those taken off the list apart."""
    had = take_marks(request)
    archived = valid_or_refuse(WorkspaceListForm(request.GET)).cleaned_data["archived"]
    workspaces = list(Workspace.objects.filter(archived=archived).select_related(*LABELLED))
    rows = glances(workspaces, timezone.now())
    part, mark = request.htmx.target == "workspaces", mark_of(rows)
    if part and mark in had:
        return HttpResponse(status=204)  # htmx leaves the list alone
    context = {
        "glances": rows,
        "wait": seconds_to_next(rows),
        "mark": mark,
        "archived": archived,
        "any_archived": archived or Workspace.objects.filter(archived=True).exists(),
        "offer": None if archived else offered(workspaces),
        "fixed": are_fixed(),
    }
    return render(request, "workspaces/_list.html" if part else "workspaces/list.html", context)


@require_safe
def workspace_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """One workspace: its prompt file beside the versions, its health, its newest runs and exports."""
    workspace = get_object_or_404(Workspace.objects.select_related(*LABELLED), slug=slug)
    return render(request, "workspaces/detail.html", {"page": detail_page(workspace, timezone.now())})


@require_safe
def workspace_preview(request: HttpRequest, slug: str) -> HttpResponse:
    """What a run here would send, under a sample context."""
    workspace = get_object_or_404(Workspace.objects.select_related(*LABELLED), slug=slug)
    wanted = valid_or_refuse(WorkspacePreviewForm(request.GET)).cleaned_data
    file = other_file(workspace, wanted["file"]) if wanted["file"] else kind_of_file(FileKind.PROMPTS)
    page = preview_of(workspace, file, wanted["context"], wanted["round"], person_of(request))
    return render(
        request, "workspaces/preview.html", {"page": page, "workspace": workspace}, status=page.status
    )


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Action.WORKSPACE)
def workspace_settings(request: HttpRequest, slug: str) -> HttpResponse:
    """Name, folder, format and the labels that are followed; the address stays, so links go on working."""
    workspace = get_object_or_404(Workspace.objects.select_related(*LABELLED), slug=slug)
    stored = {
        "name": workspace.name,
        "path": workspace.path,
        "dialect": workspace.dialect,
        "label": workspace.label_id,
        "system_label": workspace.system_label_id,
        "working_directory": workspace.working_directory,
        "run_variables": workspace.run_variables,
    }
    seen = mark_of_settings(workspace)
    others = [file for file in prompt_files_of(workspace) if isinstance(file, OtherPromptsFile)]
    data = request.POST.copy() if request.method == "POST" else None
    form = WorkspaceSettingsForm(data, initial=stored | {"seen": seen}, workspace=workspace, others=others)
    context = {"form": form, "workspace": workspace}
    if data is not None and data.get("seen") != seen:
        data["seen"] = seen  # saved once more, with what is stored now in sight, it is meant
        context["stored"] = form.stored_otherwise
        return render(request, "workspaces/settings.html", context, status=409)
    if not form.is_valid():
        return _form_page(request, "workspaces/settings.html", context)
    clean = form.cleaned_data
    try:
        change_settings(
            workspace,
            {name: clean[name] for name in stored},
            {other.name: clean[other.mark] for other in others},
            seen=seen,
        )
    except AlreadyRegistered as known:
        form.add_error("path", str(known))
        return _form_page(request, "workspaces/settings.html", context)
    except ChangedMeanwhile:
        return workspace_settings(request, slug)  # what is stored is another thing by now, and said so
    messages.success(request, _("Settings saved."))
    return redirect(workspace)


@require_POST
@needs(Action.EDIT)
def workspace_database(request: HttpRequest, slug: str) -> HttpResponse:
    """Read a database once more that was set aside; the page says what came of it."""
    workspace = get_object_or_404(Workspace, slug=slug)
    try:
        read_database_again(workspace)
    except NotAllowed as error:
        language = reader_language()
        raise RequestRefused(403, error.text(language), error.advice(language)) from error
    return redirect(workspace)


@require_POST
@needs(Action.WORKSPACE)
def workspace_release(request: HttpRequest, slug: str) -> HttpResponse:
    """Go by what was found out about the release, no longer by what somebody fixed."""
    workspace = get_object_or_404(Workspace, slug=slug)
    find_release_again(workspace)
    messages.success(request, _("The release is now detected automatically."))
    return redirect(workspace)


@require_POST
@needs(Action.WORKSPACE)
def workspace_archive(request: HttpRequest, slug: str) -> HttpResponse:
    """Take a workspace off the list, or put it back; the folder is left alone."""
    archived = valid_or_refuse(ArchiveForm(request.POST)).cleaned_data["archived"]
    workspace = get_object_or_404(Workspace, slug=slug)
    archive_workspace(workspace, archived)
    if archived:
        messages.success(
            request,
            _("%(name)s was removed from the list. Its folder is unchanged.") % {"name": workspace.name},
        )
        return redirect("workspace-list")
    messages.success(request, _("Restored from the archive."))
    return redirect(workspace)


def _form_page(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    """A page with a form; 422 where what was sent does not do."""
    return render(request, template, context, status=422 if request.method == "POST" else 200)
