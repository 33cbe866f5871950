"""Versions × contexts: whether each version's prompts differ from a baseline's, and by how much."""

import hashlib
import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from builder.cache import tokens
from builder.cache.tokens import TokenCount
from builder.contract.round_history import DEFAULT_MODEL
from builder.diff.lines import compare, with_line_end
from builder.errors import BuilderError, DiffTooLarge, JailUnavailable, LimitExceeded
from builder.jail import Examination
from builder.jail.refusals import BUSY
from builder.problems import Problem
from builder.template.dialect import Dialect
from builder.template.variables import PromptKind
from studio.contexts.at_round import ContextAtRound, context_at
from studio.models import PromptSet, SampleContext
from studio.preview.budgets import Fill, fill_of
from studio.shell.jail import pool
from studio.shell.language import reader_language
from studio.shell.sized_cache import SizedCache

MOST_COLUMNS = 300
"""Of one table; a set that has more shows its first contexts."""
ROW_SECONDS = 6.0
"""For one row: what was not tried by then is asked for again, and what was is kept."""
ROWS_AT_ONCE = 4
"""Of the server's threads, so many work on tables; the others are for everybody else."""
WAIT_SECONDS = 5.0
MOST_COMPARED = 200_000
MOST_LINES = 6_000
"""Characters and lines of two prompts whose lines are counted; of longer ones it is said that they differ."""
MOST_STOPPED = 2
"""Renderings of one template that meet a limit; the others would too."""
_AT_A_TIME = 8

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

    @cached_property
    def digest(self) -> str:
        """What the prompts depend on, whatever the context is called."""
        if self.context is None:
            return ""
        told = json.dumps([self.context.data, self.context.submission])
        return hashlib.sha256(told.encode()).hexdigest()


def columns_of(prompt_set: PromptSet) -> tuple[list[Column], int]:
    """The set's own contexts, then the shared ones; and how many had no room."""
    contexts = sorted(SampleContext.objects.for_set(prompt_set), key=lambda each: each.prompt_set_id is None)
    if not contexts:
        return [Column(None, (ContextAtRound(),))], 0
    columns: list[Column] = []
    room = MOST_COLUMNS
    for context in contexts:
        own = context_at(context)
        room -= len(own.rounds)
        if room < 0 and columns:
            break
        each = tuple(ContextAtRound(context, own.whole, number, own.rounds) for number in own.rounds)
        columns.append(Column(context, each))
    return columns, len(contexts) - len(columns)


@dataclass(frozen=True, slots=True)
class Given:
    """What a template gives in a context at a round."""

    text: str | None = None
    tokens: int = 0
    trouble: Problem | BuilderError | None = None
    """Why there is no prompt."""
    margin: float = 0.0
    """The share of the tokens by which an estimate may be off."""

    @property
    def size(self) -> int:
        return 200 + len(self.text or "")


@dataclass(frozen=True, slots=True)
class Cell:
    """A version in one context at one round, against the baseline."""

    round: int
    state: State
    added: int | None = None
    removed: int | None = None
    """Lines; None where the prompts are too long to be compared for a table."""
    tokens: int | None = None
    before: int | None = None
    """Tokens of the baseline's prompt."""
    trouble: Problem | BuilderError | None = None
    margin: float = 0.0
    """Of the tokens, where they are an estimate."""

    def fill(self, budget: int | None) -> Fill:
        """Whether its prompt is within the budget."""
        if self.tokens is None:
            return "none"
        return fill_of(TokenCount(self.tokens, "", exact=not self.margin, margin=self.margin), budget)

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
    cells: tuple[Cell, ...]

    @cached_property
    def worst(self) -> Cell:
        """The round to look at: an error before a change, of changes the largest, the last of equals."""
        return max(
            self.cells,
            key=lambda each: (_WORSE.index(each.state), each.lines, abs(each.tokens_more or 0), each.round),
        )

    @property
    def alike(self) -> int:
        """Rounds in the same state as the worst one."""
        return sum(each.state == self.worst.state for each in self.cells)

    @property
    def is_uniform(self) -> bool:
        return self.alike == len(self.cells)

    @property
    def total(self) -> int | None:
        """Tokens of all rounds together; None where one of them has no prompt."""
        counts = [each.tokens for each in self.cells]
        return None if None in counts else sum(each for each in counts if each is not None)


@dataclass(frozen=True)
class Table:
    """One kind of template, held against the baseline's text in every context and round."""

    kind: PromptKind
    dialect: Dialect
    columns: Sequence[Column]
    baseline: str
    counter: str = DEFAULT_MODEL
    """Whose tokens are counted."""

    def known(self, text: str) -> tuple[Group, ...] | None:
        """A row that was worked out before; None where any of it was not."""
        found = [_cells.get(self._key(text, column)) for column in self.columns]
        return (
            tuple(Group(column, cells) for column, cells in zip(self.columns, found, strict=True) if cells)
            if all(found)
            else None
        )

    def row(self, text: str) -> tuple[Group, ...]:
        """A row, as far as there is time for it. Raises the jail's ``JailError``."""
        if known := self.known(text):
            return known
        with _turn():
            until = time.monotonic() + ROW_SECONDS
            new = self._prompts(text, until)
            old = new if text == self.baseline else self._prompts(self.baseline, until)
            return tuple(self._group(text, column, old, new, until) for column in self.columns)

    def _group(self, text: str, column: Column, old: "_Prompts", new: "_Prompts", until: float) -> Group:
        cells = []
        for each in column.at_rounds:
            place = (column.digest, each.round)
            late = time.monotonic() > until
            cells.append(_cell(each.round, old.get(place), None if late else new.get(place)))
        if all(cell.is_final for cell in cells):
            _cells.put(self._key(text, column), tuple(cells), len(cells))
        return Group(column, tuple(cells))

    def _prompts(self, text: str, until: float) -> "_Prompts":
        """What the text gives in each context and round: remembered, or rendered in the lane for batches."""
        found: _Prompts = {}
        missing: list[tuple[Column, ContextAtRound]] = []
        for column in self.columns:
            for each in column.at_rounds:
                if given := _prompts.get(self._place(text, column, each)):
                    found[column.digest, each.round] = given
                else:
                    missing.append((column, each))
        done, size, stopped = 0, 1, 0
        # A few at first: a template that never ends shall not be tried eight times.
        while done < len(missing) and stopped < MOST_STOPPED and time.monotonic() < until:
            some = missing[done : done + size]
            values = [each.values(self.kind, self.dialect) for _, each in some]
            for (column, each), examined in zip(
                some, pool().examine_in_each(self.kind, text, values, self.dialect), strict=True
            ):
                given = _given(examined, self.counter)
                found[column.digest, each.round] = given
                if isinstance(examined.failure, LimitExceeded):
                    stopped += 1
                else:
                    _prompts.put(self._place(text, column, each), given, given.size)
            done, size = done + size, min(2 * size, _AT_A_TIME)
        return found

    def _key(self, text: str, column: Column) -> tuple[object, ...]:
        texts = _digest(self.baseline), _digest(text)
        return self.kind, self.dialect, self.counter, *texts, column.digest

    def _place(self, text: str, column: Column, at: ContextAtRound) -> tuple[object, ...]:
        return self.kind, self.dialect, self.counter, _digest(text), column.digest, at.round


_Prompts = dict[tuple[str, int], Given]

_prompts: SizedCache[Given] = SizedCache(4_000_000)
"""By characters: mostly the baseline's, which every row asks for."""
_cells: SizedCache[tuple[Cell, ...]] = SizedCache(60_000)
"""By cells: what has been compared once is not compared again."""
_turns = threading.BoundedSemaphore(ROWS_AT_ONCE)


@contextmanager
def _turn() -> Iterator[None]:
    if not _turns.acquire(timeout=WAIT_SECONDS):
        raise JailUnavailable(BUSY, line=None, seconds=f"{WAIT_SECONDS:.1f}")
    try:
        yield
    finally:
        _turns.release()


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _given(examined: Examination, counter: str) -> Given:
    if examined.text is not None:
        counted = tokens.recount(examined.text, counter)
        return Given(examined.text, counted.tokens, margin=counted.margin)
    return Given(trouble=next(iter(examined.errors), None) or examined.failure)


def _cell(number: int, old: Given | None, new: Given | None) -> Cell:
    if new is not None and new.text is None:
        return Cell(number, "error", trouble=new.trouble)
    if old is None or new is None or new.text is None or isinstance(old.trouble, LimitExceeded):
        return Cell(number, "unknown")
    if old.text is None:
        return Cell(number, "gained", tokens=new.tokens, margin=new.margin)
    if old.text == new.text:
        return Cell(number, "same", 0, 0, new.tokens, old.tokens, margin=new.margin)
    added, removed = _lines(old.text, new.text)
    return Cell(number, "changed", added, removed, new.tokens, old.tokens, margin=new.margin)


def _lines(old: str, new: str) -> tuple[int | None, int | None]:
    if len(old) + len(new) > MOST_COMPARED or old.count("\n") + new.count("\n") > MOST_LINES:
        return None, None
    try:
        diff = compare(with_line_end(old), with_line_end(new))
    except DiffTooLarge:
        return None, None
    return diff.added, diff.removed
