"""Scores of versions: what the runs of each scored, and whether it did better than the one before it.

Used by the pages of a set's history, its scores, a version's runs and comparisons of versions. A run counts
by its best score, once it is over without having failed, and only where it is traced to exactly one version;
in however many workspaces a copy of it lies, it counts once.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from django.db.models import Count, Q

from builder.results.power import Design, Lacking, design
from builder.results.statistics import Difference, Estimate, difference
from studio.models import Export, FollowedFile, PromptSet, RoundResult, RunResult
from studio.results.measured_runs import COLUMNS, Measured, RunRow, measured_runs, settings_of
from studio.results.models import Found
from studio.results.scoring_basis import (
    BasisChange,
    Judges,
    TeamChange,
    basis_change_between,
    judges_of,
    team_change,
)

REACH = 10
"""A version whose parent never ran is compared with the nearest one before it that did, so far back."""

Verdict = Literal["more", "within", "few", "ruler"]


@dataclass(frozen=True)
class Change:
    """What a version has more than the one it is compared with."""

    old: int
    new: int
    verdict: Verdict
    difference: Difference | None = None
    basis_change: BasisChange | None = None
    """Measured differently; with another verdict than ``ruler``, compared all the same as someone asked."""
    teams: TeamChange | None = None
    """Other teams, models or limits than before."""
    moving: tuple[str, ...] = ()
    """Settings with a model name that is an alias: what it stands for changes without a trace."""
    shapes: tuple[tuple[int, int], tuple[int, int]] | None = None
    """Teams and rounds on either side, where they differ: the best of more attempts tends to be better."""
    design: Design | Lacking | None = None
    """How many runs there are and how much their scores vary, to say what more of them would show."""

    @property
    def forced(self) -> bool:
        return self.basis_change is not None and self.verdict != "ruler"


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
    partial: int = 0
    """Runs in which teams ended by a failure or a timeout."""
    measured: tuple[Measured, ...] = ()
    """By scoring basis; the one of most runs first."""
    change: Change | None = None

    @property
    def main(self) -> Measured | None:
        return self.measured[0] if self.measured else None

    @property
    def estimate(self) -> Estimate | None:
        return self.main.estimate if self.main else None

    @property
    def otherwise_measured(self) -> int:
        """Runs that the mean leaves out: they have other metrics or settings."""
        return sum(measured.runs for measured in self.measured[1:])

    @property
    def uncounted(self) -> int:
        return self.unfinished + self.edited + self.several


def scores_before(
    prompt_set: PromptSet, numbers: Collection[int], *, anyway: bool = False, partial: bool = False
) -> dict[int, VersionScore]:
    """The figures of some versions, each compared with its parent. What this asks depends on how many they
    are, not on how many there are."""
    wanted = {earlier for number in numbers for earlier in range(max(number - REACH, 1), number + 1)}
    return _compared(prompt_set, _figures(prompt_set, wanted, partial=partial), REACH, anyway=anyway)


def scores_of(
    prompt_set: PromptSet,
    numbers: Collection[int],
    *,
    anyway: bool = False,
    partial: bool = False,
    uncounted: bool = True,
) -> dict[int, VersionScore]:
    """The figures of some versions, each compared with the one before it among them.

    Without ``uncounted``, runs that several versions explain are not counted as such.
    """
    scores = _figures(prompt_set, set(numbers), partial=partial, uncounted=uncounted)
    return _compared(prompt_set, scores, None, anyway=anyway)


def _compared(
    prompt_set: PromptSet, scores: Mapping[int, VersionScore], reach: int | None, *, anyway: bool
) -> dict[int, VersionScore]:
    """Every version against the nearest earlier one that has scores."""
    scored = sorted(number for number, score in scores.items() if score.measured)
    pairs = [(old, new) for old, new in pairwise(scored) if new - old <= (reach or new)]
    judges = _judges_between(prompt_set, scores, pairs)
    changes = {new: _change(scores[old], scores[new], judges, anyway=anyway) for old, new in pairs}
    return {number: replace(score, change=changes.get(number)) for number, score in scores.items()}


def _change(old: VersionScore, new: VersionScore, judges: Mapping[int, Judges], *, anyway: bool) -> Change:
    """By the scoring basis that most runs of both have in common; without one there is no difference."""
    shared = [
        (before, after)
        for after in new.measured
        for before in old.measured
        if before.basis.compares_with(after.basis)
    ]
    before, after = max(
        shared or [(old.measured[0], new.measured[0])], key=lambda pair: min(pair[0].runs, pair[1].runs)
    )
    broken = basis_change_between((old.number, before.basis), (new.number, after.basis), judges)
    if broken is not None and not anyway:
        return Change(old.number, new.number, "ruler", basis_change=broken)
    gain = difference(before.scores, after.scores)
    verdict: Verdict = "few" if gain is None else "more" if gain.significant else "within"
    shapes = None if before.shape == after.shape else (before.shape, after.shape)
    teams = team_change(before.basis.settings, after.basis.settings)
    moving = tuple(after.basis.settings.moving_models) if after.basis.settings else ()
    return Change(
        old.number,
        new.number,
        verdict,
        gain,
        broken,
        teams,
        moving,
        shapes,
        design(before.scores, after.scores),
    )


def _judges_between(
    prompt_set: PromptSet, scores: Mapping[int, VersionScore], pairs: Iterable[tuple[int, int]]
) -> dict[int, Judges]:
    """The judges of the versions in which the scoring basis may have changed."""
    ran = {number: score.main.basis.judges for number, score in scores.items() if score.main}
    missing = {
        number
        for old, new in pairs
        if ran[old] != ran[new] and new - old <= REACH
        for number in range(old, new + 1)
        if number not in ran
    }
    return ran | judges_of(prompt_set, missing)


# --- out of the database -----------------------------------------------------------------


def versions_that_ran(prompt_set: PromptSet, *, before: int | None, most: int) -> list[int]:
    """Numbers of versions with runs that count, the newest first."""
    ran = RunResult.objects.filter(version__prompt_set=prompt_set, found=Found.EXACT, over=True)
    ran = ran.filter(version__number__lt=before) if before else ran
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
        Q(workspace__in=reached)
        | Q(workspace__label__prompt_set=prompt_set)
        | Q(workspace__in=FollowedFile.objects.filter(label__prompt_set=prompt_set).values("workspace"))
    )
    return NotCounted(several.order_by().values("pk").distinct().count(), edited.count(), unknown.count())


def _figures(
    prompt_set: PromptSet, numbers: set[int], *, partial: bool, uncounted: bool = True
) -> dict[int, VersionScore]:
    results = RunResult.objects.filter(
        version__prompt_set=prompt_set, version__number__in=numbers, found__in=(Found.EXACT, Found.EDITED)
    )
    rows: dict[int, list[RunRow]] = {number: [] for number in numbers}
    copies: dict[int, set[int]] = {number: set() for number in numbers}
    known = set[tuple[int, str, str]]()
    # The one that got furthest stands for its copies.
    for values in results.order_by("-over", "pk").values_list(*COLUMNS):
        row = RunRow(*values)
        if (same := (row.number, row.execution, row.found)) in known:
            copies[row.number].add(row.key)
        else:
            known.add(same)
            rows[row.number].append(row)
    counting = {number for number, some in rows.items() if any(row.counts for row in some)}
    judges = judges_of(prompt_set, counting)
    totals = _totals(prompt_set, counting, set().union(*copies.values()))
    several = _several(prompt_set, numbers) if uncounted else Counter[int]()
    records = settings_of({row.scoring for some in rows.values() for row in some if row.scoring})
    scores = {}
    for number in sorted(numbers):
        if rows[number] or several[number]:
            counted = [row for row in rows[number] if row.counts]
            measured = measured_runs(counted, judges[number], records, partial=partial) if counted else ()
            rounds, teams = totals.get(number, (0, 0))
            scores[number] = VersionScore(
                number,
                runs=len(counted),
                rounds=rounds,
                teams=teams,
                unfinished=sum(row.found == Found.EXACT and not row.over for row in rows[number]),
                unscored=len(counted) - sum(some.runs for some in measured),
                copies=frozenset(copies[number]),
                edited=sum(row.found == Found.EDITED for row in rows[number]),
                several=several[number],
                partial=sum(bool(row.partial) for row in counted),
                measured=measured,
            )
    return scores


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
