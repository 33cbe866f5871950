"""Workspaces: the list and one of them."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from studio.models import Workspace


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
    return render(request, "workspaces/detail.html", {"workspace": workspace, "facts": workspace.facts()})
