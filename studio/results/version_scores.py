"""What the runs of each version scored, and whether it did better than the version before it.

A run counts by its best score, once it is over without having failed, and only where it is traced to exactly
one version; in however many workspaces a copy of it lies, it counts once.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Literal

from django.db.models import Count, Q, QuerySet

from builder.results.statistics import Difference, Estimate, difference, estimate
from studio.models import Export, PromptSet, RoundResult, RunResult
from studio.results.models import Found
from studio.results.scoring_basis import Judges, Ruler, RulerChange, change_between, judges_of

REACH = 10
"""A version whose parent never ran is compared with the nearest one before it that did, so far back."""

Verdict = Literal["more", "within", "few", "ruler"]


@dataclass(frozen=True)
class Measured:
    """The scores of a version that were measured with one ruler."""

    ruler: Ruler
    scores: Mapping[str, Sequence[float]]
    """The best score of each run, by task."""
    keys: frozenset[int]
    """Of the runs."""
    shape: tuple[int, int] = (0, 0)
    """Teams and rounds of most of its runs."""

    @property
    def runs(self) -> int:
        return len(self.keys)

    @cached_property
    def estimate(self) -> Estimate:
        found = estimate(score for scores in self.scores.values() for score in scores)
        assert found is not None  # there is none without a score
        return found


@dataclass(frozen=True)
class Change:
    """What a version has more than the one it is compared with."""

    old: int
    new: int
    verdict: Verdict
    difference: Difference | None = None
    ruler: RulerChange | None = None
    """Measured with different rulers; with a verdict besides, compared all the same because someone asked."""
    shapes: tuple[tuple[int, int], tuple[int, int]] | None = None
    """Teams and rounds on either side, where they differ: the best of more attempts tends to be better."""

    @property
    def forced(self) -> bool:
        return self.ruler is not None and self.verdict != "ruler"


@dataclass(frozen=True)
class VersionScore:
    """A version's figures. ``runs``, ``rounds`` and ``teams`` are those of finished executions."""

    number: int
    runs: int = 0
    rounds: int = 0
    teams: int = 0
    unfinished: int = 0
    unscored: int = 0
    """Runs that are over, but failed or have no score."""
    copies: frozenset[int] = frozenset()
    """Keys of results of runs that another workspace has, too: a copied database is no second run."""
    edited: int = 0
    """Runs whose prompts are nearest to this version's, but not its own."""
    several: int = 0
    """Runs that other versions explain as well."""
    measured: tuple[Measured, ...] = ()
    """By ruler; the one of most runs first."""
    change: Change | None = None

    @property
    def main(self) -> Measured | None:
        return self.measured[0] if self.measured else None

    @property
    def estimate(self) -> Estimate | None:
        return self.main.estimate if self.main else None

    @property
    def with_other_metrics(self) -> int:
        """Runs that the mean leaves out: another list of metrics is another ruler."""
        return sum(each.runs for each in self.measured[1:])

    @property
    def uncounted(self) -> int:
        return self.unfinished + self.edited + self.several


def scores_before(
    prompt_set: PromptSet, numbers: Collection[int], *, anyway: bool = False
) -> dict[int, VersionScore]:
    """The figures of some versions, each compared with its parent. What this asks depends on how many they
    are, not on how many there are."""
    wanted = {each for number in numbers for each in range(max(number - REACH, 1), number + 1)}
    return compared(prompt_set, _figures(prompt_set, wanted), REACH, anyway=anyway)


def scores_of(
    prompt_set: PromptSet, numbers: Collection[int], *, anyway: bool = False
) -> dict[int, VersionScore]:
    """The figures of some versions, each compared with the one before it among them."""
    return compared(prompt_set, _figures(prompt_set, set(numbers)), None, anyway=anyway)


def compared(
    prompt_set: PromptSet, scores: Mapping[int, VersionScore], reach: int | None, *, anyway: bool
) -> dict[int, VersionScore]:
    """Every version against the nearest earlier one that has scores."""
    scored = sorted(number for number, each in scores.items() if each.measured)
    pairs = [(old, new) for old, new in pairwise(scored) if new - old <= (reach or new)]
    judges = _between(prompt_set, scores, pairs)
    changes = {new: change_of(scores[old], scores[new], judges, anyway=anyway) for old, new in pairs}
    return {number: replace(each, change=changes.get(number)) for number, each in scores.items()}


def change_of(
    old: VersionScore, new: VersionScore, judges: Mapping[int, Judges], *, anyway: bool = False
) -> Change | None:
    """By the ruler that most runs of both have in common; without one there is no difference to show."""
    if old.main is None or new.main is None:
        return None
    shared = [
        (before, after) for after in new.measured for before in old.measured if before.ruler == after.ruler
    ]
    before, after = max(shared, key=_fewer_runs) if shared else (old.main, new.main)
    broken = change_between((old.number, before.ruler), (new.number, after.ruler), judges)
    shapes = None if before.shape == after.shape else (before.shape, after.shape)
    if broken is not None and not anyway:
        return Change(old.number, new.number, "ruler", ruler=broken)
    found = difference(before.scores, after.scores)
    verdict: Verdict = "few" if found is None else "more" if found.more_than_noise else "within"
    return Change(old.number, new.number, verdict, found, broken, shapes)


def _fewer_runs(pair: tuple[Measured, Measured]) -> int:
    return min(each.runs for each in pair)


def _between(
    prompt_set: PromptSet, scores: Mapping[int, VersionScore], pairs: Iterable[tuple[int, int]]
) -> dict[int, Judges]:
    """The judges of the versions in which a ruler may have changed."""
    ran = {number: each.main.ruler.judges for number, each in scores.items() if each.main}
    missing = {
        number
        for old, new in pairs
        if ran[old] != ran[new] and new - old <= REACH
        for number in range(old, new + 1)
        if number not in ran
    }
    return ran | judges_of(prompt_set, missing)


# --- out of the database -----------------------------------------------------------------


def counted(prompt_set: PromptSet) -> QuerySet[RunResult]:
    """The runs that count: over, and of one version exactly."""
    return RunResult.objects.filter(version__prompt_set=prompt_set, found=Found.EXACT, over=True).order_by()


def versions_that_ran(prompt_set: PromptSet, *, before: int | None, most: int) -> list[int]:
    """The newest first."""
    ran = counted(prompt_set).filter(version__number__lt=before) if before else counted(prompt_set)
    numbers = ran.order_by("-version__number").values_list("version__number", flat=True)
    return list(numbers.distinct()[:most])


@dataclass(frozen=True)
class NotCounted:
    """Runs that may be the set's, but of no version for certain."""

    several: int
    edited: int
    unknown: int
    """In workspaces that this set was exported to, or that follow one of its labels."""

    def __bool__(self) -> bool:
        return bool(self.several or self.edited or self.unknown)


def not_counted(prompt_set: PromptSet) -> NotCounted:
    """What the scores of a set leave out."""
    several = RunResult.objects.filter(found=Found.SEVERAL, candidates__prompt_set=prompt_set)
    edited = RunResult.objects.filter(found=Found.EDITED, version__prompt_set=prompt_set)
    reached = Export.objects.filter(version__prompt_set=prompt_set).order_by().values("workspace")
    unknown = RunResult.objects.filter(found=Found.UNKNOWN).filter(
        Q(workspace__in=reached) | Q(workspace__label__prompt_set=prompt_set)
    )
    return NotCounted(several.order_by().values("pk").distinct().count(), edited.count(), unknown.count())


@dataclass(frozen=True)
class _Row:
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


def _figures(prompt_set: PromptSet, numbers: set[int]) -> dict[int, VersionScore]:
    found = RunResult.objects.filter(
        version__prompt_set=prompt_set, version__number__in=numbers, found__in=(Found.EXACT, Found.EDITED)
    ).order_by()
    columns = (
        "pk",
        "version__number",
        "execution_id",
        "found",
        "over",
        "state",
        "task_key",
        "teams",
        "rounds",
    )
    rows: dict[int, list[_Row]] = {number: [] for number in numbers}
    copies: dict[int, set[int]] = {number: set() for number in numbers}
    known = set[tuple[int, str, str]]()
    # The one that got furthest stands for its copies.
    for values in found.order_by("-over", "pk").values_list(*columns, "best_score", "metrics"):
        row = _Row(*values)
        if (same := (row.number, row.execution, row.found)) in known:
            copies[row.number].add(row.key)
        else:
            known.add(same)
            rows[row.number].append(row)
    counting = {number for number, each in rows.items() if any(_counts(row) for row in each)}
    judges = judges_of(prompt_set, counting)
    totals = _totals(prompt_set, counting, set().union(*copies.values()))
    several = _several(prompt_set, numbers)
    return {
        number: replace(
            _score(number, rows[number], judges.get(number), totals.get(number, (0, 0)), several[number]),
            copies=frozenset(copies[number]),
        )
        for number in sorted(numbers)
        if rows[number] or several[number]
    }


def _counts(row: _Row) -> bool:
    return row.over and row.found == Found.EXACT


def _score(
    number: int, rows: list[_Row], judges: Judges | None, totals: tuple[int, int], several: int
) -> VersionScore:
    counting = [row for row in rows if _counts(row)]
    by_metrics: dict[tuple[str, ...], list[_Row]] = {}
    for row in counting:
        # A failed run got as far as its failure let it, not its prompt.
        if row.score is not None and math.isfinite(row.score) and row.state != "failed":
            by_metrics.setdefault(tuple(row.metrics), []).append(row)
    measured = [_measured(Ruler(judges, metrics), some) for metrics, some in by_metrics.items() if judges]
    measured.sort(key=lambda each: (-each.runs, -max(each.keys)))
    return VersionScore(
        number,
        runs=len(counting),
        rounds=totals[0],
        teams=totals[1],
        unfinished=sum(row.found == Found.EXACT and not row.over for row in rows),
        unscored=len(counting) - sum(each.runs for each in measured),
        edited=sum(row.found == Found.EDITED for row in rows),
        several=several,
        measured=tuple(measured),
    )


def _measured(ruler: Ruler, rows: list[_Row]) -> Measured:
    scores: dict[str, list[float]] = {}
    for row in rows:
        # What nobody knows is nobody else's task.
        scores.setdefault(row.task or f"?{row.key}", []).append(row.score or 0.0)
    shape = Counter((row.teams, row.rounds) for row in rows).most_common(1)[0][0]
    return Measured(ruler, scores, frozenset(row.key for row in rows), shape)


def _totals(prompt_set: PromptSet, numbers: set[int], copies: set[int]) -> dict[int, tuple[int, int]]:
    """Rounds, and teams by their ids."""
    if not numbers:
        return {}
    rounds = RoundResult.objects.filter(
        run__version__prompt_set=prompt_set,
        run__version__number__in=numbers,
        run__found=Found.EXACT,
        run__over=True,
    ).order_by()
    if copies:
        rounds = rounds.exclude(run__in=copies)
    figures = rounds.values_list("run__version__number").annotate(
        rounds=Count("pk"), teams=Count("team_id", distinct=True)
    )
    return {number: (rounds, teams) for number, rounds, teams in figures}


def _several(prompt_set: PromptSet, numbers: set[int]) -> Counter[int]:
    among = RunResult.candidates.through.objects.filter(
        promptversion__prompt_set=prompt_set,
        promptversion__number__in=numbers,
        runresult__found=Found.SEVERAL,
    )
    figures = among.values_list("promptversion__number").annotate(runs=Count("pk"))
    return Counter(dict(figures))
