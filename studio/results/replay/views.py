"""Views of replays: what a version or the reader's draft would have sent in rounds that were played."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from builder.errors import TaskUnknown
from builder.invalid_input import ContextError
from builder.template.variables import KINDS, PromptKind
from studio.compare.versions import View
from studio.models import Workspace
from studio.results.origins import round_origin, run_origin
from studio.results.replay.choice import choose
from studio.results.replay.forms import ReplayChoiceForm, ReplayForm
from studio.results.replay.round_page import replayed
from studio.results.replay.round_rebuilding import known_templates, rebuild_round
from studio.results.replay.run_page import replays_of
from studio.results.suggestions.forms import TaskForm
from studio.runs.reading import opened_store
from studio.runs.round_page import read_round
from studio.shell.downloads import download
from studio.shell.jail import status_of
from studio.shell.refusal import RequestRefused
from studio.shell.requests import person_of, refuse_other_encodings, valid_or_refuse
from studio.shell.turns import heavy

MOST_TYPED_TASKS = 3
"""Tasks that one browser keeps with its sign-in; the oldest goes first. They are stored nowhere else."""
_TYPED_TASKS = "typed-tasks"


@require_http_methods(["GET", "HEAD", "POST"])
@heavy
def run_replay(request: HttpRequest, slug: str, execution: str, team: str, number: int) -> HttpResponse:
    """One round, rendered with what was chosen, beside what was sent; a POST brings the task of the run."""
    workspace = _workspace(slug)
    form = valid_or_refuse(ReplayForm(request.GET))
    clean = form.cleaned_data
    kind: PromptKind = clean["kind"] or "team"
    if (answer := _task_given(request, workspace, execution)) is not None:
        return answer
    attribution = round_origin(workspace, execution, team, number)
    owner = str(person_of(request).pk)
    page: dict[str, Any] = {
        "workspace": workspace,
        "execution": execution,
        "team": team,
        "attribution": attribution,
        "choice": choose(workspace, person_of(request), attribution.run, form.wanted),
        "kind": kind,
        "kinds": KINDS,
        "view": clean,
    }
    with opened_store(workspace) as store:
        page["round"] = stored = read_round(store, execution, team, number)
        likely = (*attribution.versions, *attribution.run.versions)
        task = _typed_task(request, workspace, execution)
        try:
            certain = bool(attribution.versions)
            played = rebuild_round(
                store, workspace, stored.record, likely, is_certain=certain, task=task, owner=owner
            )
        except TaskUnknown as error:
            return render(request, "results/replay/round.html", page | _asked(request, error))
        except ContextError as error:
            return render(request, "results/replay/round.html", page | {"refusal": error}, status=422)
    page["played"] = played
    if page["choice"] is None:
        return render(request, "results/replay/round.html", page)
    template = page["choice"].side.templates.parts[kind]
    dialect = played.format(workspace.spoken)
    panel = replayed(played, kind, template, dialect, View.of(clean), owner=owner)
    sides = {"old": {"title": _("Sent")}, "new": {"title": page["choice"].title}}
    page |= {"panel": panel, "page": sides}
    if clean["rows"]:
        rows = clean["rows"][0].rows
        stretches = panel.comparison.within(rows) if panel.comparison else []
        return render(request, "compare/_rows.html", page | {"stretches": stretches})
    return render(request, "results/replay/round.html", page, status=panel.status)


@require_http_methods(["GET", "HEAD", "POST"])
@heavy
def run_replay_all(request: HttpRequest, slug: str, execution: str) -> HttpResponseBase:
    """Every prompt of a run, rendered with what was chosen: the same as was sent, changed, or none."""
    workspace = _workspace(slug)
    form = valid_or_refuse(ReplayChoiceForm(request.GET))
    if (answer := _task_given(request, workspace, execution)) is not None:
        return answer
    attribution = run_origin(workspace, execution)
    choice = choose(workspace, person_of(request), attribution, form.wanted)
    owner = str(person_of(request).pk)
    page: dict[str, Any] = {
        "workspace": workspace,
        "execution": execution,
        "attribution": attribution,
        "choice": choice,
    }
    with opened_store(workspace) as store:
        page["run"] = store.execution(execution)
        if page["run"] is None:
            raise RequestRefused(404, _("This workspace has no run “%(id)s”.") % {"id": execution})
        try:
            delivered = store.delivered_rounds(execution)
            task = _typed_task(request, workspace, execution)
            templates = () if delivered.task or task else known_templates(workspace, attribution.versions)
            made_with = attribution.versions[0].team_user_prompt if attribution.is_certain else ""
            replays = replays_of(
                delivered, workspace.spoken, templates, made_with=made_with, task=task, owner=owner
            )
        except TaskUnknown as error:
            return render(request, "results/replay/run.html", page | _asked(request, error))
        except ContextError as error:
            return render(request, "results/replay/run.html", page | {"refusal": error}, status=422)
    if choice is None:
        return render(request, "results/replay/run.html", page)
    template = choice.side.templates.parts["team"]
    name = f"replay-{execution[:8]}-{choice.prompt_set.slug}-{choice.side.file_name}"
    if (file := download(request, {"replay": lambda: replays.file(name, template)})) is not None:
        return file
    table = replays.table(template, form.cleaned_data["page"])
    status = status_of(table.refusal)
    return render(
        request, "results/replay/run.html", page | {"table": table, "paging": table.paging}, status=status
    )


def _workspace(slug: str) -> Workspace:
    return get_object_or_404(Workspace.objects.select_related("label__prompt_set"), slug=slug)


def _typed_task(request: HttpRequest, workspace: Workspace, execution: str) -> str:
    """What this browser was told that the teams of a run that is not over were asked to do."""
    kept: dict[str, str] = request.session.get(_TYPED_TASKS, {})
    return kept.get(f"{workspace.pk} {execution}", "")


def _task_given(request: HttpRequest, workspace: Workspace, execution: str) -> HttpResponse | None:
    """Keeps a task that was sent, a blank one forgets it; then back to the page. None where none was sent."""
    if request.method != "POST":
        return None
    refuse_other_encodings(request)
    task = valid_or_refuse(TaskForm(request.POST)).cleaned_data["task"]
    kept: dict[str, str] = dict(request.session.get(_TYPED_TASKS, {}))
    kept.pop(f"{workspace.pk} {execution}", None)
    if task.strip():
        kept[f"{workspace.pk} {execution}"] = task
    request.session[_TYPED_TASKS] = dict(list(kept.items())[-MOST_TYPED_TASKS:])
    return redirect(request.get_full_path())


def _asked(request: HttpRequest, error: TaskUnknown) -> dict[str, Any]:
    form = TaskForm()
    form.fields["task"].widget.attrs["autofocus"] = True
    return {"unknown_task": error, "task_form": form}
