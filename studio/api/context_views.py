"""The API's sample contexts: listed, read, made, changed and deleted."""

import json
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.translation import gettext_noop
from ninja import Router
from pydantic import BaseModel, Field

from studio.api.answers import Cursor, Limit, Page, Word, answer, number_of, page_of, require_match, unchanged
from studio.api.gate import CONTEXT, ApiRequest
from studio.api.idempotency import keep
from studio.api.problems import FieldError, Refusal, refuse_invalid
from studio.contexts.forms import name_taken
from studio.contexts.json_forms import ContextJsonForm
from studio.contexts.models import ContextConflict, NameTaken, SampleContext
from studio.models import PromptSet
from studio.shell.requests import person_of

router = Router(tags=[gettext_noop("Contexts")])


class ContextListed(BaseModel):
    """A sample context without its values."""

    slug: str
    name: str
    description: str
    set: str | None = Field(description="The set that it belongs to; null where all sets share it.")
    round: int
    revision: int
    changed_at: datetime


class ContextShown(ContextListed):
    """A sample context."""

    context: dict[str, Any] = Field(
        description="Task, rounds before and ranking, as `builder render` reads them."
    )
    submission: str


class ContextSent(BaseModel):
    """A sample context to be made, or all of a changed one."""

    name: str = Field("", max_length=120)
    description: str = Field("", max_length=300)
    set: str = Field("", max_length=80, description="A set's address; without one all sets share it.")
    context: dict[str, Any]
    submission: str = Field("", description="What the team hands in in this round, where “context” has none.")


@router.get("/contexts", response=Page[ContextListed], summary=gettext_noop("List contexts"))
def list_contexts(
    request: ApiRequest, set: Word = "", limit: Limit = 50, cursor: Cursor = ""
) -> HttpResponse:
    """All, or those that a set is tried in: its own and the shared ones."""
    contexts = SampleContext.objects.select_related("prompt_set").defer("submission")
    if set:
        contexts = contexts.for_set(get_object_or_404(PromptSet, slug=set))
    after = number_of(cursor)
    rows = list(contexts.filter(Q(pk__gt=after) if after else Q()).order_by("pk")[: limit + 1])
    return page_of(rows, limit, lambda row: ContextListed(**_listed(row)), lambda row: row.pk)


@router.get("/contexts/{word:slug}", response=ContextShown, summary=gettext_noop("Read a context"))
def read_context(request: ApiRequest, slug: str) -> HttpResponse:
    """With all its values."""
    context = _context(slug)
    return unchanged(request, _etag(context)) or _answer(context)


@router.post(
    "/contexts", auth=CONTEXT, response={201: ContextShown}, summary=gettext_noop("Create a context")
)
def make_context(request: ApiRequest, body: ContextSent) -> HttpResponse:
    """Its address is made from its name."""
    form = _form(body)
    with transaction.atomic():
        try:
            made = SampleContext.objects.make(form.values, by=person_of(request), at=timezone.now())
        except NameTaken:
            raise _taken() from None
        return keep(request, _answer(made, 201))


@router.put(
    "/contexts/{word:slug}", auth=CONTEXT, response=ContextShown, summary=gettext_noop("Change a context")
)
def change_context(request: ApiRequest, slug: str, body: ContextSent) -> HttpResponse:
    """All of it; “If-Match” with the ETag that was read is required."""
    context = _context(slug)
    require_match(request, _etag(context), must=True)
    form = _form(body, context)
    with transaction.atomic():
        try:
            SampleContext.objects.change(context, form.values, revision=context.revision, at=timezone.now())
        except NameTaken:
            raise _taken() from None
        except ContextConflict:
            raise Refusal(412, "precondition-failed") from None
        return keep(request, _answer(_context(slug)))


@router.delete(
    "/contexts/{word:slug}", auth=CONTEXT, response={204: None}, summary=gettext_noop("Delete a context")
)
def delete_context(request: ApiRequest, slug: str) -> HttpResponse:
    """“If-Match” with the ETag that was read is required."""
    context = _context(slug)
    require_match(request, _etag(context), must=True)
    with transaction.atomic():
        try:
            SampleContext.objects.discard(context, revision=context.revision)
        except ContextConflict:
            raise Refusal(412, "precondition-failed") from None
        return keep(request, HttpResponse(status=204))


def _context(slug: str) -> SampleContext:
    return get_object_or_404(SampleContext.objects.select_related("prompt_set"), slug=slug)


def _etag(context: SampleContext) -> str:
    return f"{context.pk}-{context.revision}"


def _form(body: ContextSent, context: SampleContext | None = None) -> ContextJsonForm:
    sent = {
        "name": body.name,
        "description": body.description,
        "prompt_set": body.set,
        "json": json.dumps(body.context, ensure_ascii=False),
        "handed_in": body.submission,
    }
    form = ContextJsonForm(sent, {}, context)
    refuse_invalid(form)
    return form


def _taken() -> Refusal:
    return Refusal(422, "input-invalid", errors=[FieldError(field="name", message=name_taken())])


def _listed(context: SampleContext) -> dict[str, Any]:
    return {
        "slug": context.slug,
        "name": context.title,
        "description": context.about,
        "set": context.prompt_set.slug if context.prompt_set else None,
        "round": context.facts.round_number,
        "revision": context.revision,
        "changed_at": context.changed_at,
    }


def _answer(context: SampleContext, status: int = 200) -> HttpResponse:
    body = ContextShown(**_listed(context), context=context.data, submission=context.submission)
    location = f"/api/v1/contexts/{context.slug}" if status == 201 else ""
    return answer(body, status, etag=_etag(context), location=location)
