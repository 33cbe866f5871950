"""Sets are made, copied and brought back to an old text, by the rule of every save."""

from collections.abc import Sequence
from datetime import datetime

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from builder.defaults import DEFAULT_TEMPLATES
from builder.errors import JailError
from builder.variables import KINDS
from studio.language import reader_language
from studio.models import Draft, PromptSet, PromptVersion, SampleContext, Tag
from studio.models.drafts import SentDraft
from studio.models.prompts import Origin, Templates
from studio.saving import Refused, keep_as_version, shortcomings
from studio.slugs import free_slug

DEFAULTS = Templates(*(DEFAULT_TEMPLATES[kind] for kind in KINDS))


def create_set(name: str, *, tags: Sequence[str], dialect: str, at: datetime) -> PromptSet:
    """A set without a version yet."""
    while True:
        slug = free_slug(PromptSet.objects.all(), name, "set")
        try:
            with transaction.atomic():
                made = PromptSet.objects.create(
                    slug=slug, name=name, dialect=dialect, created_at=at, changed_at=at
                )
                set_tags(made, tags)
            return made
        except IntegrityError:
            # Somebody took the address a moment ago; anything else is no matter of trying again.
            if not PromptSet.objects.filter(slug=slug).exists():
                raise


def save_defaults(prompt_set: PromptSet, *, by: User, at: datetime) -> PromptVersion:
    """Version 1 of a new set: MixSeek's own templates."""
    _refuse_shortcomings(prompt_set, DEFAULTS, by)
    return prompt_set.save_version(
        DEFAULTS, base=0, message=_("MixSeek's default templates"), author=by, at=at
    )


def start_empty(prompt_set: PromptSet, *, by: User, at: datetime) -> None:
    """A draft of three empty texts; without one the editor would begin with the defaults."""
    Draft.objects.keep(prompt_set, by, SentDraft(Templates("", "", ""), base=0, revision=0), at=at)


def set_tags(prompt_set: PromptSet, names: Sequence[str]) -> None:
    """The set has these tags, and no other."""
    prompt_set.tags.set([Tag.objects.get_or_create(name=name)[0] for name in names])


def duplicate_set(source: PromptSet, name: str, *, by: User, at: datetime) -> PromptSet:
    """A set that begins with the source's newest text, its tags, dialect and own sample contexts."""
    newest = source.latest
    if newest is not None:
        # The copy has the same contexts, so what holds for the source holds for it.
        _refuse_shortcomings(source, newest.templates, by)
    with transaction.atomic():
        copy = create_set(name, tags=[tag.name for tag in source.tags.all()], dialect=source.dialect, at=at)
        for context in source.contexts.all():
            _copy_context(context, copy, at)
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
    return keep_as_version(
        version.prompt_set,
        version.templates,
        base=base,
        message=message,
        by=by,
        at=at,
        origin=Origin.RESTORED,
        origin_note=f"v{version.number}",
    )


def reason(error: Refused | JailError) -> str:
    """Why a text could not be saved, in a sentence or two."""
    if isinstance(error, JailError):
        return error.text(reader_language())
    first = error.findings[0]
    kinds = {"team": _("Team"), "evaluator": _("Evaluator"), "judgment": _("Judgment")}
    where = [kinds[first.kind], first.where, first.line and _("line %(line)d") % {"line": first.line}]
    return f"{', '.join(part for part in where if part)}: {first.message} {first.suggestion}".strip()


def _refuse_shortcomings(prompt_set: PromptSet, templates: Templates, owner: User) -> None:
    if found := shortcomings(prompt_set, templates, owner=owner):
        raise Refused(found)


def _copy_context(context: SampleContext, to: PromptSet, at: datetime) -> None:
    context.pk = None
    context._state.adding = True
    context.slug = free_slug(SampleContext.objects.all(), context.slug, "context")
    context.prompt_set, context.created_at, context.changed_at = to, at, at
    context.save()
