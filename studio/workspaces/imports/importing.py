"""Imports: what a file would make of a set, then making it a version or taking it to the editor.

Used by the pages of imports, and by adopting what was edited in a workspace.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Literal

from django.contrib.auth.models import User
from django.db import transaction

from builder.template.dialect import MIXSEEK, Dialect
from studio.contexts.at_round import dialect_of
from studio.editor.conflicts import is_changed
from studio.editor.sets import create_set
from studio.models import Draft, DraftCopy, PromptSet, PromptVersion
from studio.preview.saving import require_sound, save_as_version, shortcomings
from studio.prompts.drafts import CopyReason, DraftConflict, SentDraft
from studio.prompts.file_kinds import FileKind
from studio.prompts.findings import Finding, errors_of
from studio.prompts.models import Origin, VersionConflict
from studio.prompts.texts import MOST_CHARACTERS, TEXT_FIELDS, TEXT_NAMES, TextKind, Texts, texts_of
from studio.workspaces.imports.incoming import FileContent, IncomingFile, read_incoming

Filling = Literal["latest", "default"]
"""Where a template comes from that the file does not have."""

_TWICE_WITHIN = timedelta(minutes=1)
"""The same file as a new set of the same name, so soon: the button was pressed twice."""


class FileChanged(Exception):
    """The file is not the one that the person saw."""


class AlreadyKept(Exception):
    """The text is a version of the set already."""

    def __init__(self, version: PromptVersion) -> None:
        super().__init__(version)
        self.version = version


class NotWhole(Exception):
    """The file cannot be taken over as it is: it is broken, or lacks one of the texts."""


@dataclass(frozen=True)
class Taken:
    """Where one text comes from; ``line`` is the file's."""

    kind: TextKind
    source: Literal["file", "latest", "default"]
    line: int | None = None

    @property
    def field(self) -> str:
        return TEXT_NAMES[self.kind]


@dataclass(frozen=True)
class Proposal:
    """What a file would make of a set, before anybody agreed to it."""

    file: IncomingFile
    content: FileContent
    prompt_set: PromptSet | None
    """None where it would become a new set."""
    latest: PromptVersion | None
    taken: Sequence[Taken]
    templates: Texts | None
    """None where nothing could come in: the file is broken, or has no template at all."""
    owner: User

    @property
    def base(self) -> int:
        return self.prompt_set.revision if self.prompt_set else 0

    @property
    def dialect(self) -> str:
        """Of a new set."""
        return default_format(self.file, None).name

    @property
    def default_format(self) -> Dialect:
        """Whose default templates stand in for those that the file does not have."""
        return default_format(self.file, self.prompt_set)

    @property
    def is_same(self) -> bool:
        """Whether the newest version has this text already."""
        return (
            self.templates is not None and self.latest is not None and self.templates == self.latest.templates
        )

    @cached_property
    def older(self) -> PromptVersion | None:
        """An older version that has this text."""
        if self.templates is None or self.prompt_set is None or self.is_same:
            return None
        return self.prompt_set.versions.filter(content_hash=self.templates.content_hash).first()

    @cached_property
    def findings(self) -> list[Finding]:
        """What keeps it from being a version beside the file's own problems: it fails in a sample context.

        Raises the jail's errors where that cannot be tried right now.
        """
        if self.templates is None or self.is_same or self.content.has_errors:
            return []
        target = self.prompt_set or PromptSet(dialect=self.dialect, holds=self.file.holds)
        return shortcomings(target, self.templates, owner=self.owner)

    @property
    def can_be_saved(self) -> bool:
        return (
            self.templates is not None
            and not self.is_same
            and not self.content.has_errors
            and not errors_of(self.findings)
        )

    @property
    def can_be_edited(self) -> bool:
        """Whether a draft can hold it."""
        return self.templates is not None and all(
            len(text) <= MOST_CHARACTERS and "\0" not in text for text in self.templates.parts.values()
        )


def default_format(file: IncomingFile, prompt_set: PromptSet | None) -> Dialect:
    """The release that reads the file, as far as that is known; else the set's own format."""
    if file.workspace is not None:
        return file.workspace.spoken
    return dialect_of(prompt_set) if prompt_set else MIXSEEK


def propose(
    file: IncomingFile, prompt_set: PromptSet | None, filling: Filling = "latest", *, owner: User
) -> Proposal:
    """Read a file with a set in view; nothing is stored."""
    content = read_incoming(file, owner=owner)
    latest = prompt_set.latest if prompt_set else None
    if not content.values:
        return Proposal(file, content, prompt_set, latest, [], None, owner)
    if latest is None:
        filling = "default"
    kind = FileKind(file.holds)
    first = kind.first_text(default_format(file, prompt_set))
    parts = dict((latest.templates if latest and filling == "latest" else first).parts)
    taken = []
    for text_kind in kind.text_kinds:
        name = TEXT_FIELDS[text_kind]
        if name in content.values:
            parts[text_kind] = content.values[name]
            taken.append(Taken(text_kind, "file", content.places.get(name)))
        else:
            taken.append(Taken(text_kind, filling))
    return Proposal(file, content, prompt_set, latest, taken, texts_of(parts), owner)


def import_as_version(
    proposal: Proposal, *, base: int, name: str, message: str, at: datetime
) -> PromptVersion:
    """Make it the version after ``base``, or version 1 of a new set with that name.

    Raises ``NotWhole``, ``NothingChanged``, ``VersionConflict``, ``Refused`` or the jail's errors.
    """
    if proposal.templates is None:
        raise NotWhole
    if proposal.prompt_set is not None:
        return save_as_version(
            proposal.prompt_set,
            proposal.templates,
            base=base,
            message=message,
            by=proposal.owner,
            at=at,
            origin=Origin.IMPORTED,
            origin_note=proposal.file.origin_note,
        )
    blank = PromptSet(dialect=proposal.dialect, holds=proposal.file.holds)
    require_sound(blank, proposal.templates, owner=proposal.owner)
    with _one_at_a_time(proposal.owner):
        again = PromptVersion.objects.filter(
            number=1,
            author=proposal.owner,
            content_hash=proposal.templates.content_hash,
            origin_note=proposal.file.origin_note,
            prompt_set__name=name,
            prompt_set__created_at__gte=at - _TWICE_WITHIN,
        ).select_related("prompt_set")
        known: PromptVersion | None = again.first()
        return known or _new_set(proposal, name, at).save_version(
            proposal.templates,
            base=0,
            message=message,
            author=proposal.owner,
            at=at,
            origin=Origin.IMPORTED,
            origin_note=proposal.file.origin_note,
        )


def import_into_editor(
    proposal: Proposal, *, base: int, name: str, message: str, at: datetime
) -> tuple[PromptSet, DraftCopy | None]:
    """Make it the person's draft; beside a draft with changes it is put aside, for them to decide.

    Raises ``NotWhole`` and ``VersionConflict``.
    """
    if proposal.templates is None or not proposal.can_be_edited:
        raise NotWhole
    if proposal.prompt_set is not None:
        return _drafted(proposal, proposal.templates, proposal.prompt_set, base, message, at)
    with _one_at_a_time(proposal.owner):
        again = Draft.objects.filter(
            person=proposal.owner,
            base=0,
            prompt_set__name=name,
            prompt_set__created_at__gte=at - _TWICE_WITHIN,
            **proposal.templates.columns,
        ).select_related("prompt_set")
        if (known := again.first()) is not None:
            return known.prompt_set, None
        made = _new_set(proposal, name, at)
        return _drafted(proposal, proposal.templates, made, base, message, at)


def _new_set(proposal: Proposal, name: str, at: datetime) -> PromptSet:
    return create_set(
        name, tags=(), dialect=proposal.dialect, by=proposal.owner, at=at, holds=proposal.file.holds
    )


def _drafted(
    proposal: Proposal, templates: Texts, prompt_set: PromptSet, base: int, message: str, at: datetime
) -> tuple[PromptSet, DraftCopy | None]:
    person = proposal.owner
    if prompt_set.revision != base:
        raise VersionConflict
    draft = Draft.objects.of(prompt_set, person)
    sent = SentDraft(templates, base, draft.revision if draft else 0, message)
    if draft is not None and is_changed(draft, proposal.latest) and draft.templates != sent.templates:
        return prompt_set, DraftCopy.objects.put_aside(
            prompt_set, person, sent, reason=CopyReason.IMPORTED, at=at
        )
    try:
        Draft.objects.keep(prompt_set, person, sent, at=at)
    except DraftConflict as conflict:
        return prompt_set, conflict.copy
    return prompt_set, None


@contextmanager
def _one_at_a_time(person: User) -> Iterator[None]:
    """A second click waits for the first, and then finds what that one made."""
    with transaction.atomic():
        User.objects.select_for_update().get(pk=person.pk)
        yield


def adopt(
    file: IncomingFile, prompt_set: PromptSet, *, seen: str, message: str, by: User, at: datetime
) -> PromptVersion:
    """Take what stands in a workspace as the next version of a set, as it is.

    ``seen`` is the SHA-256 of the file that the person saw. Raises ``FileChanged``, ``NotWhole``,
    ``AlreadyKept``, ``VersionConflict``, ``Refused`` or the jail's errors; nothing is stored then.
    """
    if file.sha256 != seen:
        raise FileChanged
    proposal = propose(file, prompt_set, owner=by)
    if proposal.templates is None or proposal.content.missing:
        raise NotWhole
    kept = prompt_set.versions.filter(content_hash=proposal.templates.content_hash).first()
    if kept is not None:
        raise AlreadyKept(kept)
    return save_as_version(
        prompt_set,
        proposal.templates,
        base=prompt_set.revision,
        message=message,
        by=by,
        at=at,
        origin=Origin.ADOPTED,
        origin_note=file.origin_note,
    )
