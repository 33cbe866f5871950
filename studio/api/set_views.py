"""The API's prompt sets, their labels and the moves of these."""

from datetime import datetime
from typing import Any, Literal

from django.db import transaction
from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.translation import gettext_noop
from ninja import Router
from pydantic import BaseModel, Field

from builder.errors import JailError
from studio.access.roles import Action
from studio.api.answers import (
    Cursor,
    Limit,
    Page,
    Word,
    answer,
    number_of,
    page_of,
    require_match,
    tag_of,
    unchanged,
)
from studio.api.gate import EDIT, LABEL, ApiRequest, allow
from studio.api.idempotency import keep
from studio.api.problems import ProblemShown, Refusal, refuse_invalid, shown
from studio.editor.sets import archive_set, change_set, create_set, save_first_text
from studio.models import Label, LabelMove, PromptSet, Tag
from studio.preview.saving import Refused, require_sound
from studio.prompts.findings import Finding
from studio.prompts.forms import LabelForm, NewPromptSetForm, PromptSetForm
from studio.prompts.labels import LabelInUse
from studio.prompts.protection import protection_of
from studio.shell.requests import person_of

router = Router(tags=[gettext_noop("Prompt sets")])
_COLUMNS = ("pk", "slug", "name", "dialect", "holds", "archived", "revision", "created_at", "changed_at")


class SetShown(BaseModel):
    """A prompt set."""

    slug: str
    name: str
    format: str
    holds: Literal["prompts", "system"]
    tags: list[str]
    archived: bool
    latest: int = Field(description="The newest version's number; 0 where there is none yet.")
    labels: dict[str, int] = Field(description="The version that each label points at.")
    created_at: datetime
    changed_at: datetime

    @property
    def etag(self) -> str:
        return tag_of(self.name, self.format, self.tags, self.archived, self.latest, self.labels)


class SetMade(SetShown):
    """A new set; ``problems`` say why it has no version yet."""

    problems: list[ProblemShown] = []


class SetSent(BaseModel):
    """A set to be made."""

    name: str = Field(max_length=120)
    tags: list[str] = Field([], max_length=10)
    format: str = Field("", max_length=20, description="Such as “mixseek-a19”; the newest without it.")
    holds: Literal["prompts", "system"] = "prompts"
    start: Literal["defaults", "empty"] = Field(
        "defaults", description="With the default text as version 1, or without a version."
    )


class SetChange(BaseModel):
    """What shall be different about a set."""

    name: str | None = Field(None, max_length=120)
    tags: list[str] | None = Field(None, max_length=10)
    format: str | None = Field(None, max_length=20)
    archived: bool | None = None


class LabelShown(BaseModel):
    """A label, and where it points."""

    name: str
    version: int
    moved_at: datetime


class LabelSent(BaseModel):
    """Where a label shall point."""

    version: int = Field(ge=1, le=10**9)
    note: str = Field("", max_length=300)


class MoveShown(BaseModel):
    """A move of a label."""

    id: int
    from_version: int | None
    to_version: int | None = Field(description="null where the label was taken off.")
    by: str
    at: datetime
    note: str


@router.get("/sets", response=Page[SetShown], summary=gettext_noop("List or search sets"))
def list_sets(
    request: ApiRequest,
    q: Word = "",
    tag: Word = "",
    archived: bool = False,
    limit: Limit = 50,
    cursor: Cursor = "",
) -> HttpResponse:
    """By name, address or tag; in the order of their addresses."""
    sets = PromptSet.objects.filter(archived=archived).search(q)
    if tag:
        sets = sets.filter(tags__name=tag)
    if cursor:
        sets = sets.filter(slug__gt=cursor)
    rows = _shown(list(sets.order_by("slug").values_list(*_COLUMNS)[: limit + 1]))
    return page_of(rows, limit, lambda row: row, lambda row: row.slug)


@router.get("/sets/{word:slug}", response=SetShown, summary=gettext_noop("Read a set"))
def read_set(request: ApiRequest, slug: str) -> HttpResponse:
    """With where its labels point."""
    found = set_shown(slug)
    return unchanged(request, found.etag) or answer(found, etag=found.etag)


@router.patch("/sets/{word:slug}", auth=EDIT, response=SetShown, summary=gettext_noop("Change a set"))
def change_set_settings(request: ApiRequest, slug: str, body: SetChange) -> HttpResponse:
    """What is given; its address stays."""
    with transaction.atomic():
        prompt_set = get_object_or_404(PromptSet.objects.select_for_update(), slug=slug)
        now = set_shown(slug)
        require_match(request, now.etag)
        form = PromptSetForm(
            {
                "name": now.name if body.name is None else body.name,
                "tags": "\n".join(now.tags if body.tags is None else body.tags),
                "dialect": now.format if body.format is None else body.format,
            }
        )
        refuse_invalid(form)
        change_set(prompt_set, **form.cleaned_data)
        if body.archived is not None:
            archive_set(prompt_set, body.archived)
        found = set_shown(slug)
        return keep(request, answer(found, etag=found.etag))


@router.post("/sets", auth=EDIT, response={201: SetMade}, summary=gettext_noop("Create a set"))
def make_set(request: ApiRequest, body: SetSent) -> HttpResponse:
    """Its address is made from its name."""
    sent = {"name": body.name, "tags": "\n".join(body.tags), "holds": body.holds, "start": body.start}
    form = NewPromptSetForm(sent | {"dialect": body.format or "mixseek"})
    refuse_invalid(form)
    clean, now, person = form.cleaned_data, timezone.now(), person_of(request)
    problems: list[ProblemShown] = []
    if clean["start"] == "defaults":
        blank = PromptSet(dialect=clean["dialect"], holds=clean["holds"])
        try:
            require_sound(blank, blank.first_text, owner=person)
        except Refused as refused:
            problems = shown(refused.findings)
        except JailError as error:
            problems = shown([Finding.of(error)])
    with transaction.atomic():
        made = create_set(
            clean["name"],
            tags=clean["tags"],
            dialect=clean["dialect"],
            by=person,
            at=now,
            holds=clean["holds"],
        )
        if clean["start"] == "defaults" and not problems:
            save_first_text(made, by=person, at=now)
        found = set_shown(made.slug)
        address = f"/api/v1/sets/{made.slug}"
        whole = SetMade(**dict(found), problems=problems)
        return keep(request, answer(whole, 201, etag=found.etag, location=address))


@router.get("/sets/{word:slug}/labels", response=Page[LabelShown], summary=gettext_noop("List labels"))
def list_labels(request: ApiRequest, slug: str) -> HttpResponse:
    """All of a set's."""
    prompt_set = get_object_or_404(PromptSet, slug=slug)
    labels = prompt_set.labels.select_related("version")
    return answer(Page(items=[_label(label) for label in labels], next=None))


@router.put(
    "/sets/{word:slug}/labels/{word:name}",
    auth=LABEL,
    response=LabelShown,
    summary=gettext_noop("Move a label"),
)
def move_label(request: ApiRequest, slug: str, name: str, body: LabelSent) -> HttpResponse:
    """Point it at a version; the first move makes it. “If-Match” names where it was seen, as `"v6"`."""
    prompt_set = get_object_or_404(PromptSet, slug=slug)
    form = LabelForm({"name": name, "version": body.version, "note": body.note})
    refuse_invalid(form)
    clean = form.cleaned_data
    version = get_object_or_404(prompt_set.versions, number=clean["version"])
    version.prompt_set = prompt_set
    allow(request, Action.LABEL, protection_of(prompt_set, clean["name"]))
    with transaction.atomic():
        _seen(request, prompt_set, clean["name"])
        Label.objects.move(
            clean["name"],
            version,
            by=person_of(request),
            at=timezone.now(),
            note=clean["note"],
            who=request.token.actor,
        )
        moved = prompt_set.labels.select_related("version").get(name=clean["name"])
        return keep(request, answer(_label(moved), etag=f"v{moved.version.number}"))


@router.delete(
    "/sets/{word:slug}/labels/{word:name}",
    auth=LABEL,
    response={204: None},
    summary=gettext_noop("Remove a label"),
)
def remove_label(request: ApiRequest, slug: str, name: str) -> HttpResponse:
    """Its history stays. Refused while workspaces follow it."""
    prompt_set = get_object_or_404(PromptSet, slug=slug)
    allow(request, Action.LABEL, protection_of(prompt_set, name))
    with transaction.atomic():
        label = _seen(request, prompt_set, name) or get_object_or_404(prompt_set.labels, name=name)
        try:
            Label.objects.remove(label, by=person_of(request), at=timezone.now(), who=request.token.actor)
        except LabelInUse:
            raise Refusal(409, "conflict") from None
        return keep(request, HttpResponse(status=204))


@router.get(
    "/sets/{word:slug}/labels/{word:name}/moves",
    response=Page[MoveShown],
    summary=gettext_noop("List the moves of a label"),
)
def list_moves(
    request: ApiRequest, slug: str, name: str, limit: Limit = 50, cursor: Cursor = ""
) -> HttpResponse:
    """The newest first; those of a label that was taken off, too."""
    prompt_set = get_object_or_404(PromptSet, slug=slug)
    before = number_of(cursor)
    moves = prompt_set.label_moves.filter(Q(pk__lt=before) if before else Q(), name=name)
    rows = list(moves.select_related("from_version", "to_version", "moved_by")[: limit + 1])
    return page_of(rows, limit, _move, lambda row: row.pk)


def set_shown(slug: str) -> SetShown:
    """One set, or a 404."""
    rows = _shown(list(PromptSet.objects.filter(slug=slug).values_list(*_COLUMNS)))
    if not rows:
        raise Refusal(404, "not-found")
    return rows[0]


def _shown(rows: list[tuple[Any, ...]]) -> list[SetShown]:
    """Without model instances: a list of a hundred would spend most of its time on them."""
    keys = [row[0] for row in rows]
    labels: dict[int, dict[str, int]] = {key: {} for key in keys}
    for key, name, number in Label.objects.filter(prompt_set__in=keys).values_list(
        "prompt_set_id", "name", "version__number"
    ):
        labels[key][name] = number
    tags: dict[int, list[str]] = {key: [] for key in keys}
    for key, name in Tag.objects.filter(prompt_sets__in=keys).values_list("prompt_sets", "name"):
        tags[key].append(name)
    return [
        SetShown.model_construct(
            slug=slug,
            name=name,
            format=dialect,
            holds=holds,
            tags=tags[key],
            archived=archived,
            latest=revision,
            labels=labels[key],
            created_at=created,
            changed_at=changed,
        )
        for key, slug, name, dialect, holds, archived, revision, created, changed in rows
    ]


def _seen(request: ApiRequest, prompt_set: PromptSet, name: str) -> Label | None:
    """The label as it is now, locked; refused where the client saw it elsewhere, or may not move it."""
    labels = Label.objects.select_for_update(of=("self",)).select_related("version")
    label = labels.filter(prompt_set=prompt_set, name=name).first()
    allow(request, Action.LABEL, label)
    require_match(request, f"v{label.version.number}" if label else "")
    return label


def _label(label: Label) -> LabelShown:
    return LabelShown(name=label.name, version=label.version.number, moved_at=label.moved_at)


def _move(move: LabelMove) -> MoveShown:
    return MoveShown(
        id=move.pk,
        from_version=move.from_version.number if move.from_version else None,
        to_version=move.to_version.number if move.to_version else None,
        by=move.moved_by.get_username(),
        at=move.moved_at,
        note=move.note,
    )
