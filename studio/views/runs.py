"""Runs: executions of all registered workspaces."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from studio.models import Workspace
from studio.runs import read_runs

RUNS_PER_WORKSPACE = 20


@require_safe
def run_list(request: HttpRequest) -> HttpResponse:
    """The newest executions of each workspace."""
    now = timezone.now()
    found = [(each, read_runs(each, RUNS_PER_WORKSPACE, now)) for each in Workspace.objects.all()]
    return render(request, "runs/list.html", {"workspaces": found})
