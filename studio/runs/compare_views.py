"""Two runs of a workspace side by side."""

from datetime import UTC, datetime

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from builder.leaderboard import AggregationStore
from studio.models import Workspace
from studio.results.scoring_basis import judged_apart, judges_unknown
from studio.runs.compare_forms import ComparedTeamForm, PickRunsForm
from studio.runs.comparison_page import compare_runs, metrics_table, rounds_table, teams_table
from studio.runs.lists import RunFilter, read_runs
from studio.runs.problems import reading
from studio.shell.downloads import download
from studio.shell.requests import valid_or_refuse

RUNS_OFFERED = 30
TEAMS_SHOWN = 300
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@require_safe
def run_compare_pick(request: HttpRequest, slug: str) -> HttpResponseBase:
    """On to the comparison where two runs are picked, the older one first; else a list to pick from."""
    workspace = get_object_or_404(Workspace, slug=slug)
    wanted = valid_or_refuse(PickRunsForm(request.GET)).cleaned_data
    picked = wanted["run"]
    if len(picked) == 2:
        with reading(workspace) as store:
            return redirect("run-compare", slug, *_older_first(store, picked))
    runs = read_runs(workspace, RUNS_OFFERED, timezone.now(), RunFilter(wanted["q"]), wanted["page"])
    context = {
        "workspace": workspace,
        "runs": runs,
        "picked": picked,
        "elsewhere": [each for each in picked if each not in {run.execution_id for run in runs.executions}],
        "paging": runs.paging,
        "q": wanted["q"],
    }
    return render(request, "runs/compare_pick.html", context)


@require_safe
def run_compare(request: HttpRequest, slug: str, first: str, second: str) -> HttpResponseBase:
    """Teams in both with their differences, round by round, and what limits the comparison."""
    workspace = get_object_or_404(Workspace, slug=slug)
    wanted = valid_or_refuse(ComparedTeamForm(request.GET)).cleaned_data
    with reading(workspace) as store:
        found = compare_runs(store, first, second, timezone.now(), wanted["team"] or None)
    judged = judged_apart(workspace, first, second)
    other_ruler = bool(judged) or found.other_metrics
    apart = other_ruler and not wanted["anyway"]
    tables = {
        "teams": lambda: teams_table(found, apart=apart),
        "rounds": lambda: rounds_table(found, apart=apart),
        "metrics": lambda: metrics_table(found, apart=apart),
    }
    if (file := download(request, tables)) is not None:
        return file
    context = {
        "workspace": workspace,
        "comparison": found,
        "cautions": [*judged, *judges_unknown(workspace, first, second), *found.cautions],
        "apart": apart,
        "anyway": other_ruler and wanted["anyway"],
        "teams": found.teams[:TEAMS_SHOWN],
        "left_out": max(0, len(found.teams) - TEAMS_SHOWN),
    }
    return render(request, "runs/compare.html", context)


def _older_first(store: AggregationStore, picked: list[str]) -> list[str]:
    found = [store.execution(each) for each in picked]
    started = [each.started_at if each and each.started_at else _LONG_AGO for each in found]
    # Ids that nobody knows go on too: the comparison's page says which.
    return picked if started[0] <= started[1] else picked[::-1]
