"""Conflicts of a draft with a newer version or another tab: both texts, merged as a person chooses.

Used by the editor's views, by imports, and wherever it matters whether a draft holds changes.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

from builder.errors import DiffTooLarge, LimitExceeded
from builder.jail import Choice, Region, ThreeWay
from studio.models import Draft, DraftCopy, PromptSet, PromptVersion
from studio.prompts.texts import TEXT_NAMES, TextKind, Texts, texts_of
from studio.shell.jail import pool

Take = Literal["mine", "theirs", "merged"]
TAKES: tuple[Take, ...] = get_args(Take)
CHOICES: tuple[Choice, ...] = get_args(Choice)
MOST_REGIONS = 300
"""Of one template; nobody decides more of them one by one, and a page of thousands takes seconds."""
BOTH: Choice = "mine then theirs"
"""What is offered first where both changed the same lines: neither text is lost."""


@dataclass(frozen=True)
class ConflictingText:
    """One of the two texts."""

    templates: Texts
    at: datetime
    version: PromptVersion | None = None
    """Set where the text is a version that somebody saved."""


@dataclass(frozen=True)
class Dispute:
    """A region, and the name of its choice where a person has to choose."""

    region: Region
    field: str = ""

    @property
    def lines(self) -> int:
        return self.region.base.count("\n") or 1

    @property
    def base(self) -> str:
        return _visible(self.region.base)

    @property
    def mine(self) -> str:
        return _visible(self.region.mine)

    @property
    def theirs(self) -> str:
        return _visible(self.region.theirs)


@dataclass(frozen=True)
class TemplateConflict:
    """One text of a version."""

    kind: TextKind
    field: str
    mine: str
    theirs: str
    three_way: ThreeWay | None
    """None where the texts are too long or too different: one of them can still be taken whole."""

    @property
    def differs(self) -> bool:
        return self.mine != self.theirs

    @property
    def suggested(self) -> Take:
        return "merged" if self.three_way else "mine"

    @property
    def disputes(self) -> list[Dispute]:
        disputes: list[Dispute] = []
        number = 0
        for region in self.three_way.regions if self.three_way else ():
            number += region.kind == "conflict"
            disputes.append(Dispute(region, f"{self.kind}-{number}" if region.kind == "conflict" else ""))
        return disputes

    def taken(self, take: Take, choices: Mapping[str, Choice]) -> str:
        """The text that the person chose."""
        if take == "merged" and self.three_way is not None:
            return self.three_way.resolved(
                [choices.get(dispute.field, BOTH) for dispute in self.disputes if dispute.field]
            )
        return self.theirs if take == "theirs" else self.mine


@dataclass(frozen=True)
class Conflict:
    """What a person has to decide: their text beside a newer version, or beside that of another tab."""

    draft: Draft
    mine: ConflictingText
    theirs: ConflictingText
    base: int
    """The version that both started from; 0 where there was none."""
    next_base: int
    """The version that the outcome starts from."""
    copy: DraftCopy | None
    templates: tuple[TemplateConflict, ...]

    @property
    def pin(self) -> str:
        """Stands for both texts and for what could be chosen: a choice made on others is not taken."""
        both = self.mine.templates.content_hash + self.theirs.templates.content_hash
        merged = "".join(template.suggested for template in self.templates)
        return hashlib.sha256(f"{both}{merged}{self.draft.revision}".encode()).hexdigest()[:32]

    def resolved(self, takes: Mapping[TextKind, Take], choices: Mapping[str, Choice]) -> Texts:
        """All texts as chosen."""
        return texts_of(
            {
                template.kind: template.taken(takes.get(template.kind, template.suggested), choices)
                for template in self.templates
            }
        )


def between(prompt_set: PromptSet, draft: Draft, copy: DraftCopy | None) -> Conflict | None:
    """What there is to decide between the draft and a copy, or the draft and the newest version.

    The texts are merged in the jail; raises its errors where it does not take them.
    """
    written = ConflictingText(draft.templates, draft.changed_at)
    if copy is not None:
        mine, theirs = ConflictingText(copy.templates, copy.kept_at), written
        base, next_base = min(copy.base, draft.base), max(copy.base, draft.base)
    else:
        latest = prompt_set.latest
        if latest is None or draft.base == latest.number:
            return None
        mine, theirs = written, ConflictingText(latest.templates, latest.created_at, latest)
        base, next_base = draft.base, latest.number
    if mine.templates == theirs.templates:
        return None
    version = prompt_set.versions.filter(number=base).first()
    kinds = prompt_set.kinds
    started = version.templates if version else texts_of(dict.fromkeys(kinds, ""))
    return Conflict(
        draft,
        mine,
        theirs,
        base,
        next_base,
        copy,
        tuple(
            merged_template(
                kind,
                started.parts[kind],
                mine.templates.parts[kind],
                theirs.templates.parts[kind],
                owner=str(draft.person_id),
            )
            for kind in kinds
        ),
    )


def is_changed(draft: Draft, saved: PromptVersion | None) -> bool:
    """Whether a draft holds anything that would be lost without it."""
    if draft.templates == draft.prompt_set.starting_text(saved):
        return False
    base = version_of(draft.prompt_set, draft.base, saved)
    return base is None or base.templates != draft.templates


def version_of(prompt_set: PromptSet, number: int, saved: PromptVersion | None) -> PromptVersion | None:
    """The version of that number; ``saved``, the newest one, is read already."""
    if saved is not None and saved.number == number:
        return saved
    return prompt_set.versions.filter(number=number).first()


def merged_template(kind: TextKind, base: str, mine: str, theirs: str, *, owner: str) -> TemplateConflict:
    """One text that two sides changed, put together in the jail. Raises its errors."""
    try:
        three_way: ThreeWay | None = pool().compare_three(base, mine, theirs, owner=owner)
    except (DiffTooLarge, LimitExceeded):
        three_way = None
    if three_way is not None and len(three_way.regions) > MOST_REGIONS:
        three_way = None
    return TemplateConflict(kind, TEXT_NAMES[kind], mine, theirs, three_way)


def _visible(text: str) -> str:
    """Blank lines and nothing at all, with a sign that shows."""
    return text if text.strip("\n") else "\n".join("⏎" * text.count("\n")) or "∅"
