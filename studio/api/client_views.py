"""The API's operations for the client: whose token it is, and a draft from a file that somebody edited."""

from dataclasses import replace

from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.translation import gettext_noop
from ninja import Router
from pydantic import BaseModel, Field

from studio.access.roles import role_of
from studio.api.answers import answer
from studio.api.gate import EDIT, ApiRequest
from studio.api.idempotency import keep
from studio.api.version_views import TextsShown, draft_form
from studio.models import PromptSet
from studio.prompts.drafts import CopyReason, Draft, DraftCopy
from studio.shell.requests import person_of

router = Router(tags=[gettext_noop("Client")])


class AccountShown(BaseModel):
    """Whom a token belongs to, and what it may do."""

    name: str
    role: str
    scopes: list[str]


class DraftSent(BaseModel):
    """Texts for one's draft."""

    base: int = Field(ge=0, le=10**9, description="The version that the texts start from.")
    texts: TextsShown


class DraftShown(BaseModel):
    """Where the texts are kept."""

    set: str
    base: int
    copy_kept: bool = Field(description="Whether a draft of your own was there, and the texts lie beside it.")


@router.get("/account", response=AccountShown, summary=gettext_noop("Whose token this is"))
def read_account(request: ApiRequest) -> HttpResponse:
    """The account behind the token, its role and the token's scopes."""
    token = request.token
    role = role_of(token.actor)
    assert role is not None  # the gate lets nobody else in
    return answer(
        AccountShown(name=token.person.get_username(), role=role.name.lower(), scopes=list(token.scopes))
    )


@router.put(
    "/sets/{word:slug}/draft",
    auth=EDIT,
    response=DraftShown,
    summary=gettext_noop("Keep texts as your draft"),
)
def put_draft(request: ApiRequest, slug: str, body: DraftSent) -> HttpResponse:
    """As the editor keeps a draft: a draft of your own stays, and the texts are kept beside it."""
    prompt_set = get_object_or_404(PromptSet, slug=slug)
    sent = draft_form(prompt_set, body.texts, base=body.base).sent
    person, now = person_of(request), timezone.now()
    with transaction.atomic():
        other = Draft.objects.unsaved(prompt_set, person)
        aside = other is not None and other.templates != sent.templates
        if aside:
            DraftCopy.objects.put_aside(prompt_set, person, sent, reason=CopyReason.IMPORTED, at=now)
        else:
            mine = Draft.objects.of(prompt_set, person)
            current = replace(sent, revision=mine.revision if mine else 0)
            Draft.objects.keep(prompt_set, person, current, at=now)
        return keep(request, answer(DraftShown(set=slug, base=sent.base, copy_kept=aside)))
