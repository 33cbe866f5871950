"""Plans: what the runs of two versions can show, and how many more would show a difference of one's choice.

Used by every page that compares scores of two versions, through `tags`, and by their files.
"""

from dataclasses import dataclass
from typing import Self

from builder.results.power import Lacking, more_runs, smallest_difference
from studio.results.version_scores import Change


@dataclass(frozen=True)
class Plan:
    """The figures of a change; ``lacking`` says why there are none."""

    lacking: Lacking | None
    smallest: float | None = None
    """The smallest difference that the runs so far show; None while they are too few to be compared."""
    detect: float | None = None
    more: int | None = None
    """Further runs of each version for ``detect``; None where they would be too many to count."""
    paired: bool = False

    @classmethod
    def of(cls, change: Change | None, detect: float | None) -> Self | None:
        """None where nothing is compared; without ``detect`` only what the runs so far show."""
        found = change.design if change else None
        if found is None:
            return None
        if isinstance(found, str):
            return cls(found)
        more = more_runs(found, detect) if detect else None
        return cls(None, smallest_difference(found), detect, more, found.method == "paired")
