"""Views of runs: lists of executions, one of them as it goes, a team in it, and a team's round."""

from functools import partial
from typing import Any, Literal

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
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
from studio.runs.forms import STATES, RoundForm, RunForm, RunSearchForm, RunTeamForm
from studio.runs.reading import RunFilter, by_latest_write, newest_runs, opened_store, read_runs
from studio.runs.round_page import read_round, read_run_team, team_tables
from studio.runs.run_page import OrderName, elapsed, executions_table, metrics_table, read_run, run_tables
from studio.shell.downloads import MOST_ROWS, Table, attachment, download
from studio.shell.live import is_poll, live_parts, take_marks
from studio.shell.paging import Paging
from studio.shell.refusal import RequestRefused
from studio.shell.requests import Request, person_of, valid_or_refuse
from studio.workspaces.roots import folder_refusal

RUNS_PER_PAGE = 30
RUNS_PER_SECTION = 5
SECTIONS_AT_ONCE = 8
"""Workspaces read for one page; further ones are read when somebody scrolls to them."""

RUN_PARTS = {
    "run-head": "runs/_head.html",
    "run-progress": "runs/_progress.html",
    "run-why": "runs/_why.html",
    "run-ranking": "runs/_ranking.html",
    "run-scores": "runs/_scores.html",
}


@require_safe
def run_list(request: Request) -> HttpResponse:
    """The newest executions of each workspace, the workspace that was written to last at the top."""
    form = valid_or_refuse(RunSearchForm(request.GET)).cleaned_data
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
    if target.startswith("section-"):
        return _list_part(request, "runs/_section.html", context | {"runs": read(RUNS_PER_SECTION)}, known)

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
    wanted = valid_or_refuse(RunForm(request.GET)).cleaned_data
    order: OrderName = wanted["order"] or "mixseek"
    now = timezone.now()
    if folder_refusal(workspace) and (stored := stored_run(workspace, execution)):
        context = {"workspace": workspace, "run": stored, "results": [stored.result]}
        return render(request, "results/stored_run.html", context)
    with opened_store(workspace) as store:
        run = read_run(store, execution, order, now, wanted["page"], every_metric=bool(wanted["metrics"]))
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
