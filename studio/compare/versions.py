"""Two versions of a set, or a version and a draft: what differs in each text, and the rows that a page shows.

Used by comparisons, the matrix, imports, exports and replays.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, Literal, NamedTuple

from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from builder.diff.lines import Diff, Row, compare
from builder.diff.unified import unified
from builder.errors import DiffTooLarge
from studio.models import Draft, PromptSet, PromptVersion
from studio.prompts.findings import Finding
from studio.prompts.texts import TEXT_NAMES, TextKind, Texts
from studio.shell.language import reader_language
from studio.shell.refusal import RequestRefused

SideName = int | Literal["draft"]
ROWS_AT_ONCE = 1_000
"""Rows of one text that a page shows before it asks: browsers lay out some thousands, not ten thousands."""

Show = Literal["rows", "same", "more"]
State = Literal["unchanged", "whitespace", "changed", "too-large"]
Outcome = Literal["compared", "same-template", "problems", "unknown"]
"""Of a prompt: compared; not rendered, for the templates are the same; not there on a side; not tried."""


@dataclass(frozen=True)
class VersionOrDraft:
    """One of the two: a saved version, or the reader's own draft."""

    source: PromptVersion | Draft

    @property
    def templates(self) -> Texts:
        return self.source.templates

    @property
    def version(self) -> PromptVersion | None:
        return self.source if isinstance(self.source, PromptVersion) else None

    @property
    def name(self) -> SideName:
        """As in the address."""
        return self.source.number if isinstance(self.source, PromptVersion) else "draft"

    @property
    def title(self) -> str:
        """As in a sentence."""
        return f"v{self.name}" if self.version else _("Draft")

    @property
    def file_name(self) -> str:
        return f"v{self.name}" if self.version else "draft"

    @property
    def at(self) -> datetime:
        return self.source.created_at if isinstance(self.source, PromptVersion) else self.source.changed_at


class MissingSide(RequestRefused):
    """A version that the set does not have, or a draft that the reader does not have."""


class NoDraft(MissingSide):
    """The reader's draft was saved or discarded, or there never was one."""

    def __init__(self) -> None:
        super().__init__(
            404,
            _("You have no unsaved draft of this set."),
            _("A change in the editor creates a draft. Drafts are visible only to their author."),
        )


def sides(
    prompt_set: PromptSet, person: User, old: SideName, new: SideName
) -> tuple[VersionOrDraft, VersionOrDraft]:
    """Both sides; a 404 that says which one there is not."""
    wanted = {name for name in (old, new) if name != "draft"}
    versions = prompt_set.versions.filter(number__in=wanted).select_related("author")
    sides: dict[SideName, VersionOrDraft] = {version.number: VersionOrDraft(version) for version in versions}
    if "draft" in (old, new) and (draft := Draft.objects.unsaved(prompt_set, person)):
        sides["draft"] = VersionOrDraft(draft)
    for name in (old, new):
        if name not in sides:
            raise missing_side(prompt_set, name)
    return sides[old], sides[new]


def missing_side(prompt_set: PromptSet, name: SideName) -> MissingSide:
    """The refusal of a version or draft that is not there; it says which versions are."""
    if name == "draft":
        return NoDraft()
    return MissingSide(404, _("This set has no v%(number)d.") % {"number": name}, known_range(prompt_set))


def known_range(prompt_set: PromptSet) -> str:
    """Which versions the set has, in a sentence."""
    if newest := prompt_set.revision:
        return _("Its versions are v1 to v%(newest)d.") % {"newest": newest}
    return _("No versions yet. Save the first one in the editor.")


class ShownRow(NamedTuple):
    """A row; the first one of a change has the change's number, counted from 1."""

    row: Row
    change: int | None


@dataclass(frozen=True)
class Stretch:
    """Rows ``start`` to ``stop``: shown, folded because both sides are the same, or more than fit."""

    diff: Diff = field(repr=False)
    start: int
    stop: int
    show: Show

    def __len__(self) -> int:
        return self.stop - self.start

    @cached_property
    def rows(self) -> list[ShownRow]:
        """Made when asked for: what is held back costs nothing."""
        numbers = {change.start: number for number, change in enumerate(self.diff.changes, 1)}
        rows = self.diff.rows_between(self.start, self.stop)
        return [ShownRow(row, numbers.get(place)) for place, row in enumerate(rows, self.start)]

    @property
    def changes(self) -> int:
        """How many changes begin in it."""
        return sum(self.start <= change.start < self.stop for change in self.diff.changes)


def stretches(
    diff: Diff, opened: Sequence[range] = (), *, unfold: bool = False, most: int = ROWS_AT_ONCE
) -> list[Stretch]:
    """All rows in order; those that ``opened`` names are shown, as many as fit."""
    stops = {rows.start: rows.stop for rows in opened if rows}
    parts: list[Stretch] = []
    left = most
    for section in diff.sections():
        at = section.start
        while at < section.stop:
            is_opened = at in stops
            if section.folded and not unfold:
                # What a person opened is beside what the page shows by itself.
                if is_opened:
                    stop = min(section.stop, stops[at], at + most)
                else:
                    stop = min((start for start in stops if at < start < section.stop), default=section.stop)
                parts.append(Stretch(diff, at, stop, "rows" if is_opened else "same"))
            else:
                left = most if is_opened else left
                if not left:
                    return [*parts, Stretch(diff, at, len(diff), "more")]
                stop = min(section.stop, at + left)
                left -= stop - at
                parts.append(Stretch(diff, at, stop, "rows"))
            at = stop
    return parts


@dataclass(frozen=True)
class TextDiff:
    """Two texts, compared."""

    is_equal: bool
    """To the last character, whatever the comparison ignores."""
    diff: Diff | None = None
    too_large: DiffTooLarge | None = None
    """Why there is no ``diff``."""
    opened: tuple[range, ...] = ()
    unfold: bool = False

    @property
    def state(self) -> State:
        if self.is_equal:
            return "unchanged"
        if self.diff is None:
            return "too-large"
        return "whitespace" if self.diff.is_same else "changed"

    @property
    def changes(self) -> int:
        return len(self.diff.changes) if self.diff else 0

    @cached_property
    def stretches(self) -> list[Stretch]:
        return stretches(self.diff, self.opened, unfold=self.unfold) if self.diff else []

    def within(self, rows: range) -> list[Stretch]:
        """What stands in place of those rows once a person asks for them."""
        if self.diff is None:
            return []
        parts = stretches(self.diff, [*self.opened, rows], unfold=self.unfold)
        return [part for part in parts if rows.start <= part.start < rows.stop]

    @property
    def reason(self) -> str:
        return self.too_large.text(reader_language()) if self.too_large else ""

    @property
    def advice(self) -> str:
        return self.too_large.advice(reader_language()) if self.too_large else ""


def text_diff(
    old: str,
    new: str,
    *,
    ignore_whitespace: bool = False,
    opened: Sequence[range] = (),
    unfold: bool = False,
) -> TextDiff:
    """The comparison of two texts, or why there is none."""
    try:
        diff = compare(old, new, ignore_whitespace=ignore_whitespace)
    except DiffTooLarge as error:
        return TextDiff(old == new, too_large=error)
    return TextDiff(old == new, diff, opened=tuple(opened), unfold=unfold)


@dataclass(frozen=True)
class View:
    """How to compare, and what to unfold."""

    ignore_whitespace: bool = False
    unfold: bool = False
    opened: Mapping[TextKind, Sequence[range]] | None = None

    @classmethod
    def of(cls, clean: Mapping[str, Any]) -> "View":
        """As the clean values of an address ask for it."""
        opened: dict[TextKind, list[range]] = {}
        for asked in clean["open"]:
            opened.setdefault(asked.kind, []).append(asked.rows)
        return cls(clean.get("w", False), clean["all"], opened)

    def compared(self, kind: TextKind, old: str, new: str, *, most: int | None = None) -> TextDiff:
        """Both texts of one kind; with ``most``, longer ones are only said to differ or not."""
        if most is not None and len(old) + len(new) > most:
            return TextDiff(old == new)
        return text_diff(
            old,
            new,
            ignore_whitespace=self.ignore_whitespace,
            opened=(self.opened or {}).get(kind, ()),
            unfold=self.unfold,
        )


@dataclass(frozen=True)
class Panel:
    """One text of both sides: as it is written or, at a round of a context, the prompt that it gives."""

    kind: TextKind
    text: TextDiff | None
    """None for a prompt where the templates are the same, or one of them gives none."""
    changes_before: int = 0
    """Changes in the panels above it: changes are counted through."""
    round: int | None = None
    """None for a text as it is written."""
    outcome: Outcome = "compared"
    old_findings: tuple[Finding, ...] = ()
    """Why there is no prompt."""
    new_findings: tuple[Finding, ...] = ()
    met_limit: bool = False
    """Whether a side was stopped; so it would be in any other round."""

    @property
    def field(self) -> str:
        return TEXT_NAMES[self.kind]

    @property
    def state(self) -> Literal["same", "changed", "problems", "unknown"]:
        """The prompts of one round in a word."""
        if self.outcome == "problems" or self.outcome == "unknown":
            return self.outcome
        return "changed" if self.text and self.text.state in ("changed", "too-large") else "same"


def written_panel(old: Texts, new: Texts, kind: TextKind, view: View, above: Sequence[Panel] = ()) -> Panel:
    """One text as it is written."""
    return Panel(kind, view.compared(kind, old.parts[kind], new.parts[kind]), changes_in(above))


def changes_in(panels: Iterable[Panel]) -> int:
    """All changes of those panels."""
    return sum(panel.text.changes for panel in panels if panel.text)


def unified_text(text: TextDiff, old_name: str, new_name: str) -> str:
    """As ``diff -u`` prints it; 413 where the texts are too long for it."""
    if text.diff is None:
        raise RequestRefused(413, text.reason, text.advice)
    return unified(text.diff, old_name, new_name)
