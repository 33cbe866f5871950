"""Prompts of two versions compared in one context: each template's prompt, and which rounds differ.

Used by the page of a comparison.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from builder.diff.lines import with_line_end
from builder.errors import JailError, LimitExceeded
from builder.template.dialect import Dialect
from builder.template.variables import KINDS, PromptKind
from studio.compare.versions import Panel, View, changes_in
from studio.contexts.at_round import ContextAtRound
from studio.preview.examinations import examine, findings_of
from studio.prompts.texts import Templates

OVERVIEW_SECONDS = 3.0
"""For all rounds together: each rendering may stay just below its limit."""
MOST_COUNTED = 200_000
"""Characters of two prompts whose lines the overview counts; of longer ones it says only that they differ."""


@dataclass(frozen=True)
class PromptComparison:
    """The templates of both sides in the chosen context, and who asks."""

    old: Templates
    new: Templates
    dialect: Dialect
    at_round: ContextAtRound
    view: View
    owner: str
    old_dialect: Dialect | None = None
    """The format of the old side, where it is another one."""

    def panel(
        self, kind: PromptKind, number: int | None = None, *, before: int = 0, most: int | None = None
    ) -> Panel:
        """One template's prompts at that round, or what keeps a side from having one.

        Raises the jail's ``JailError``.
        """
        at_round = replace(self.at_round, round=number) if number else self.at_round
        texts = self.old.by_kind[kind], self.new.by_kind[kind]
        dialects = self.old_dialect or self.dialect, self.dialect
        if texts[0] == texts[1] and dialects[0] == dialects[1]:
            return Panel(kind, None, before, at_round.round, "same-template")
        old, new = (
            examine(kind, text, at_round.values(kind, dialect, text), dialect, owner=self.owner)
            for text, dialect in zip(texts, dialects, strict=True)
        )
        if old.text is None or new.text is None:
            return Panel(
                kind,
                None,
                before,
                at_round.round,
                "problems",
                findings_of(kind, old, errors_only=True),
                findings_of(kind, new, errors_only=True),
                met_limit=any(isinstance(side.failure, LimitExceeded) for side in (old, new)),
            )
        text = self.view.compared(kind, with_line_end(old.text), with_line_end(new.text), most=most)
        return Panel(kind, text, before, at_round.round)

    @cached_property
    def rendered(self) -> tuple[list[Panel], JailError | None]:
        """The prompts of all three templates; where the jail stopped, those before and the reason."""
        panels: list[Panel] = []
        try:
            for kind in KINDS:
                panels.append(self.panel(kind, before=changes_in(panels)))
        except JailError as refusal:
            return panels, refusal
        return panels, None

    @property
    def refusal(self) -> JailError | None:
        """Why the jail rendered nothing, or not the rest."""
        return self.rendered[1]

    @cached_property
    def overview(self) -> Sequence[Sequence[Panel]]:
        """A row for each template, a panel for each round; empty where there is nothing to choose from."""
        if self.refusal or len(self.at_round.rounds) < 2:
            return ()
        deadline = time.monotonic() + OVERVIEW_SECONDS
        return [self._row(kind, known, deadline) for kind, known in zip(KINDS, self.rendered[0], strict=True)]

    def _row(self, kind: PromptKind, known: Panel, deadline: float) -> list[Panel]:
        """The rounds of one template. What met a limit once would meet it again, so that ends the row."""
        cells = {self.at_round.round: known}
        stopped = known.met_limit
        # The last rounds first: they have the most to show.
        for number in reversed(self.at_round.rounds):
            if number in cells:
                continue
            cells[number] = Panel(kind, None, round=number, outcome="unknown")
            if stopped or time.monotonic() > deadline:
                continue
            try:
                cells[number] = self.panel(kind, number, most=MOST_COUNTED)
                stopped = cells[number].met_limit
            except JailError:
                stopped = True
        return [cells[number] for number in self.at_round.rounds]

    @cached_property
    def first_changed(self) -> tuple[int, list[Panel]]:
        """The first round in which a prompt changes or cannot be rendered, with its panels.

        The chosen round where there is none.
        """
        for cells in zip(*self.overview, strict=True):
            states = {cell.state for cell in cells}
            if cells[0].round and "unknown" not in states and states != {"same"}:
                try:
                    return cells[0].round, self._whole(cells)
                except JailError:
                    break
        return self.at_round.round, self.rendered[0]

    def _whole(self, cells: Sequence[Panel]) -> list[Panel]:
        """The panels of one round, out of the overview's cells."""
        panels: list[Panel] = []
        for kind, cell in zip(KINDS, cells, strict=True):
            if cell.text and not cell.text.diff and not cell.text.too_large:
                cell = self.panel(kind, cell.round)  # the overview did not count its lines
            panels.append(replace(cell, changes_before=changes_in(panels)))
        return panels

    @cached_property
    def states(self) -> set[str]:
        """What there is in the overview."""
        return {cell.state for row in self.overview for cell in row}

    @cached_property
    def changed_rounds(self) -> list[int]:
        """The rounds in which any prompt differs."""
        cells = [cell for row in self.overview for cell in row]
        return sorted({cell.round for cell in cells if cell.round and cell.state == "changed"})
