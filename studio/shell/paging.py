"""The page of a long list that is shown, and its neighbours. Used by lists of runs, teams and rounds."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Paging:
    """Which page of how many rows; a number beyond the last page is the last page."""

    wanted: int
    total: int
    size: int

    @property
    def last(self) -> int:
        return max(1, math.ceil(self.total / self.size))

    @property
    def number(self) -> int:
        return min(max(1, self.wanted), self.last)

    @property
    def offset(self) -> int:
        return (self.number - 1) * self.size

    @property
    def first_row(self) -> int:
        return min(self.offset + 1, self.total)

    @property
    def last_row(self) -> int:
        return min(self.offset + self.size, self.total)

    @property
    def previous(self) -> int | None:
        return self.number - 1 if self.number > 1 else None

    @property
    def next(self) -> int | None:
        return self.number + 1 if self.number < self.last else None
