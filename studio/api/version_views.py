"""The API's versions: listed, searched, read by number, label or as the newest, and made."""

import re
from datetime import datetime
from typing import Any

from django.db.models import F
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.translation import gettext_noop
from ninja import Router
from pydantic import BaseModel, Field

from studio.api.answers import Cursor, Limit, Page, Word, answer, number_of, unchanged
from studio.api.gate import EDIT, ApiRequest
from studio.api.idempotency import keep
from studio.api.problems import FieldError, ProblemShown, Refusal, refuse_invalid, shown
from studio.editor.forms import DraftForm
from studio.models import PromptSet, PromptVersion
from studio.preview.saving import VersionConflict, save_as_version
from studio.prompts.findings import Finding
from studio.prompts.forms import HistoryForm
from studio.prompts.history import history_page, words_of
from studio.prompts.texts import TEXT_FIELDS, Texts
from studio.shell.requests import person_of

router = Router(tags=[gettext_noop("Versions")])
_HASH = re.compile(r"[0-9a-f]{64}")


class VersionListed(BaseModel):
    """A version without its texts."""

    number: int
    message: str
    author: str
    created_at: datetime
    content_hash: str
    parent: int | None
    origin: str
    labels: list[str]


class TextsShown(BaseModel):
    """The texts of a version: three templates, or the settings of a system prompt."""

    team_user_prompt: str | None = None
    evaluator_user_prompt: str | None = None
    judgment_user_prompt: str | None = None
    system_prompt: str | None = None


class VersionShown(VersionListed):
    """A version."""

    set: str
    format: str
    texts: TextsShown


class VersionMade(VersionShown):
    """A new version, and what of it fails in contexts that all sets share."""

    warnings: list[ProblemShown] = []


class VersionSent(BaseModel):
    """A version to be made."""

    base: int = Field(ge=0, le=10**9, description="The version that the texts start from; 0 for the first.")
    message: str = Field(description="What changed, in up to 500 characters.")
    texts: TextsShown


@router.get(
    "/sets/{word:slug}/versions",
    response=Page[VersionListed],
    summary=gettext_noop("List or search versions"),
)
def list_versions(
    request: ApiRequest, slug: str, q: Word = "", limit: Limit = 50, cursor: Cursor = ""
) -> HttpResponse:
    """The newest first; those whose texts, message or author have every word of “q”."""
    prompt_set = get_object_or_404(PromptSet, slug=slug)
    form = HistoryForm({"q": q})
    refuse_invalid(form)
    found = history_page(prompt_set, words_of(form.cleaned_data["q"]), before=number_of(cursor), size=limit)
    labels = _labels(prompt_set)
    items = [VersionListed.model_construct(**_listed(entry.version, labels)) for entry in found.entries]
    return answer(Page(items=items, next=str(found.older) if found.older else None))


@router.get(
    "/sets/{word:slug}/versions/{word:version}", response=VersionShown, summary=gettext_noop("Read a version")
)
def read_version(request: ApiRequest, slug: str, version: str) -> HttpResponse:
    """By its number, by a label, by the hash of its texts, or “latest”."""
    found = version_named(slug, version)
    labels = _labels(found.prompt_set)
    # Labels move, so they are part of what a client may have already.
    etag = "-".join([str(found.number), found.content_hash[:16], *labels.get(found.number, [])])
    return unchanged(request, etag) or answer(_shown(found, labels), etag=etag)


@router.post(
    "/sets/{word:slug}/versions",
    auth=EDIT,
    response={201: VersionMade},
    summary=gettext_noop("Create a version"),
)
def make_version(request: ApiRequest, slug: str, body: VersionSent) -> HttpResponse:
    """By the rules of the editor: the texts have no errors and render in every sample context of the set."""
    prompt_set = get_object_or_404(PromptSet, slug=slug)
    warnings: list[Finding] = []
    form = draft_form(prompt_set, body.texts, base=body.base, message=body.message)
    if form.message_error:
        raise Refusal(422, "input-invalid", errors=[FieldError(field="message", message=form.message_error)])
    answers: list[HttpResponse] = []

    def keep_answer(made: PromptVersion) -> None:
        whole = VersionMade(**dict(_shown(made, {})), warnings=shown(warnings))
        etag, path = f"{made.number}-{made.content_hash[:16]}", f"/api/v1/sets/{slug}/versions/{made.number}"
        answers.append(keep(request, answer(whole, 201, etag=etag, location=path)))

    try:
        save_as_version(
            prompt_set,
            form.sent.templates,
            base=form.sent.base,
            message=form.sent.message,
            by=person_of(request),
            at=timezone.now(),
            warn=warnings.append,
            within=keep_answer,
        )
    except VersionConflict:
        prompt_set.refresh_from_db(fields=["revision"])
        raise Refusal(409, "version-conflict", current=prompt_set.revision) from None
    return answers[0]


def draft_form(prompt_set: PromptSet, texts: TextsShown, *, base: int = 0, message: str = "") -> DraftForm:
    """The editor's own form with these texts: all that the set has, and no others."""
    given = {name: text for name, text in texts.model_dump().items() if text is not None}
    wanted = {TEXT_FIELDS[kind] for kind in prompt_set.kinds}
    if errors := [FieldError(field=f"texts.{name}", message="") for name in sorted(given.keys() ^ wanted)]:
        raise Refusal(422, "input-invalid", errors=errors)
    form = DraftForm({**given, "base": base, "revision": 0, "message": message}, prompt_set.kinds)
    refuse_invalid(form)
    form.refuse_what_cannot_be_kept()
    return form


def version_named(slug: str, name: str) -> PromptVersion:
    """A version of a set by number, label, hash or “latest”; a 404 where there is none."""
    versions = PromptVersion.objects.select_related("prompt_set", "author").filter(prompt_set__slug=slug)
    versions = versions.order_by()
    if name == "latest":
        found = versions.filter(number=F("prompt_set__revision")).first()
    elif name.isascii() and name.isdigit():
        found = versions.filter(number=int(name)).first() if len(name) < 10 else None
    elif _HASH.fullmatch(name):
        found = versions.filter(content_hash=name).order_by("-number").first()
    else:
        # By set and name: with the name alone, SQLite looks at every label that is called so.
        found = versions.filter(labels__name=name, labels__prompt_set=F("prompt_set")).first()
    if not isinstance(found, PromptVersion):
        raise Refusal(404, "not-found")
    return found


def texts_shown(texts: Texts) -> TextsShown:
    """The texts by the names that MixSeek's files have for them."""
    return TextsShown(**{TEXT_FIELDS[kind]: text for kind, text in texts.parts.items()})


def _labels(prompt_set: PromptSet) -> dict[int, list[str]]:
    labels: dict[int, list[str]] = {}
    for name, number in prompt_set.pointers.items():
        labels.setdefault(number, []).append(name)
    return labels


def _listed(version: PromptVersion, labels: dict[int, list[str]]) -> dict[str, Any]:
    return {
        "number": version.number,
        "message": version.message,
        "author": version.author.get_username(),
        "created_at": version.created_at,
        "content_hash": version.content_hash,
        # A version is made from the one before it; the first from none.
        "parent": version.number - 1 if version.parent_id else None,
        "origin": version.origin,
        "labels": labels.get(version.number, []),
    }


def _shown(version: PromptVersion, labels: dict[int, list[str]]) -> VersionShown:
    return VersionShown.model_validate(
        {
            **_listed(version, labels),
            "set": version.prompt_set.slug,
            "format": version.prompt_set.dialect,
            "texts": texts_shown(version.templates),
        }
    )
