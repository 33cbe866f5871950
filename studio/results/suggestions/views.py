"""Views of what real runs and templates suggest, of coverage, and of stored rounds as sample contexts."""

from threading import BoundedSemaphore
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from builder.errors import BuilderError, JailError, TaskUnknown
from builder.invalid_input import ContextError
from studio.access.roles import Action, needs
from studio.contexts.forms import SHARED, ContextSearchForm, name_taken
from studio.contexts.models import NameTaken
from studio.editor.forms import read_view, sent_text
from studio.editor.sets import template_set
from studio.models import SampleContext, Workspace
from studio.preview.coverage import reached
from studio.results.replay.round_rebuilding import (
    PlayedRound,
    known_templates,
    rebuild_round,
    search_templates,
)
from studio.results.suggestions.forms import PickRoundForm, RoundContextForm, SuggestionsForm, TaskForm
from studio.results.suggestions.page import suggestions_for
from studio.results.suggestions.rounds_of_runs import document_of, proposed_description, proposed_name
from studio.runs.reading import RunFilter, opened_store, read_runs
from studio.runs.round_page import read_round
from studio.runs.run_page import read_board
from studio.shell.requests import Request, person_of, refuse_other_encodings, valid_or_refuse

RUNS_OFFERED = 20
_AT_ONCE = BoundedSemaphore(2)
"""Coverages under way: it can wait, and must not take the threads that previews are answered with."""


@require_safe
def prompt_suggestions(request: Request, slug: str) -> HttpResponse:
    """Rounds to keep as sample contexts, lines that none reaches, variables that no template uses."""
    prompt_set = template_set(slug)
    wanted = valid_or_refuse(SuggestionsForm(request.GET)).cleaned_data["version"]
    page = suggestions_for(prompt_set, person_of(request), wanted)
    part = request.htmx.target == "suggestion-counts"
    context = {"page": page, "prompt_set": prompt_set}
    return render(
        request, "results/suggestions/_counts.html" if part else "results/suggestions/page.html", context
    )


@require_POST
def prompt_coverage(request: HttpRequest, slug: str) -> HttpResponse:
    """The lines of the text in the editor that no sample context reaches; 204 where it has to wait."""
    refuse_other_encodings(request)
    view = read_view(request.POST)
    text = sent_text(request.POST, view.kind)
    prompt_set = template_set(slug)
    if not _AT_ONCE.acquire(blocking=False):
        return HttpResponse(status=204)
    try:
        lines = reached(prompt_set, view.kind, text)
    except JailError:
        return HttpResponse(status=204)
    finally:
        _AT_ONCE.release()
    return JsonResponse({"kind": lines.kind, "known": lines.known, "unreached": lines.unreached})


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Action.CONTEXT)
def run_round_context(
    request: HttpRequest, slug: str, execution: str, team: str, number: int
) -> HttpResponse:
    """The round as it would come in; a POST saves it, or looks again with the task that was typed."""
    workspace = get_object_or_404(Workspace.objects.select_related("label__prompt_set"), slug=slug)
    task_form = TaskForm(request.POST) if request.method == "POST" else TaskForm()
    if request.method == "POST":
        refuse_other_encodings(request)
    task = task_form.cleaned_data["task"] if task_form.is_bound and task_form.is_valid() else ""
    page: dict[str, Any] = {
        "workspace": workspace,
        "execution": execution,
        "team": team,
        "task_form": task_form,
    }
    with opened_store(workspace) as store:
        page["round"] = stored = read_round(store, execution, team, number)
        owner = str(person_of(request).pk)
        try:
            played = rebuild_round(store, workspace, stored.record, task=task.strip() and task, owner=owner)
        except TaskUnknown as error:
            return _ask_for_task(request, page, error, task)
        except ContextError as error:
            return render(
                request, "results/suggestions/round_context.html", page | {"refusal": error}, status=422
            )
    search = search_templates(played, known_templates(workspace))
    page |= {"replay": played, "search": search, "task": task}
    form = _form(request, workspace, played)
    if form.is_bound and form.is_valid():
        try:
            saved = SampleContext.objects.make(form.values, by=person_of(request), at=timezone.now())
        except NameTaken:
            form.add_error("name", name_taken())
        else:
            return _saved(request, saved, form)
    form.focus_first_problem()
    status = 422 if form.is_bound else 200
    return render(request, "results/suggestions/round_context.html", page | {"form": form}, status=status)


def _ask_for_task(request: HttpRequest, page: dict[str, Any], error: BuilderError, task: str) -> HttpResponse:
    form: TaskForm = page["task_form"]
    if form.is_bound and form.is_valid() and not task.strip():
        form.add_error("task", _("Write what the teams were asked to do."))
    form.fields["task"].widget.attrs["autofocus"] = True
    status = 422 if form.is_bound else 200
    return render(
        request, "results/suggestions/round_context.html", page | {"unknown_task": error}, status=status
    )


def _form(request: HttpRequest, workspace: Workspace, played: PlayedRound) -> RoundContextForm:
    wanted = valid_or_refuse(ContextSearchForm(request.GET)).cleaned_data["set"]
    told = played.context
    initial = {
        "name": proposed_name(told.team_name, told.round_number, told.user_prompt),
        "description": proposed_description(workspace, told.execution_id),
        "prompt_set": "" if wanted == SHARED else wanted,
    }
    document = document_of(told, played.record.submission)
    saving = request.method == "POST" and request.POST.get("do") != "look"
    return RoundContextForm(request.POST.dict() if saving else None, initial, document)


def _saved(request: HttpRequest, saved: SampleContext, form: RoundContextForm) -> HttpResponse:
    messages.success(request, _("The round is saved as a sample context."))
    if form.stand_in:
        stand_in = _("This round has no submission yet, so that of round %(round)d is used.")
        messages.info(request, stand_in % {"round": form.stand_in})
    return redirect(saved)


@require_safe
@needs(Action.CONTEXT)
def context_from_run(request: HttpRequest) -> HttpResponse:
    """Pick a workspace, then a run, then a team's round."""
    wanted = valid_or_refuse(PickRoundForm(request.GET)).cleaned_data
    workspaces = list(Workspace.objects.filter(archived=False))
    chosen = next((known for known in workspaces if known.slug == wanted["workspace"]), None)
    if chosen is None and len(workspaces) == 1:
        chosen = workspaces[0]
    page: dict[str, Any] = {**wanted, "workspaces": workspaces, "workspace": chosen}
    if chosen is not None:
        now = timezone.now()
        if "execution" in request.GET:
            with opened_store(chosen) as store:
                page["board"] = read_board(store, wanted["execution"], now)
        else:
            runs = read_runs(chosen, RUNS_OFFERED, now, RunFilter(wanted["q"]), wanted["page"])
            page |= {"runs": runs, "paging": runs.paging}
    return render(request, "results/suggestions/pick_round.html", page)
