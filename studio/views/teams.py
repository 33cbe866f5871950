"""Teams of a workspace: the list, and one over all its runs."""

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from studio.downloads import download
from studio.forms import clean_or_refuse
from studio.forms.teams import PageForm, TeamSearchForm
from studio.htmx import Request
from studio.models import Workspace
from studio.problems import Problem
from studio.run_problems import reading
from studio.teams import history_table, list_teams, read_history, teams_table


@require_safe
def team_list(request: Request, slug: str) -> HttpResponseBase:
    """Every team that ever scored in the workspace."""
    workspace = get_object_or_404(Workspace, slug=slug)
    wanted = clean_or_refuse(TeamSearchForm, request.GET)
    with reading(workspace) as store:
        table = {"teams": lambda: teams_table(store, wanted["q"], wanted["order"])}
        if (file := download(request, table)) is not None:
            return file
        found = list_teams(store, wanted["q"], wanted["order"], wanted["page"])
    context = {
        "workspace": workspace,
        "teams": found.teams,
        "paging": found.paging,
        "q": wanted["q"],
        "order": wanted["order"],
        "orders": [
            ("best", _("Best score")),
            ("mean", _("Mean of best scores")),
            ("executions", _("Number of runs")),
            ("latest", _("Latest run")),
            ("name", _("Name")),
        ],
    }
    part = request.htmx.target == "teams"
    return render(request, "teams/_list.html" if part else "teams/list.html", context)


@require_safe
def team_detail(request: HttpRequest, slug: str, team: str) -> HttpResponseBase:
    """One team from run to run."""
    workspace = get_object_or_404(Workspace, slug=slug)
    wanted = clean_or_refuse(PageForm, request.GET)
    now = timezone.now()
    with reading(workspace) as store:
        if (file := download(request, {"runs": lambda: history_table(store, team, now)})) is not None:
            return file
        history = read_history(store, team, wanted["page"], now)
    if history is None:
        raise Problem(404, _("No team of this id has a score in this workspace."))
    return render(
        request,
        "teams/detail.html",
        {"workspace": workspace, "history": history, "team": history.team, "paging": history.paging},
    )
