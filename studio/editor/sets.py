"""Prompt sets: made, duplicated and brought back to an older text. Used by pages of sets and by imports."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _

from builder.errors import JailError
from studio.access.audit import Event, record
from studio.access.limits import Limit, require_room
from studio.contexts.at_round import dialect_of
from studio.models import Draft, PromptSet, PromptVersion, SampleContext, Tag
from studio.preview.saving import Refused, require_sound, save_as_version
from studio.prompts.drafts import SentDraft
from studio.prompts.file_kinds import FileKind
from studio.prompts.findings import Finding
from studio.prompts.models import Origin
from studio.prompts.texts import TextKind, texts_of
from studio.shell.addresses import free_slug
from studio.shell.language import reader_language
from studio.shell.refusal import RequestRefused


def create_set(
    name: str,
    *,
    tags: Sequence[str],
    dialect: str,
    by: User,
    at: datetime,
    holds: str = FileKind.PROMPTS,
) -> PromptSet:
    """A set without a version yet."""
    require_room(by, Limit.SETS, PromptSet.objects.filter(made_by=by))
    while True:
        slug = free_slug(PromptSet.objects.all(), name, "set")
        try:
            with transaction.atomic():
                made = PromptSet.objects.create(
                    slug=slug,
                    name=name,
                    dialect=dialect,
                    holds=holds,
                    made_by=by,
                    created_at=at,
                    changed_at=at,
                )
                _set_tags(made, tags)
                record(Event.SET_MADE, made, after={"slug": slug, "holds": holds, "dialect": dialect})
            return made
        except IntegrityError:
            # Somebody took the address a moment ago; anything else is no matter of trying again.
            if not PromptSet.objects.filter(slug=slug).exists():
                raise


def save_defaults(prompt_set: PromptSet, *, by: User, at: datetime) -> PromptVersion:
    """Version 1 of a new set: MixSeek's own templates, or the usual system prompt.

    Raises ``Refused`` and the jail's errors.
    """
    require_sound(prompt_set, prompt_set.first_text, owner=by)
    return save_first_text(prompt_set, by=by, at=at)


def save_first_text(prompt_set: PromptSet, *, by: User, at: datetime) -> PromptVersion:
    """The same after a trial: nothing of it takes long, so it may be part of a transaction."""
    dialect = dialect_of(prompt_set)
    if prompt_set.file_kind.is_system:
        message = _("Default settings")
    elif dialect.release:
        message = _("Default templates of MixSeek %(release)s") % {"release": dialect.release}
    else:
        message = _("Default templates of the documents")
    return prompt_set.save_version(prompt_set.first_text, base=0, message=message, author=by, at=at)


def start_empty(prompt_set: PromptSet, *, by: User, at: datetime) -> None:
    """A draft of empty texts; without one the editor would begin with the defaults."""
    empty = texts_of(dict.fromkeys(prompt_set.kinds, ""))
    Draft.objects.keep(prompt_set, by, SentDraft(empty, base=0, revision=0), at=at)


def change_set(prompt_set: PromptSet, *, tags: Sequence[str] | None = None, **columns: Any) -> None:
    """Store name, dialect or tags of a set, as far as they are given."""
    with transaction.atomic():
        rows = PromptSet.objects.filter(pk=prompt_set.pk)
        before: dict[str, object] = dict(rows.values(*columns).get()) if columns else {}
        after: dict[str, object] = dict(columns)
        rows.update(**columns)
        if tags is not None:
            before["tags"], after["tags"] = sorted(tag.name for tag in prompt_set.tags.all()), sorted(tags)
            _set_tags(prompt_set, tags)
        if before != after:
            record(Event.SET_CHANGED, prompt_set, before=before, after=after)


def archive_set(prompt_set: PromptSet, archived: bool) -> None:
    """Take a set off the list, or put it back."""
    with transaction.atomic():
        if PromptSet.objects.filter(pk=prompt_set.pk).exclude(archived=archived).update(archived=archived):
            record(Event.SET_ARCHIVED if archived else Event.SET_BACK, prompt_set)


def _set_tags(prompt_set: PromptSet, names: Sequence[str]) -> None:
    """The set has these tags, and no other."""
    prompt_set.tags.set([Tag.objects.get_or_create(name=name)[0] for name in names])


def duplicate_set(source: PromptSet, name: str, *, by: User, at: datetime) -> PromptSet:
    """A set that begins with the source's newest text, its tags, dialect and own sample contexts."""
    newest = source.latest
    if newest is not None:
        # The copy has the same contexts, so what holds for the source holds for it.
        require_sound(source, newest.templates, owner=by)
    with transaction.atomic():
        tags = [tag.name for tag in source.tags.all()]
        copy = create_set(name, tags=tags, dialect=source.dialect, by=by, at=at, holds=source.holds)
        for context in source.contexts.all():
            _copy_context(context, copy, at)
        PromptSet.objects.filter(pk=copy.pk).update(
            round_config=source.round_config,
            budgets=source.budgets,
            language_model=source.language_model,
            protected_labels=source.protected_labels,
            needs_approval=source.needs_approval,
        )
        if newest is not None:
            copy.save_version(
                newest.templates,
                base=0,
                message=_("Copy of %(name)s v%(number)d") % {"name": source.name, "number": newest.number},
                author=by,
                at=at,
                origin=Origin.COPIED,
                origin_note=f"{source.slug} v{newest.number}",
            )
    return copy


def restore_version(
    version: PromptVersion, *, base: int, message: str, by: User, at: datetime
) -> PromptVersion:
    """A new version, after ``base``, with the text of an old one.

    Raises ``NothingChanged``, ``VersionConflict``, ``Refused`` or the jail's errors, as every save.
    """
    return save_as_version(
        version.prompt_set,
        version.templates,
        base=base,
        message=message,
        by=by,
        at=at,
        origin=Origin.RESTORED,
        origin_note=f"v{version.number}",
    )


def shared_failure(finding: Finding) -> str:
    """What a version that was saved all the same fails in."""
    words = {"where": finding.where, "what": finding.text}
    return _("Can’t render in the shared context “%(where)s”: %(what)s") % words


def reason(error: Refused | JailError) -> str:
    """Why a text could not be saved, in a sentence or two."""
    if isinstance(error, JailError):
        return error.text(reader_language())
    first = error.findings[0]
    kinds: dict[TextKind | None, str] = {
        "team": _("Team"),
        "evaluator": _("Evaluator"),
        "judgment": _("Judgment"),
        "system": "system_prompt.toml",
    }
    where = [kinds[first.kind], first.where, first.line and _("line %(line)d") % {"line": first.line}]
    return f"{', '.join(part for part in where if part)}: {first.text} {first.advice}".strip()


def template_set(slug: str) -> PromptSet:
    """The set of that address for a page about templates; a 404 says so where it has none."""
    prompt_set: PromptSet = get_object_or_404(PromptSet, slug=slug)
    require_templates(prompt_set)
    return prompt_set


def require_templates(prompt_set: PromptSet) -> None:
    """A 404 that says why there is no such page for a set of a system prompt."""
    if not prompt_set.file_kind.has_templates:
        raise RequestRefused(
            404,
            _("«%(name)s» is a system prompt, which has no such page.") % {"name": prompt_set.name},
            _("Contexts, matrix, coverage and scores exist only for prompt templates."),
        )


def _copy_context(context: SampleContext, to: PromptSet, at: datetime) -> None:
    context.pk = None
    context._state.adding = True
    context.slug = free_slug(SampleContext.objects.all(), context.slug, "context")
    context.prompt_set, context.created_at, context.changed_at = to, at, at
    context.save()
    record(Event.CONTEXT_MADE, context)
