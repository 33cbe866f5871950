"""Runs: executions of all registered workspaces."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe


@require_safe
def run_list(request: HttpRequest) -> HttpResponse:
    """The newest executions."""
    return render(request, "runs/list.html", {"workspaces": []})
