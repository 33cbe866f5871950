"""The API's workspaces, and the states of their files."""

from datetime import datetime
from typing import Literal

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext_noop
from ninja import Router
from pydantic import BaseModel, Field

from studio.api.answers import Cursor, Limit, Page, answer, page_of
from studio.api.gate import ApiRequest
from studio.api.problems import ProblemShown, shown
from studio.models import PromptVersion, Workspace
from studio.shell.requests import person_of
from studio.shell.turns import PLACES
from studio.workspaces.models import LABELLED
from studio.workspaces.state import PromptFileState, every_state_of

router = Router(tags=[gettext_noop("Workspaces")])


class VersionNamed(BaseModel):
    """A version, by its set and number."""

    set: str
    version: int

    @classmethod
    def of(cls, version: PromptVersion | None) -> "VersionNamed | None":
        return cls(set=version.prompt_set.slug, version=version.number) if version else None


class Followed(VersionNamed):
    """A label that a file follows, and where it points."""

    label: str


class WorkspaceListed(BaseModel):
    """A workspace."""

    slug: str
    name: str
    path: str
    format: str
    archived: bool


class FileShown(BaseModel):
    """A file of a workspace beside the versions that the studio has."""

    key: str = Field(description="What exports call the file by.")
    file: str
    holds: str
    state: Literal["in_sync", "behind", "edited", "unknown", "broken", "missing", "unchecked"]
    in_step: bool
    summary: str
    version: VersionNamed | None = Field(description="The version whose text it has.")
    follows: Followed | None
    sha256: str | None
    modified_at: datetime | None
    differs_in: list[str]
    problems: list[ProblemShown]


class WorkspaceShown(WorkspaceListed):
    """A workspace with the states of its files."""

    files: list[FileShown]


@router.get("/workspaces", response=Page[WorkspaceListed], summary=gettext_noop("List workspaces"))
def list_workspaces(
    request: ApiRequest, archived: bool = False, limit: Limit = 50, cursor: Cursor = ""
) -> HttpResponse:
    """In the order of their addresses; no file is read."""
    workspaces = Workspace.objects.filter(archived=archived).order_by("slug")
    rows = list(workspaces.filter(slug__gt=cursor)[: limit + 1])
    return page_of(rows, limit, _listed, lambda row: row.slug)


@router.get("/workspaces/{word:slug}", response=WorkspaceShown, summary=gettext_noop("Read a workspace"))
def read_workspace(request: ApiRequest, slug: str) -> HttpResponse:
    """With the states of its files, as they are now."""
    workspace = get_object_or_404(Workspace.objects.select_related(*LABELLED), slug=slug)
    with PLACES.taken(str(person_of(request).pk)):
        files = [_file(state) for state in every_state_of([workspace])]
    return answer(WorkspaceShown(**dict(_listed(workspace)), files=files))


def _listed(workspace: Workspace) -> WorkspaceListed:
    return WorkspaceListed(
        slug=workspace.slug,
        name=workspace.name,
        path=workspace.path,
        format=workspace.spoken.name,
        archived=workspace.archived,
    )


def _file(state: PromptFileState) -> FileShown:
    label = state.label
    follows = None
    if label is not None:
        follows = Followed(set=label.prompt_set.slug, version=label.version.number, label=label.name)
    return FileShown(
        key=state.key,
        file=state.relative,
        holds=state.file_kind.value,
        state=state.kind,
        in_step=state.in_step,
        summary=state.summary,
        version=VersionNamed.of(state.version),
        follows=follows,
        sha256=state.sha256,
        modified_at=state.modified_at,
        differs_in=list(state.changed_fields),
        problems=shown([*state.findings, *state.health]),
    )
