"""A comparison as a page shows it: rows, and links in place of the rows that it holds back."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

from builder.diff.lines import Diff, Row

ROWS_AT_ONCE = 1_000
"""Rows of one text that a page shows before it asks: browsers lay out some thousands, not ten thousands."""

Show = Literal["rows", "same", "more"]


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
    return list(_stretches(diff, opened, unfold, most))


def _stretches(diff: Diff, opened: Sequence[range], unfold: bool, most: int) -> Iterator[Stretch]:
    stops = {each.start: each.stop for each in opened if each}
    left = most
    for section in diff.sections():
        at = section.start
        while at < section.stop:
            if section.folded and not unfold:
                # What a person opened is beside what the page shows by itself.
                here = at in stops
                stop = _fold_stop(at, section.stop, stops, most) if here else _next(at, section.stop, stops)
                yield Stretch(diff, at, stop, "rows" if here else "same")
            else:
                left = most if at in stops else left
                if not left:
                    yield Stretch(diff, at, len(diff), "more")
                    return
                stop = min(section.stop, at + left)
                left -= stop - at
                yield Stretch(diff, at, stop, "rows")
            at = stop


def _fold_stop(at: int, stop: int, stops: dict[int, int], most: int) -> int:
    return min(stop, stops[at], at + most)


def _next(at: int, stop: int, stops: dict[int, int]) -> int:
    return min((start for start in stops if at < start < stop), default=stop)
