"""Settings of a workspace on another machine: what is sent, and deleting what was."""

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from builder.client.manifest import ENDING as MANIFEST
from studio.access.audit import Event, record
from studio.access.roles import Action, needs
from studio.machines.models import RemoteWorkspace
from studio.machines.rewriting import NotRewritten, forget, overwrite_deleted, rewrite
from studio.models import RunResult, SystemBuild, Workspace
from studio.workspaces.stores import forget_gone


@require_POST
@needs(Action.WORKSPACE)
def machine_texts(request: HttpRequest, slug: str) -> HttpResponse:
    """Whether texts are sent. Without them those that were sent are deleted, too."""
    remote = get_object_or_404(RemoteWorkspace.objects.select_related("workspace"), workspace__slug=slug)
    texts = request.POST.get("texts") == "yes"
    with transaction.atomic():
        RemoteWorkspace.objects.filter(pk=remote.pk).update(texts=texts)
        if not texts:
            RunResult.objects.filter(workspace=remote.workspace_id).update(task="")
            SystemBuild.objects.filter(workspace=remote.workspace_id).delete()
            remote.files.exclude(name__endswith=".toml").exclude(name__endswith=MANIFEST).delete()
        record(
            Event.WORKSPACE_CHANGED, remote.workspace, before={"texts": remote.texts}, after={"texts": texts}
        )
    if not texts:
        try:
            rewrite(remote, texts=False)
        except NotRewritten:
            messages.error(request, _("The machine was sending at the same time. Try again."))
            return redirect("workspace-settings", slug)
        overwrite_deleted()
    messages.success(request, _("Saved. It takes effect with the machine's next report."))
    return redirect("workspace-settings", slug)


@require_POST
@needs(Action.WORKSPACE)
def machine_forget(request: HttpRequest, slug: str) -> HttpResponse:
    """Delete what the machine sent and take the workspace off the list; receipts of exports stay."""
    remote = get_object_or_404(RemoteWorkspace.objects.select_related("workspace"), workspace__slug=slug)
    with transaction.atomic():
        RunResult.objects.filter(workspace=remote.workspace_id).delete()
        SystemBuild.objects.filter(workspace=remote.workspace_id).delete()
        forget(remote)
        Workspace.objects.filter(pk=remote.workspace_id).update(archived=True)
        record(Event.WORKSPACE_ARCHIVED, remote.workspace, after={"deleted": "everything its machine sent"})
    forget_gone()
    overwrite_deleted()
    messages.success(request, _("Everything that the machine had sent is deleted."))
    return redirect("workspace-list")
