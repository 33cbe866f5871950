"""How the scores of a workspace spread."""

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from studio.models import Workspace
from studio.runs.problems import reading
from studio.runs.scores_page import MOST_GROUPS, read_scores, tables
from studio.runs.team_forms import ScoresForm
from studio.shell.downloads import download
from studio.shell.requests import valid_or_refuse


@require_safe
def workspace_scores(request: HttpRequest, slug: str) -> HttpResponseBase:
    """A histogram with quartiles, and the same by team or by run."""
    workspace = get_object_or_404(Workspace, slug=slug)
    wanted = valid_or_refuse(ScoresForm(request.GET)).cleaned_data
    team = wanted["team"] or None
    by = "runs" if team is not None else wanted["by"]
    with reading(workspace) as store:
        scores = read_scores(store, wanted["of"], by, team, timezone.now())
    if (file := download(request, tables(scores, by))) is not None:
        return file
    context = {
        "workspace": workspace,
        "scores": scores,
        "of": wanted["of"],
        "by": by,
        "team": team,
        "unlisted": team is not None and team not in {each.team_id for each in scores.teams},
        "most_groups": MOST_GROUPS,
    }
    return render(request, "scores/page.html", context)
