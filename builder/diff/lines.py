"""The comparison of two texts line by line: aligned rows, folds and counts, without HTML.

Used by ``python -m builder diff`` and by every page that shows a difference.

>>> [tuple(segment) for segment in compare("現在1位です", "現在2位です").rows[0].right.segments]
[('現在', False), ('2', True), ('位です', False)]
"""

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import repeat
from typing import Literal, NamedTuple

from builder.diff import alignment, sliding, words
from builder.diff.alignment import Match

MIN_FOLD = 3
"""A fold takes a line itself, so that hiding fewer lines saves nothing."""

Kind = Literal["equal", "changed", "added", "removed"]

# Named tuples where there is one object for every line: a frozen dataclass takes three times as long to make.


class Segment(NamedTuple):
    """A piece of a line, and whether it differs from the other side."""

    text: str
    changed: bool


class Line(NamedTuple):
    r"""A line of one text, numbered from 1. ``newline`` is False only for a last line without ``\n``.
    A carriage return before the ``\n`` is part of the text, so that its loss shows."""

    number: int
    text: str
    newline: bool = True
    marks: tuple[words.Span, ...] = ()

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The whole text in pieces; an empty line has none."""
        pieces: list[Segment] = []
        at = 0
        for start, stop in self.marks:
            if at < start:
                pieces.append(Segment(self.text[at:start], False))
            pieces.append(Segment(self.text[start:stop], True))
            at = stop
        if at < len(self.text):
            pieces.append(Segment(self.text[at:], False))
        return tuple(pieces)


class Row(NamedTuple):
    """What stands side by side: both lines, or only the one that was added or removed."""

    kind: Kind
    left: Line | None
    right: Line | None


class Run(NamedTuple):
    """``size`` rows of one kind; ``row``, ``left`` and ``right`` are where it starts, counted from 0."""

    kind: Kind
    row: int
    left: int
    right: int
    size: int

    @property
    def left_size(self) -> int:
        return 0 if self.kind == "added" else self.size

    @property
    def right_size(self) -> int:
        return 0 if self.kind == "removed" else self.size


class TextLines(NamedTuple):
    """One of the two texts that are compared."""

    lines: Sequence[str]
    ends_with_newline: bool

    def between(self, start: int, stop: int) -> list[Line]:
        """Lines ``start`` to ``stop``, counted from 0, unmarked."""
        # Not Line(…) for each: made without a Python call, 20,000 lines take a third of the time.
        lines = list(
            map(_as_line, zip(range(start + 1, stop + 1), self.lines[start:stop], repeat(True), repeat(())))
        )
        if lines and not self.ends_with_newline and stop == len(self.lines):
            lines[-1] = lines[-1]._replace(newline=False)
        return lines


_as_line: Callable[[tuple[object, ...]], Line] = partial(tuple.__new__, Line)
_as_row: Callable[[tuple[object, ...]], Row] = partial(tuple.__new__, Row)


@dataclass(frozen=True)
class Counts:
    """How many rows are of which kind."""

    equal: int = 0
    changed: int = 0
    added: int = 0
    removed: int = 0


@dataclass(frozen=True)
class Section:
    """Consecutive rows: shown, or folded away because nothing changed in them.

    ``left_start`` and ``right_start`` are the numbers of its first lines, counted from 1.
    """

    diff: "Diff" = field(repr=False)
    start: int
    stop: int
    folded: bool
    left_start: int
    right_start: int

    def __len__(self) -> int:
        return self.stop - self.start

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """Made when asked for: a fold that nobody opens costs nothing."""
        return self.diff.rows_between(self.start, self.stop)


@dataclass(frozen=True)
class Diff:
    """The comparison of two texts; ``rows`` has all of it, ``sections`` what a page shows."""

    left: TextLines = field(repr=False)
    right: TextLines = field(repr=False)
    runs: tuple[Run, ...] = field(repr=False)
    counts: Counts
    ignore_whitespace: bool

    def __len__(self) -> int:
        """The number of rows."""
        return self.runs[-1].row + self.runs[-1].size if self.runs else 0

    @property
    def is_same(self) -> bool:
        """Whether there is nothing to see (with ``ignore_whitespace``: but whitespace)."""
        return all(run.kind == "equal" for run in self.runs)

    @property
    def added(self) -> int:
        """Lines of the right text that the left one does not have so."""
        return self.counts.added + self.counts.changed

    @property
    def removed(self) -> int:
        """Lines of the left text that the right one does not have so."""
        return self.counts.removed + self.counts.changed

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        return self.rows_between(0, len(self))

    def rows_between(self, start: int, stop: int) -> tuple[Row, ...]:
        """Rows ``start`` to ``stop``, counted from 0 as a slice is."""
        rows: list[Row] = []
        runs = list(self.runs_between(start, stop))
        if not runs:
            return ()
        first, last = runs[0], runs[-1]
        left_lines = self.left.between(first.left, last.left + last.left_size)
        right_lines = self.right.between(first.right, last.right + last.right_size)
        lone: Iterable[None] = repeat(None)
        for run in runs:
            at_left, at_right = run.left - first.left, run.right - first.right
            left = left_lines[at_left : at_left + run.left_size]
            right = right_lines[at_right : at_right + run.right_size]
            if run.kind == "changed":
                self._mark(left, right)
            rows += map(_as_row, zip(repeat(run.kind), left or lone, right or lone))
        return tuple(rows)

    def runs_between(self, start: int, stop: int) -> Iterator[Run]:
        """The runs of rows ``start`` to ``stop``, the first and last cut to fit."""
        first_run = max(0, bisect_right(self.runs, start, key=lambda run: run.row) - 1)
        # By place: a slice would copy all the rest for every section.
        for run in map(self.runs.__getitem__, range(first_run, len(self.runs))):
            if run.row >= stop:
                break
            first, last = max(start - run.row, 0), min(stop - run.row, run.size)
            if first == 0 and last == run.size:
                yield run
            elif first < last:
                yield Run(
                    run.kind,
                    run.row + first,
                    run.left + (0 if run.kind == "added" else first),
                    run.right + (0 if run.kind == "removed" else first),
                    last - first,
                )

    def lines_of(self, run: Run) -> tuple[list[Line], list[Line]]:
        """The unmarked lines of both sides; a side without any gives an empty list."""
        return (
            self.left.between(run.left, run.left + run.left_size),
            self.right.between(run.right, run.right + run.right_size),
        )

    def _mark(self, left: list[Line], right: list[Line]) -> None:
        for place, (old, new) in enumerate(zip(left, right, strict=True)):
            old_marks, new_marks = words.marks(old.text, new.text, ignore_whitespace=self.ignore_whitespace)
            left[place] = Line(old.number, old.text, old.newline, old_marks)
            right[place] = Line(new.number, new.text, new.newline, new_marks)

    @cached_property
    def changes(self) -> tuple[range, ...]:
        """The rows of each change, for going from one to the next; rows that touch are one change."""
        changes: list[range] = []
        for run in self.runs:
            if run.kind == "equal":
                continue
            if changes and changes[-1].stop == run.row:
                changes[-1] = range(changes[-1].start, run.row + run.size)
            else:
                changes.append(range(run.row, run.row + run.size))
        return tuple(changes)

    def sections(self, context: int = 3, *, least: int = MIN_FOLD) -> tuple[Section, ...]:
        """All rows in order; unchanged stretches further than ``context`` rows from a change are folded.
        Texts without any change are one fold."""
        edges: list[tuple[int, int, bool]] = []
        shown_from = 0
        for start, stop in self._stretches(context):
            if stop - start < least:
                continue
            if shown_from < start:
                edges.append((shown_from, start, False))
            edges.append((start, stop, True))
            shown_from = stop
        if shown_from < len(self):
            edges.append((shown_from, len(self), False))
        return tuple(self._section(start, stop, folded) for start, stop, folded in edges)

    def _section(self, start: int, stop: int, folded: bool) -> Section:
        first = next(self.runs_between(start, stop))
        return Section(self, start, stop, folded, first.left + 1, first.right + 1)

    def _stretches(self, context: int) -> list[tuple[int, int]]:
        """The rows that are further than ``context`` from any change."""
        total = len(self)
        unchanged = []
        for run in self.runs:
            if run.kind == "equal":
                start = run.row + context if run.row else 0
                stop = run.row + run.size
                stop -= context if stop < total else 0
                if start < stop:
                    unchanged.append((start, stop))
        return unchanged


def compare(left: str, right: str, *, ignore_whitespace: bool = False) -> Diff:
    """Align two texts line by line with the fewest edits; ``ignore_whitespace`` as in ``diff -w``.

    Raises ``DiffTooLarge`` as ``alignment.lines_of`` does.
    """
    left_side, right_side = _side(left), _side(right)
    left_keys, right_keys = (_keys(side, ignore_whitespace) for side in (left_side, right_side))
    # Of equally short edit scripts always the same is taken, so that 3...5 shows what 5...3 shows.
    if left <= right:
        equal, pairs = _aligned(left_side.lines, right_side.lines, left_keys, right_keys)
    else:
        swapped, crossed = _aligned(right_side.lines, left_side.lines, right_keys, left_keys)
        equal = [Match(match.right, match.left, match.size) for match in swapped]
        pairs = [(at_left, at_right) for at_right, at_left in crossed]
    runs = _runs(equal, pairs, len(left_side.lines), len(right_side.lines))
    sizes = {kind: sum(run.size for run in runs if run.kind == kind) for kind in Counts.__dataclass_fields__}
    return Diff(left_side, right_side, tuple(runs), Counts(**sizes), ignore_whitespace)


def with_line_end(prompt: str) -> str:
    """A rendered prompt, to be compared with another one. Rendering drops the last line's end; with it, a
    last line that others follow in the other prompt is still the same line."""
    return prompt + "\n"


def _side(text: str) -> TextLines:
    return TextLines(alignment.lines_of(text), text.endswith("\n") or not text)


def _keys(side: TextLines, ignore_whitespace: bool) -> list[Hashable]:
    """What makes two lines equal."""
    if ignore_whitespace:
        return ["".join(line.split()) for line in side.lines]
    keys: list[Hashable] = list(side.lines)
    if not side.ends_with_newline:
        keys[-1] = (keys[-1], "without newline")
    return keys


def _aligned(
    left: Sequence[str], right: Sequence[str], left_keys: list[Hashable], right_keys: list[Hashable]
) -> tuple[list[Match], list[tuple[int, int]]]:
    equal = sliding.slid(
        alignment.matches(left_keys, right_keys),
        sliding.KeyedLines(left, left_keys),
        sliding.KeyedLines(right, right_keys),
    )
    gaps = alignment.gaps(equal, len(left), len(right))
    return equal, list(alignment.pairs(gaps, left, right))


def _runs(equal: list[Match], pairs: list[tuple[int, int]], left_size: int, right_size: int) -> list[Run]:
    """Matches and pairs in order, with what only one side has between them: removed lines first."""
    fixed: list[tuple[int, int, int, Kind]] = [(*match, "equal") for match in equal]
    fixed += [(at_left, at_right, 1, "changed") for at_left, at_right in pairs]
    fixed.sort()
    runs: list[Run] = []
    row = at_left = at_right = 0

    def add(kind: Kind, size: int) -> None:
        nonlocal row, at_left, at_right
        if size:
            runs.append(Run(kind, row, at_left, at_right, size))
            row += size
            at_left += 0 if kind == "added" else size
            at_right += 0 if kind == "removed" else size

    for to_left, to_right, size, kind in fixed:
        add("removed", to_left - at_left)
        add("added", to_right - at_right)
        add(kind, size)
    add("removed", left_size - at_left)
    add("added", right_size - at_right)
    return runs
