"""Prompts of two versions compared in one context: each template's prompt, and which rounds differ.

Used by the page of a comparison.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from builder.errors import JailError, LimitExceeded
from builder.jail import Examination
from builder.template.dialect import Dialect
from builder.template.variables import KINDS, PromptKind, field_name
from studio.compare.versions import TextDiff, View
from studio.contexts.at_round import ContextAtRound
from studio.preview.examinations import examine, findings_of
from studio.prompts.findings import Finding
from studio.prompts.texts import Templates
from studio.shell.jail import status_of

OVERVIEW_SECONDS = 3.0
"""For all rounds together: each rendering may stay just below its limit."""
MOST_COUNTED = 200_000
"""Characters of two prompts whose lines the overview counts; of longer ones it says only that they differ."""

State = Literal["same-template", "same-prompt", "changed", "whitespace", "too-large", "problems"]
CellState = Literal["same", "changed", "problems", "unknown"]


@dataclass(frozen=True)
class PromptDiff:
    """What one template of both sides gives."""

    kind: PromptKind
    template_changed: bool
    text: TextDiff | None = None
    """None where the templates are the same, or one of them gives no prompt."""
    old_findings: tuple[Finding, ...] = ()
    new_findings: tuple[Finding, ...] = ()
    changes_before: int = 0
    met_limit: bool = False
    """Whether a side was stopped; so it would be in any other round."""

    @property
    def field(self) -> str:
        return field_name(self.kind)

    @property
    def state(self) -> State:
        if not self.template_changed:
            return "same-template"
        if self.text is None:
            return "problems"
        return "same-prompt" if self.text.state == "unchanged" else self.text.state


@dataclass(frozen=True)
class OverviewCell:
    """One template in one round."""

    kind: PromptKind
    round: int
    state: CellState
    counts: TextDiff | None = None


@dataclass(frozen=True)
class PromptComparison:
    """All three templates in the chosen context, and the overview of its rounds."""

    at_round: ContextAtRound
    diffs: tuple[PromptDiff, ...] = ()
    overview: tuple[tuple[OverviewCell, ...], ...] = ()
    """A row for each kind, a cell for each round."""
    refusal: JailError | None = None
    """Why the jail rendered nothing, or not the rest."""

    @property
    def status(self) -> int:
        """The answer's status: an error in a template is no error of the request."""
        return status_of(self.refusal)

    @property
    def changed_rounds(self) -> list[int]:
        """The rounds in which any prompt differs."""
        cells = [cell for row in self.overview for cell in row]
        return sorted({cell.round for cell in cells if cell.state == "changed"})

    @property
    def untried(self) -> bool:
        """Whether there was no time for some round, or no use in trying it."""
        return any(cell.state == "unknown" for row in self.overview for cell in row)

    @property
    def lacking(self) -> bool:
        """Whether some prompt could not be rendered."""
        return any(cell.state == "problems" for row in self.overview for cell in row)


@dataclass(frozen=True)
class Pair:
    """The templates of both sides, and who asks."""

    old: Templates
    new: Templates
    dialect: Dialect
    owner: str

    def is_changed(self, kind: PromptKind) -> bool:
        return self.old.by_kind[kind] != self.new.by_kind[kind]

    def examined(self, kind: PromptKind, at_round: ContextAtRound) -> tuple[Examination, Examination]:
        old, new = (
            examine(kind, text, at_round.values(kind, self.dialect, text), self.dialect, owner=self.owner)
            for text in (self.old.by_kind[kind], self.new.by_kind[kind])
        )
        return old, new


def prompt_diff(
    pair: Pair,
    kind: PromptKind,
    at_round: ContextAtRound,
    view: View,
    *,
    before: int = 0,
    most: int | None = None,
) -> PromptDiff:
    """One template's prompts, or what keeps a side from having one. Raises the jail's ``JailError``."""
    if not pair.is_changed(kind):
        return PromptDiff(kind, False, changes_before=before)
    old, new = pair.examined(kind, at_round)
    text = None
    if old.text is not None and new.text is not None:
        text = view.compared_prompts(kind, old.text, new.text, most=most)
    return PromptDiff(
        kind,
        True,
        text,
        findings_of(kind, old, errors_only=True),
        findings_of(kind, new, errors_only=True),
        before,
        met_limit=_met_limit(old, new),
    )


def prompt_comparison(pair: Pair, at_round: ContextAtRound, view: View) -> PromptComparison:
    """The prompts of all three templates; without the jail, the reason why there are none."""
    diffs: list[PromptDiff] = []
    try:
        for kind in KINDS:
            before = sum(diff.text.changes for diff in diffs if diff.text)
            diffs.append(prompt_diff(pair, kind, at_round, view, before=before))
    except JailError as refusal:
        return PromptComparison(at_round, tuple(diffs), refusal=refusal)
    return PromptComparison(at_round, tuple(diffs), _overview(pair, at_round, view, diffs))


def _overview(
    pair: Pair, at_round: ContextAtRound, view: View, known: Sequence[PromptDiff]
) -> tuple[tuple[OverviewCell, ...], ...]:
    if len(at_round.rounds) < 2:
        return ()
    deadline = time.monotonic() + OVERVIEW_SECONDS
    return tuple(_row(pair, at_round, view, diff, deadline) for diff in known)


def _row(
    pair: Pair, at_round: ContextAtRound, view: View, known: PromptDiff, deadline: float
) -> tuple[OverviewCell, ...]:
    """The rounds of one template. What met a limit once would meet it again, so that ends the row."""
    cells = {at_round.round: _cell(known, at_round.round)}
    stopped = known.met_limit
    # The last rounds first: they have the most to show.
    for number in reversed(at_round.rounds):
        if number in cells:
            continue
        if stopped or time.monotonic() > deadline:
            cells[number] = OverviewCell(known.kind, number, "unknown")
            continue
        try:
            seen = prompt_diff(pair, known.kind, replace(at_round, round=number), view, most=MOST_COUNTED)
            cells[number], stopped = _cell(seen, number), seen.met_limit
        except JailError:
            cells[number], stopped = OverviewCell(known.kind, number, "unknown"), True
    return tuple(cells[number] for number in at_round.rounds)


def _cell(seen: PromptDiff, number: int) -> OverviewCell:
    if seen.state == "problems":
        return OverviewCell(seen.kind, number, "problems")
    if seen.state in ("changed", "too-large"):
        return OverviewCell(seen.kind, number, "changed", seen.text)
    return OverviewCell(seen.kind, number, "same")


def _met_limit(*sides: Examination) -> bool:
    return any(isinstance(examined.failure, LimitExceeded) for examined in sides)
