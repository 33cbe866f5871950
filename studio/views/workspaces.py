"""Workspaces: the list and one of them."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from studio.models import Workspace
from studio.runs import read_runs

NEWEST_RUNS = 10


@require_safe
def workspace_list(request: HttpRequest) -> HttpResponse:
    """Every registered workspace at a glance."""
    workspaces = Workspace.objects.select_related("label__prompt_set", "label__version")
    context = {
        "workspaces": [(workspace, workspace.facts()) for workspace in workspaces],
        "roots": settings.STUDIO_WORKSPACE_ROOTS,
    }
    return render(request, "workspaces/list.html", context)


@require_safe
def workspace_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """One workspace: its files, its label, its newest runs."""
    workspace = get_object_or_404(
        Workspace.objects.select_related("label__prompt_set", "label__version"), slug=slug
    )
    context = {
        "workspace": workspace,
        "facts": workspace.facts(),
        "runs": read_runs(workspace, NEWEST_RUNS, timezone.now()),
    }
    return render(request, "workspaces/detail.html", context)
