"""Views of runs: lists of executions, one of them as it goes, a team in it, and a team's round."""

from functools import partial
from typing import Literal

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe
from django_htmx.http import reswap

from studio.models import Workspace
from studio.results.origins import round_origin, run_origin
from studio.results.replay.choice import drafted_set
from studio.results.replay.round_page import difference
from studio.results.stored_runs import stored_run, stored_runs
from studio.runs.all_runs_page import MadeWith, read_all_runs, sets_that_ran
from studio.runs.forms import STATES, AllRunsForm, RoundForm, RunForm, RunSearchForm, RunTeamForm
from studio.runs.reading import RunFilter, opened_store, read_runs
from studio.runs.round_page import read_round, read_run_team, team_tables
from studio.runs.run_page import OrderName, elapsed, executions_table, metrics_table, read_run, run_tables
from studio.shell.downloads import MOST_ROWS, Table, attachment, download
from studio.shell.live import is_poll, live_parts, take_marks
from studio.shell.paging import Paging
from studio.shell.refusal import RequestRefused
from studio.shell.requests import Request, person_of, valid_or_refuse
from studio.workspaces.roots import folder_refusal

RUNS_PER_PAGE = 30

RUN_PARTS = {
    "run-head": "runs/_head.html",
    "run-progress": "runs/_progress.html",
    "run-why": "runs/_why.html",
    "run-ranking": "runs/_ranking.html",
    "run-scores": "runs/_scores.html",
}


@require_safe
def run_list(request: Request) -> HttpResponse:
    """The executions of all workspaces in one list: searched, filtered, sorted, by pages."""
    known = take_marks(request)
    form = valid_or_refuse(AllRunsForm(request.GET)).cleaned_data
    wanted, made_with = RunFilter(form["q"], form["state"] or None), MadeWith.of(form["made_with"])
    workspaces = list(Workspace.objects.filter(archived=False))
    chosen = [each for each in workspaces if form["workspace"] in ("", each.slug)]
    runs = read_all_runs(chosen, wanted, made_with, form["order"], form["page"], timezone.now())
    part = request.htmx.target == "runs"
    if part and runs.mark in known:
        return reswap(HttpResponse(), "none")
    context = form | {
        "runs": runs,
        "paging": runs.paging,
        "workspaces": workspaces,
        "sets": sets_that_ran(),
        "states": STATES.items(),
        "filtered": bool(wanted or made_with or form["workspace"]),
    }
    return render(request, "runs/_all.html" if part else "runs/list.html", context)


@require_safe
def workspace_runs(request: Request, slug: str) -> HttpResponseBase:
    """The executions of one workspace: searched, filtered, by pages."""
    workspace = get_object_or_404(Workspace, slug=slug)
    known = take_marks(request)
    form = valid_or_refuse(RunSearchForm(request.GET)).cleaned_data
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

    def everything() -> Table:
        runs = read(MOST_ROWS)
        return executions_table(f"{workspace.slug}-runs", runs.executions, runs.paging.total)

    if (file := download(request, {"runs": everything})) is not None:
        return file
    if folder_refusal(workspace):
        stored = stored_runs(workspace)
        paging = Paging(form["page"], stored.count(), RUNS_PER_PAGE)
        context |= {"results": stored[paging.offset : paging.offset + paging.size], "paging": paging}
        return render(request, "results/stored_runs.html", context)
    context["runs"] = read(RUNS_PER_PAGE, page=form["page"])
    if target == "runs":
        if context["runs"].mark not in known:
            return render(request, "runs/_list.html", context)
        # The browser has just this list: no more than how old it is.
        return reswap(render(request, "runs/_as_of.html", context | {"alone": True}), "none")
    return render(request, "runs/workspace.html", context)


@require_safe
def run_detail(request: Request, slug: str, execution: str) -> HttpResponseBase:
    """One execution, as it is now; while it goes on the page asks again and gets what changed."""
    workspace = get_object_or_404(Workspace, slug=slug)
    known = take_marks(request)
    wanted = valid_or_refuse(RunForm(request.GET)).cleaned_data
    order: OrderName = wanted["order"] or "mixseek"
    now = timezone.now()
    if folder_refusal(workspace) and (stored := stored_run(workspace, execution)):
        context = {"workspace": workspace, "run": stored, "results": [stored.result]}
        return render(request, "results/stored_run.html", context)
    with opened_store(workspace) as store:
        run = read_run(
            store,
            execution,
            order,
            now,
            wanted["page"],
            every_metric=bool(wanted["metrics"]),
            team_url=lambda team: reverse("run-team", args=[slug, execution, team]),
        )
        if (file := download(request, run_tables(run, store))) is not None:
            return file
    context = {
        "workspace": workspace,
        "run": run,
        "paging": run.paging,
        "execution": run.execution,
        "order": order,
        "elapsed": elapsed(run.execution, now),
        "attribution": run_origin(workspace, execution),
    }
    parts = live_parts(request, RUN_PARTS, context)
    context["parts"] = {identity.removeprefix("run-"): html for identity, (html, _mark) in parts.items()}
    context["marks"] = [mark for _html, mark in parts.values()]
    if is_poll(request):
        changed = [
            {"id": identity, "html": html} for identity, (html, mark) in parts.items() if mark not in known
        ]
        return render(request, "runs/_live.html", context | {"changed": changed})
    return render(request, "runs/detail.html", context)


@require_safe
def run_team(request: HttpRequest, slug: str, execution: str, team: str) -> HttpResponseBase:
    """Each round of one team: score and metrics, submission, judgment."""
    workspace = get_object_or_404(Workspace, slug=slug)
    wanted = valid_or_refuse(RunTeamForm(request.GET)).cleaned_data
    with opened_store(workspace) as store:
        page = read_run_team(store, execution, team, **wanted)
        run = store.execution(execution)
    if (file := download(request, team_tables(execution, page))) is not None:
        return file
    context = {
        "workspace": workspace,
        "execution_id": execution,
        "execution": run,
        "team": page,
        "raw": wanted["raw"],
        "paging": page.paging,
    }
    return render(request, "runs/team.html", context)


@require_safe
def run_round(request: HttpRequest, slug: str, execution: str, team: str, number: int) -> HttpResponseBase:
    """What the team was sent, what it handed in, and how that was judged."""
    workspace = get_object_or_404(Workspace, slug=slug)
    raw = valid_or_refuse(RoundForm(request.GET)).cleaned_data["raw"]
    person = person_of(request)
    with opened_store(workspace) as store:
        page = read_round(store, execution, team, number)
        name = f"round-{execution[:8]}-{team}-{number}"
        if (file := download(request, {"metrics": lambda: metrics_table(name, [page.record])})) is not None:
            return file
        attribution = round_origin(workspace, execution, team, number)
        context = {
            "workspace": workspace,
            "execution": execution,
            "team": team,
            "round": page,
            "raw": raw,
            "attribution": attribution,
            "draft_of": drafted_set(attribution.version, person),
        }
        nearest = attribution.version if attribution.state in ("edited", "unlike") else None
        if nearest is not None:
            context["difference"] = difference(store, workspace, page.record, nearest, owner=str(person.pk))
    return render(request, "runs/rounds/detail.html", context)


@require_safe
def run_round_text(
    request: HttpRequest,
    slug: str,
    execution: str,
    team: str,
    number: int,
    kind: Literal["prompt", "submission"],
) -> HttpResponse:
    """The prompt or the submission to the byte, as a file."""
    workspace = get_object_or_404(Workspace, slug=slug)
    with opened_store(workspace) as store:
        page = read_round(store, execution, team, number)
    text = page.prompt if kind == "prompt" else page.submission
    if text is None:
        raise RequestRefused(404, page.not_delivered or _("Nothing was submitted in this round."))
    # Plain text for every browser: what a model wrote must not become a page of this site.
    answer = HttpResponse(text.text.encode(errors="replace"), content_type="text/plain; charset=utf-8")
    ending = "txt" if kind == "prompt" else "md"
    name = f"{kind}-{slugify(team, allow_unicode=True) or 'team'}-{number}.{ending}"
    answer.headers["Content-Disposition"] = attachment(name)
    return answer
