"""The matrix: for each version and context at a round, whether the prompt differs from a baseline's.

Used by the page of the matrix, which asks for it row by row.
"""

import hashlib
import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from django.utils.translation import gettext as _

from builder.cache import tokens
from builder.cache.tokens import TokenCount
from builder.contract.round_history import DEFAULT_MODEL
from builder.errors import BuilderError, JailUnavailable, LimitExceeded
from builder.jail import Examination
from builder.jail.limits import BUSY
from builder.problems import Problem
from builder.template.dialect import Dialect
from builder.template.variables import PromptKind
from studio.contexts.at_round import ContextAtRound, context_at
from studio.models import PromptSet, SampleContext
from studio.preview.budgets import Fill, fill_of
from studio.preview.coverage import digest_of
from studio.preview.examinations import examine_each
from studio.preview.rendering import compare_prompts
from studio.shell.language import reader_language
from studio.shell.sized_cache import SizedCache

MOST_COLUMNS = 300
"""Of one table; a set that has more shows its first contexts."""
ROW_SECONDS = 6.0
"""For one row: what was not tried by then is asked for again, and what was is kept."""
ROWS_AT_ONCE = 4
"""Of the server's threads, so many work on tables; the others are for everybody else."""
WAIT_SECONDS = 5.0
MOST_STOPPED = 2
"""Renderings of one template that meet a limit; the others would too."""

State = Literal["same", "gained", "changed", "unknown", "error"]
_WORSE: tuple[State, ...] = ("same", "gained", "changed", "unknown", "error")


@dataclass(frozen=True)
class Column:
    """A context with its rounds; without a context, the sample values."""

    context: SampleContext | None
    at_rounds: tuple[ContextAtRound, ...]

    @property
    def slug(self) -> str:
        return self.context.slug if self.context else ""

    @property
    def title(self) -> str:
        return self.context.title if self.context else _("Sample values")

    @cached_property
    def digest(self) -> str:
        """What the prompts depend on, whatever the context is called."""
        if self.context is None:
            return ""
        told = json.dumps([self.context.data, self.context.submission])
        return hashlib.sha256(told.encode()).hexdigest()


def contexts_of(prompt_set: PromptSet) -> list[SampleContext]:
    """The set's own contexts, then the shared ones."""
    return sorted(
        SampleContext.objects.for_set(prompt_set), key=lambda context: context.prompt_set_id is None
    )


def columns_of(contexts: Sequence[SampleContext]) -> tuple[list[Column], int]:
    """A column for each context, or one for sample values; and how many had no room."""
    if not contexts:
        return [Column(None, (ContextAtRound(),))], 0
    columns: list[Column] = []
    room = MOST_COLUMNS
    for context in contexts:
        own = context_at(context)
        room -= len(own.rounds)
        if room < 0 and columns:
            break
        at_rounds = tuple(ContextAtRound(context, own.whole, number, own.rounds) for number in own.rounds)
        columns.append(Column(context, at_rounds))
    return columns, len(contexts) - len(columns)


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """A version in one context at one round, against the baseline."""

    round: int
    state: State
    added: int | None = None
    removed: int | None = None
    """Lines; None where the prompts are too long to be compared for a table."""
    counted: TokenCount | None = None
    before: int | None = None
    """Tokens of the baseline's prompt."""
    trouble: Problem | BuilderError | None = None
    """Why there is no prompt."""

    def fill(self, budget: int | None) -> Fill:
        """Whether its prompt is within the budget."""
        return fill_of(self.counted, budget) if self.counted else "none"

    @property
    def tokens(self) -> int | None:
        return self.counted.tokens if self.counted else None

    @property
    def tokens_more(self) -> int | None:
        return None if self.tokens is None or self.before is None else self.tokens - self.before

    @property
    def lines(self) -> int:
        return (self.added or 0) + (self.removed or 0)

    @property
    def why(self) -> str:
        """What keeps it from having a prompt."""
        return self.trouble.text(reader_language()) if self.trouble else ""

    @property
    def line(self) -> int | None:
        return self.trouble.line if self.trouble else None

    @property
    def is_final(self) -> bool:
        return self.state != "unknown" and not isinstance(self.trouble, LimitExceeded)


@dataclass(frozen=True)
class Group:
    """A version in all rounds of one context."""

    column: Column
    cells: tuple[MatrixCell, ...]

    @cached_property
    def worst(self) -> MatrixCell:
        """The round to look at: an error before a change, of changes the largest, the last of equals."""
        return max(
            self.cells,
            key=lambda cell: (_WORSE.index(cell.state), cell.lines, abs(cell.tokens_more or 0), cell.round),
        )

    @property
    def alike(self) -> int:
        """Rounds in the same state as the worst one."""
        return sum(cell.state == self.worst.state for cell in self.cells)

    @property
    def is_uniform(self) -> bool:
        return self.alike == len(self.cells)

    @property
    def total(self) -> int | None:
        """Tokens of all rounds together; None where one of them has no prompt."""
        counts = [cell.tokens for cell in self.cells]
        return None if None in counts else sum(count for count in counts if count is not None)


@dataclass(frozen=True)
class Table:
    """One kind of template, held against the baseline's text in every context and round."""

    kind: PromptKind
    dialect: Dialect
    columns: Sequence[Column]
    baseline: str
    counter: str = DEFAULT_MODEL
    """Whose tokens are counted."""
    baseline_dialect: Dialect | None = None
    """The baseline's format, where it is another one."""

    def known(self, text: str) -> tuple[Group, ...] | None:
        """A row that was worked out before; None where any of it was not."""
        known = [_cells.get(self._key(text, column)) for column in self.columns]
        return (
            tuple(Group(column, cells) for column, cells in zip(self.columns, known, strict=True) if cells)
            if all(known)
            else None
        )

    def row(self, text: str) -> tuple[Group, ...]:
        """A row, as far as there is time for it. Raises the jail's ``JailError``."""
        if known := self.known(text):
            return known
        with _turn():
            until = time.monotonic() + ROW_SECONDS
            at_rounds = [at_round for column in self.columns for at_round in column.at_rounds]
            new = self._examinations(text, self.dialect, at_rounds, until)
            then = self.baseline_dialect or self.dialect
            is_same = text == self.baseline and then == self.dialect
            old = new if is_same else self._examinations(self.baseline, then, at_rounds, until)
            return tuple(self._group(text, column, old, new, until) for column in self.columns)

    def _group(
        self, text: str, column: Column, old: "_Examinations", new: "_Examinations", until: float
    ) -> Group:
        cells = []
        for at_round in column.at_rounds:
            late = time.monotonic() > until
            cells.append(self._cell(at_round.round, old.get(at_round), None if late else new.get(at_round)))
        if all(cell.is_final for cell in cells):
            _cells.put(self._key(text, column), tuple(cells), len(cells))
        return Group(column, tuple(cells))

    def _examinations(
        self, text: str, dialect: Dialect, at_rounds: Sequence[ContextAtRound], until: float
    ) -> "_Examinations":
        """What the text gives in each context and round, as far as there is time for it."""
        examinations: _Examinations = {}
        stopped = 0
        values = [at_round.values(self.kind, dialect, text) for at_round in at_rounds]
        each_examined = examine_each(self.kind, text, values, dialect)
        for at_round in at_rounds:
            if stopped == MOST_STOPPED or time.monotonic() > until:
                break
            examinations[at_round] = examined = next(each_examined)
            stopped += isinstance(examined.failure, LimitExceeded)
        return examinations

    def _key(self, text: str, column: Column) -> tuple[object, ...]:
        formats = self.dialect, self.baseline_dialect
        texts = digest_of(self.baseline), digest_of(text), column.digest
        return self.kind, *formats, self.counter, *texts

    def _cell(self, number: int, old: Examination | None, new: Examination | None) -> MatrixCell:
        if new is not None and new.text is None:
            return MatrixCell(number, "error", trouble=next(iter(new.errors), None) or new.failure)
        if old is None or new is None or new.text is None or isinstance(old.failure, LimitExceeded):
            return MatrixCell(number, "unknown")
        counted = _counted(new.text, self.counter)
        if old.text is None:
            return MatrixCell(number, "gained", counted=counted)
        before = _counted(old.text, self.counter).tokens
        if old.text == new.text:
            return MatrixCell(number, "same", 0, 0, counted, before)
        diff = compare_prompts(old.text, new.text)
        added, removed = (diff.added, diff.removed) if diff else (None, None)
        return MatrixCell(number, "changed", added, removed, counted, before)


_Examinations = dict[ContextAtRound, Examination]

_cells: SizedCache[tuple[MatrixCell, ...]] = SizedCache(60_000)
"""By cells: what has been compared once is not compared again."""
_counts: SizedCache[TokenCount] = SizedCache(60_000)
"""By counts: mostly the baseline's, which every row asks for."""
_turns = threading.BoundedSemaphore(ROWS_AT_ONCE)


@contextmanager
def _turn() -> Iterator[None]:
    if not _turns.acquire(timeout=WAIT_SECONDS):
        raise JailUnavailable(BUSY, line=None, seconds=f"{WAIT_SECONDS:.1f}")
    try:
        yield
    finally:
        _turns.release()


def _counted(text: str, counter: str) -> TokenCount:
    key = (counter, digest_of(text))
    if (counted := _counts.get(key)) is None:
        counted = tokens.recount(text, counter)
        _counts.put(key, counted, 1)
    return counted
