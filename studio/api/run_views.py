"""The API's runs: executions and their rounds, the versions that made them, and what these scored."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.translation import gettext_noop
from ninja import Router
from pydantic import BaseModel, Field

from builder.leaderboard import Execution, ExecutionState, RoundRecord
from studio.api.answers import Cursor, Limit, Page, Word, answer, number_of, page_of
from studio.api.gate import ApiRequest
from studio.api.problems import Refusal
from studio.api.version_views import version_named
from studio.api.workspace_views import VersionNamed
from studio.editor.sets import template_set
from studio.models import PromptVersion, RunResult, Workspace
from studio.results.models import Found
from studio.results.origins import RunOrigin, brief_origins, is_id, run_origin
from studio.results.version_scores import VersionScore, scores_before, versions_that_ran
from studio.runs.reading import RunFilter, find_execution, opened_store, read_runs
from studio.shell.requests import person_of
from studio.shell.turns import COME_BACK_SECONDS, PLACES

router = Router(tags=[gettext_noop("Runs and scores")])

Text = Annotated[Word, Field(description="Words of the task, or an id.")]


class Attribution(BaseModel):
    """The version behind a run, as found by rendering its prompts again."""

    state: Literal["exact", "several", "edited", "unknown", "unexamined"]
    versions: list[VersionNamed] = Field(description="The one, the nearest of an edited one, or candidates.")
    likeness: float | None


class RunListed(BaseModel):
    """An execution of MixSeek."""

    id: str
    state: Literal["running", "completed", "partial_failure", "failed", "unknown"]
    task: str | None
    teams: int
    rounds: int
    best_score: float | None
    best_team: str | None
    started_at: datetime | None
    last_at: datetime | None
    attribution: Attribution


class Place(BaseModel):
    """A team's place in a run."""

    rank: int
    team_id: str
    team_name: str
    best_score: float | None
    best_round: int
    latest_score: float | None
    latest_round: int
    rounds: int
    exit_reason: str | None


class RunShown(RunListed):
    """A run with its ranking."""

    ranking: list[Place]


class MetricShown(BaseModel):
    """One of the scores of a submission."""

    name: str
    score: float | None
    comment: str


class RoundShown(BaseModel):
    """A round of one team."""

    team_id: str
    team_name: str
    round: int
    score: float | None
    metrics: list[MetricShown]
    final: bool
    submission: str | None
    started_at: datetime | None
    ended_at: datetime | None
    versions: list[VersionNamed] = Field(description="Those that give its prompt to the byte.")


class RunOfVersion(BaseModel):
    """A finished run that is traced to a version."""

    workspace: str
    id: str
    state: str
    task: str
    teams: int
    rounds: int
    best_score: float | None
    started_at: datetime | None


class Mean(BaseModel):
    """A mean with its interval of 95 %."""

    mean: float
    low: float | None
    high: float | None
    runs: int


class Change(BaseModel):
    """What a version has more than an earlier one."""

    compared_with: int
    verdict: Literal["more", "within", "few", "ruler"] = Field(
        description="more than noise; within noise; too few runs; measured differently"
    )
    mean: float | None
    low: float | None
    high: float | None
    p: float | None


class ScoreShown(BaseModel):
    """What the runs of a version scored."""

    version: int
    runs: int
    rounds: int
    best_score: Mean | None
    metrics: list[str]
    change: Change | None


@router.get("/workspaces/{word:slug}/runs", response=Page[RunListed], summary=gettext_noop("List runs"))
def list_runs(
    request: ApiRequest,
    slug: str,
    q: Text = "",
    state: ExecutionState | None = None,
    limit: Limit = 30,
    cursor: Cursor = "",
) -> HttpResponse:
    """The newest first, out of a copy of the workspace's database."""
    workspace = get_object_or_404(Workspace, slug=slug)
    page = number_of(cursor) or 1
    with PLACES.taken(str(person_of(request).pk)):
        runs = read_runs(workspace, limit, timezone.now(), RunFilter(q, state), page)
    if runs.problem or runs.first_copy:
        headers = {"Retry-After": str(COME_BACK_SECONDS)}
        raise Refusal(503, "unavailable", runs.problem, advice=runs.advice, headers=headers)
    if page > runs.paging.last:
        return answer(Page[RunListed](items=[], next=None))
    origins = brief_origins(workspace, [run.execution_id for run in runs.executions])
    items = [RunListed(**_run(run, origins.get(run.execution_id, RunOrigin()))) for run in runs.executions]
    return answer(Page(items=items, next=str(runs.paging.next) if runs.paging.next else None))


@router.get(
    "/workspaces/{word:slug}/runs/{stored:execution}", response=RunShown, summary=gettext_noop("Read a run")
)
def read_run(request: ApiRequest, slug: str, execution: str) -> HttpResponse:
    """With its ranking and the version behind it."""
    workspace = get_object_or_404(Workspace, slug=slug)
    with PLACES.taken(str(person_of(request).pk)), opened_store(workspace) as store:
        run = find_execution(store, execution, timezone.now())
        if run is None:
            raise Refusal(404, "not-found")
        standings = store.standings(execution)
    ranking = [Place.model_validate(standing, from_attributes=True) for standing in standings]
    return answer(RunShown(**_run(run, run_origin(workspace, execution)), ranking=ranking))


@router.get(
    "/workspaces/{word:slug}/runs/{stored:execution}/rounds",
    response=Page[RoundShown],
    summary=gettext_noop("List the rounds of a run"),
)
def list_rounds(
    request: ApiRequest, slug: str, execution: str, team: Word = "", limit: Limit = 50, cursor: Cursor = ""
) -> HttpResponse:
    """Scores, metrics and submissions, by team and round, with the versions that give each prompt."""
    workspace = get_object_or_404(Workspace, slug=slug)
    first = number_of(cursor) or 0
    with PLACES.taken(str(person_of(request).pk)), opened_store(workspace) as store:
        if find_execution(store, execution, timezone.now()) is None:
            raise Refusal(404, "not-found")
        records = store.rounds(execution, team or None)[first : first + limit + 1]
    versions = _versions_of_rounds(workspace, execution)
    items = [_round(record, versions.get((record.team_id, record.round_number), [])) for record in records]
    return answer(Page(items=items[:limit], next=str(first + limit) if len(items) > limit else None))


@router.get(
    "/sets/{word:slug}/versions/{word:version}/runs",
    response=Page[RunOfVersion],
    summary=gettext_noop("List the runs of a version"),
)
def list_runs_of_version(
    request: ApiRequest, slug: str, version: str, limit: Limit = 50, cursor: Cursor = ""
) -> HttpResponse:
    """Those whose prompts are this version's and no other's."""
    found = version_named(slug, version)
    runs = RunResult.objects.filter(version=found, found=Found.EXACT, over=True).order_by("-pk")
    if before := number_of(cursor):
        runs = runs.filter(pk__lt=before)
    rows = list(runs.select_related("workspace")[: limit + 1])
    return page_of(rows, limit, _run_of_version, lambda row: row.pk)


@router.get(
    "/sets/{word:slug}/scores", response=Page[ScoreShown], summary=gettext_noop("List scores of versions")
)
def list_scores(request: ApiRequest, slug: str, limit: Limit = 20, cursor: Cursor = "") -> HttpResponse:
    """Of the versions that ran, the newest first, each compared with an earlier one."""
    prompt_set = template_set(slug)
    numbers = versions_that_ran(prompt_set, before=number_of(cursor), most=limit + 1)
    scores = scores_before(prompt_set, numbers[:limit])
    items = [_score(scores[number]) for number in numbers[:limit] if number in scores]
    return answer(Page(items=items, next=str(numbers[limit - 1]) if len(numbers) > limit else None))


def _run(run: Execution, origin: RunOrigin) -> dict[str, Any]:
    likeness = origin.result.likeness if origin.result else None
    named = [VersionNamed.of(version) for version in origin.versions]
    return {
        "id": run.execution_id,
        "state": run.state,
        "task": run.user_prompt,
        "teams": run.teams,
        "rounds": run.rounds,
        "best_score": run.best_score,
        "best_team": run.best_team_name,
        "started_at": run.started_at,
        "last_at": run.last_at,
        "attribution": Attribution(
            state=origin.state, versions=[each for each in named if each], likeness=likeness
        ),
    }


def _versions_of_rounds(workspace: Workspace, execution: str) -> Mapping[tuple[str, int], list[VersionNamed]]:
    """What attribution stored, by team and round."""
    result = None
    if is_id(execution):
        result = RunResult.objects.filter(workspace=workspace, execution_id=execution).first()
    if result is None:
        return {}
    rounds = list(result.round_results.values_list("team_id", "round_number", "versions"))
    keys = {key for _team, _number, keys in rounds for key in keys[:12]}
    known = PromptVersion.objects.filter(pk__in=keys).values_list("pk", "prompt_set__slug", "number")
    named = {key: VersionNamed(set=slug, version=number) for key, slug, number in known}
    return {(team, number): [named[key] for key in keys if key in named] for team, number, keys in rounds}


def _round(record: RoundRecord, versions: list[VersionNamed]) -> RoundShown:
    return RoundShown(
        team_id=record.team_id,
        team_name=record.team_name,
        round=record.round_number,
        score=record.score,
        metrics=[MetricShown.model_validate(metric, from_attributes=True) for metric in record.metrics],
        final=record.final_submission,
        submission=record.submission,
        started_at=record.started_at,
        ended_at=record.ended_at,
        versions=versions,
    )


def _run_of_version(run: RunResult) -> RunOfVersion:
    return RunOfVersion(
        workspace=run.workspace.slug,
        id=run.execution_id,
        state=run.state,
        task=run.task,
        teams=run.teams,
        rounds=run.rounds,
        best_score=run.best_score,
        started_at=run.started_at,
    )


def _score(score: VersionScore) -> ScoreShown:
    mean, change = score.estimate, score.change
    gain = change.difference if change else None
    return ScoreShown(
        version=score.number,
        runs=score.runs,
        rounds=score.rounds,
        best_score=Mean.model_validate(mean, from_attributes=True) if mean else None,
        metrics=list(score.main.basis.metrics) if score.main else [],
        change=Change(
            compared_with=change.old,
            verdict=change.verdict,
            mean=gain.mean if gain else None,
            low=gain.low if gain else None,
            high=gain.high if gain else None,
            p=gain.p if gain else None,
        )
        if change
        else None,
    )
