"""Measured runs: the runs of a version that count, grouped by what they were scored with.

Used by the scores of versions. Teams that ended by a failure or a timeout are left out unless asked for.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from builder.orchestrators.scoring_settings import ScoringSettings
from builder.results.statistics import Estimate, estimate, is_measured
from studio.models import ScoringRecord
from studio.results.models import Found
from studio.results.scoring_basis import ChangedLine, Judges, ScoringBasis


@dataclass(frozen=True)
class Measured:
    """The scores of a version that have one scoring basis."""

    basis: ScoringBasis
    scores: Mapping[str, Sequence[float]]
    """The best score of each run, by task."""
    keys: frozenset[int]
    """Of the runs."""
    shape: tuple[int, int] = (0, 0)
    """Teams and rounds of most of its runs."""
    unrecorded: int = 0
    """Runs whose settings were not recorded: they are taken to be those of the others."""
    partial: Mapping[int, Collection[str]] = field(default_factory=dict)
    """Teams that are left out, by run."""
    differing_lines: tuple[ChangedLine, ...] = ()
    """What its settings have otherwise than those of most runs of the version."""

    @property
    def runs(self) -> int:
        return len(self.keys)

    @cached_property
    def estimate(self) -> Estimate:
        mean = estimate(score for scores in self.scores.values() for score in scores)
        assert mean is not None  # there is none without a score
        return mean


class RunRow(NamedTuple):
    """The columns of a result that figures are made of."""

    key: int
    number: int
    execution: str
    found: str
    over: bool
    state: str
    task: str
    teams: int
    rounds: int
    score: float | None
    metrics: list[str]
    scoring: int | None
    partial: list[str]
    whole_score: float | None
    formats: list[str] | None

    def score_of(self, *, partial: bool) -> float | None:
        """The best score; without teams that ended by a failure, unless they are asked for."""
        return self.whole_score if self.partial and not partial else self.score

    @property
    def counts(self) -> bool:
        return self.over and self.found == Found.EXACT


COLUMNS = (
    "pk", "version__number", "execution_id", "found", "over", "state", "task_key", "teams", "rounds",
    "best_score", "metrics", "scoring_id", "partial_teams", "whole_score",
    "formats",
)  # fmt: skip


def settings_of(keys: set[int]) -> dict[int, ScoringSettings]:
    """The settings behind some runs; most runs share a few."""
    stored: dict[int, ScoringRecord] = ScoringRecord.objects.in_bulk(keys) if keys else {}
    return {key: record.settings for key, record in stored.items()}


def measured_runs(
    rows: Iterable[RunRow], judges: Judges, records: Mapping[int, ScoringSettings], *, partial: bool
) -> tuple[Measured, ...]:
    """The groups, that of most runs first; ``partial``: with teams that did not finish."""
    groups: list[tuple[ScoringBasis, list[RunRow]]] = []
    # Those of which most is known first, the newest before all; the others join whom they may be like.
    for row in sorted(
        rows, key=lambda row: (row.scoring not in records, len(row.formats or ()) != 1, -row.key)
    ):
        score = row.score_of(partial=partial)
        # A failed run got as far as its failure let it, not its prompt.
        if score is None or not is_measured(score) or row.state == "failed":
            continue
        basis = ScoringBasis(
            judges, tuple(row.metrics), records.get(row.scoring or 0), tuple(row.formats or ())
        )
        alike = [some for known, some in groups if known.compares_with(basis)]
        if alike:
            max(alike, key=len).append(row)
        else:
            groups.append((basis, [row]))
    measured = [_group(basis, some, records, partial=partial) for basis, some in groups]
    measured.sort(key=lambda basis: (-basis.runs, -max(basis.keys)))
    return tuple(
        replace(group, differing_lines=group.basis.changed_lines(measured[0].basis)) for group in measured
    )


def _group(
    basis: ScoringBasis, rows: Sequence[RunRow], records: Mapping[int, ScoringSettings], *, partial: bool
) -> Measured:
    scores: dict[str, list[float]] = {}
    for row in rows:
        # What nobody knows is nobody else's task.
        scores.setdefault(row.task or f"?{row.key}", []).append(row.score_of(partial=partial) or 0.0)
    return Measured(
        basis,
        scores,
        frozenset(row.key for row in rows),
        Counter((row.teams, row.rounds) for row in rows).most_common(1)[0][0],
        sum(row.scoring not in records for row in rows),
        {} if partial else {row.key: row.partial for row in rows if row.partial},
    )
