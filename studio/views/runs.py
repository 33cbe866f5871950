"""Runs: lists of executions, one of them as it goes, and one team in it."""

from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe
from django_htmx.http import reswap

from studio.attributions import attribution_of
from studio.downloads import MOST_ROWS, Table, download
from studio.forms import clean_or_refuse
from studio.forms.runs import STATES, RunForm, RunSearchForm, RunTeamForm
from studio.htmx import Request
from studio.live import is_poll, live_parts, take_marks
from studio.models import Workspace
from studio.problems import Problem
from studio.run_page import OrderName, elapsed, read_run
from studio.run_problems import reading
from studio.run_tables import (
    executions_table,
    metrics_table,
    progress_table,
    ranking_table,
    rounds_table,
    scores_table,
)
from studio.run_team import read_run_team
from studio.runs import RunFilter, by_latest_write, newest_runs, read_runs

RUNS_PER_PAGE = 30
RUNS_PER_SECTION = 5
SECTIONS_AT_ONCE = 8
"""Workspaces read for one page; further ones are read when somebody scrolls to them."""

RUN_PARTS = {
    "run-head": "runs/_head.html",
    "run-progress": "runs/_progress.html",
    "run-ranking": "runs/_ranking.html",
    "run-scores": "runs/_scores.html",
}


@require_safe
def run_list(request: Request) -> HttpResponse:
    """The newest executions of each workspace, the workspace that was written to last at the top."""
    form = clean_or_refuse(RunSearchForm, request.GET)
    wanted = RunFilter(form["q"], form["state"] or None)
    workspaces = by_latest_write(Workspace.objects.filter(archived=False))
    shown, later = workspaces[:SECTIONS_AT_ONCE], workspaces[SECTIONS_AT_ONCE:]
    by_workspace = newest_runs(shown, RUNS_PER_SECTION, timezone.now(), wanted)
    context = {
        "by_workspace": by_workspace,
        "later": later,
        # Said once; a workspace that could not be read, or not yet, has a sentence of its own.
        "nothing_matches": bool(wanted and shown and not later)
        and not any(runs.executions or runs.problem or runs.first_copy for _workspace, runs in by_workspace),
        "q": form["q"],
        "state": form["state"],
        "states": STATES.items(),
    }
    part = request.htmx.target == "runs"
    return render(request, "runs/_sections.html" if part else "runs/list.html", context)


@require_safe
def workspace_runs(request: Request, slug: str) -> HttpResponseBase:
    """The executions of one workspace: searched, filtered, by pages."""
    workspace = get_object_or_404(Workspace, slug=slug)
    known = take_marks(request)
    form = clean_or_refuse(RunSearchForm, request.GET)
    wanted = RunFilter(form["q"], form["state"] or None)
    read = partial(read_runs, workspace, now=timezone.now(), wanted=wanted)
    context = {
        "workspace": workspace,
        "q": form["q"],
        "state": form["state"],
        "states": STATES.items(),
        "filtered": bool(wanted),
    }
    target = request.htmx.target or ""
    if target.startswith("section-"):
        return _list_part(request, "runs/_section.html", context | {"runs": read(RUNS_PER_SECTION)}, known)

    def everything() -> Table:
        runs = read(MOST_ROWS)
        return executions_table(f"{workspace.slug}-runs", runs.executions, runs.paging.total)

    if (file := download(request, {"runs": everything})) is not None:
        return file
    context["runs"] = read(RUNS_PER_PAGE, page=form["page"] or 1)
    if target == "runs":
        return _list_part(request, "runs/_list.html", context, known)
    return render(request, "runs/workspace.html", context)


def _list_part(
    request: HttpRequest, template: str, context: dict[str, Any], known: frozenset[str]
) -> HttpResponse:
    """The list, or where the browser has just this one, no more than how old it is."""
    if context["runs"].mark not in known:
        return render(request, template, context)
    return reswap(render(request, "runs/_as_of.html", context | {"alone": True}), "none")


@require_safe
def run_detail(request: Request, slug: str, execution: str) -> HttpResponseBase:
    """One execution, as it is now; while it goes on the page asks again and gets what changed."""
    workspace = get_object_or_404(Workspace, slug=slug)
    known = take_marks(request)
    order: OrderName = clean_or_refuse(RunForm, request.GET)["order"] or "mixseek"
    now = timezone.now()
    with reading(workspace) as store:
        run = read_run(store, execution, order, now)
        if run is None:
            raise Problem(404, _("This workspace has no run “%(id)s”.") % {"id": execution})
        name = f"run-{execution[:8]}"
        tables = {
            "ranking": lambda: ranking_table(run),
            "scores": lambda: scores_table(run),
            "progress": lambda: progress_table(run),
            "rounds": lambda: rounds_table(f"{name}-rounds", store.rounds(execution)),
            "metrics": lambda: metrics_table(f"{name}-metrics", store.rounds(execution)),
        }
        if (file := download(request, tables)) is not None:
            return file
    context = {
        "workspace": workspace,
        "run": run,
        "execution": run.execution,
        "order": order,
        "elapsed": elapsed(run.execution, now),
        "attribution": attribution_of(workspace, execution),
    }
    parts = live_parts(request, RUN_PARTS, context)
    context["parts"] = {part.id.removeprefix("run-"): part.html for part in parts}
    context["marks"] = [part.mark for part in parts]
    if is_poll(request):
        changed = [part for part in parts if part.mark not in known]
        return render(request, "runs/_live.html", context | {"changed": changed})
    return render(request, "runs/detail.html", context)


@require_safe
def run_team(request: HttpRequest, slug: str, execution: str, team: str) -> HttpResponseBase:
    """Each round of one team: score and metrics, submission, judgment."""
    workspace = get_object_or_404(Workspace, slug=slug)
    form = clean_or_refuse(RunTeamForm, request.GET)
    with reading(workspace) as store:
        page = read_run_team(
            store, execution, team, page=form["page"] or 1, raw=form["raw"], whole=form["whole"]
        )
        found = store.execution(execution)
    name = f"run-{execution[:8]}-{team}"
    tables = {
        "rounds": lambda: rounds_table(f"{name}-rounds", page.records),
        "metrics": lambda: metrics_table(f"{name}-metrics", page.records),
    }
    if (file := download(request, tables)) is not None:
        return file
    context = {
        "workspace": workspace,
        "execution_id": execution,
        "execution": found,
        "team": page,
        "raw": form["raw"],
        "paging": page.paging,
    }
    return render(request, "runs/team.html", context)
