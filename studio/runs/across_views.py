"""Views over several runs of a workspace: two side by side, its teams, and how its scores spread."""

from datetime import UTC, datetime
from functools import partial

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from builder.leaderboard import AggregationStore
from studio.models import Workspace
from studio.results.scoring_basis import Caution, cautions_of
from studio.runs.comparison_page import compare_runs, comparison_tables
from studio.runs.forms import ComparedTeamForm, PageForm, PickRunsForm, ScoresForm, TeamSearchForm
from studio.runs.reading import RunFilter, opened_store, read_runs
from studio.runs.scores_page import MOST_GROUPS, ScoreGroup, read_scores, tables
from studio.runs.teams_page import history_table, list_teams, read_history, teams_table
from studio.shell.downloads import download
from studio.shell.requests import Request, valid_or_refuse
from studio.shell.turns import heavy

RUNS_OFFERED = 30
TEAMS_SHOWN = 300
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@require_safe
@heavy
def run_compare_pick(request: HttpRequest, slug: str) -> HttpResponseBase:
    """On to the comparison where two runs are picked, the older one first; else a list to pick from."""
    workspace = get_object_or_404(Workspace, slug=slug)
    wanted = valid_or_refuse(PickRunsForm(request.GET)).cleaned_data
    picked = wanted["run"]
    if len(picked) == 2:
        with opened_store(workspace) as store:
            return redirect("run-compare", slug, *_older_first(store, picked))
    runs = read_runs(workspace, RUNS_OFFERED, timezone.now(), RunFilter(wanted["q"]), wanted["page"])
    listed = {run.execution_id for run in runs.executions}
    context = {
        "workspace": workspace,
        "runs": runs,
        "picked": picked,
        "elsewhere": [run for run in picked if run not in listed],
        "paging": runs.paging,
        "q": wanted["q"],
    }
    return render(request, "runs/compare_pick.html", context)


def _older_first(store: AggregationStore, picked: list[str]) -> list[str]:
    runs = [store.execution(run) for run in picked]
    started = [run.started_at if run and run.started_at else _LONG_AGO for run in runs]
    # Ids that nobody knows go on too: the comparison's page says which.
    return picked if started[0] <= started[1] else picked[::-1]


@require_safe
@heavy
def run_compare(request: HttpRequest, slug: str, first: str, second: str) -> HttpResponseBase:
    """Teams in both with their differences, round by round, and what limits the comparison."""
    workspace = get_object_or_404(Workspace, slug=slug)
    wanted = valid_or_refuse(ComparedTeamForm(request.GET)).cleaned_data
    with opened_store(workspace) as store:
        comparison = compare_runs(
            store, first, second, timezone.now(), partial(_round_url, slug), wanted["team"] or None
        )
    scored = cautions_of(workspace, first, second)
    measured_apart = comparison.other_metrics or any(caution.apart for caution in scored)
    apart = measured_apart and not wanted["anyway"]
    if (file := download(request, comparison_tables(comparison, apart=apart))) is not None:
        return file
    context = {
        "workspace": workspace,
        "comparison": comparison,
        "cautions": [*scored, *map(Caution, comparison.cautions)],
        "apart": apart,
        "anyway": measured_apart and wanted["anyway"],
        "teams": comparison.teams[:TEAMS_SHOWN],
        "left_out": max(0, len(comparison.teams) - TEAMS_SHOWN),
    }
    return render(request, "runs/compare.html", context)


@require_safe
def team_list(request: Request, slug: str) -> HttpResponseBase:
    """Every team that ever scored in the workspace."""
    workspace = get_object_or_404(Workspace, slug=slug)
    wanted = valid_or_refuse(TeamSearchForm(request.GET)).cleaned_data
    search, order = wanted["q"], wanted["order"]
    with opened_store(workspace) as store:
        if (file := download(request, {"teams": lambda: teams_table(store, search, order)})) is not None:
            return file
        teams, paging = list_teams(store, search, order, wanted["page"])
    context = {
        "workspace": workspace,
        "teams": teams,
        "paging": paging,
        "q": search,
        "order": order,
        "orders": [
            ("best", _("Best score")),
            ("mean", _("Mean of best scores")),
            ("executions", _("Number of runs")),
            ("latest", _("Latest run")),
            ("name", _("Name")),
        ],
    }
    part = request.htmx.target == "teams"
    return render(request, "runs/teams/_list.html" if part else "runs/teams/list.html", context)


@require_safe
def team_detail(request: HttpRequest, slug: str, team: str) -> HttpResponseBase:
    """One team from run to run."""
    workspace = get_object_or_404(Workspace, slug=slug)
    wanted = valid_or_refuse(PageForm(request.GET)).cleaned_data
    now = timezone.now()
    with opened_store(workspace) as store:
        if (file := download(request, {"runs": lambda: history_table(store, team, now)})) is not None:
            return file
        history = read_history(store, team, wanted["page"], now, partial(_run_url, slug))
    context = {"workspace": workspace, "history": history, "team": history.team, "paging": history.paging}
    return render(request, "runs/teams/detail.html", context)


def _run_url(slug: str, execution: str) -> str:
    return reverse("run-detail", args=[slug, execution])


def _round_url(slug: str, execution: str, team: str, number: int) -> str:
    """Rounds count from 1; a row of another number has no address."""
    if not team or number < 1:
        return _run_url(slug, execution)
    return reverse("run-round", args=[slug, execution, team, number])


def _group_url(slug: str, group: ScoreGroup) -> str:
    if not group.key:
        return ""
    return _run_url(slug, group.key) if group.run else reverse("team-detail", args=[slug, group.key])


@require_safe
def workspace_scores(request: HttpRequest, slug: str) -> HttpResponseBase:
    """A histogram with quartiles, and the same by team or by run."""
    workspace = get_object_or_404(Workspace, slug=slug)
    wanted = valid_or_refuse(ScoresForm(request.GET)).cleaned_data
    team = wanted["team"] or None
    by = "runs" if team is not None else wanted["by"]
    with opened_store(workspace) as store:
        scores = read_scores(
            store,
            wanted["of"],
            by,
            team,
            timezone.now(),
            partial=wanted["partial"],
            group_url=partial(_group_url, slug),
        )
    if (file := download(request, tables(scores, by))) is not None:
        return file
    context = {
        "workspace": workspace,
        "scores": scores,
        "of": wanted["of"],
        "by": by,
        "team": team,
        "partial": wanted["partial"],
        "unlisted": team is not None and team not in {known.team_id for known in scores.teams},
        "most_groups": MOST_GROUPS,
    }
    return render(request, "runs/scores.html", context)
