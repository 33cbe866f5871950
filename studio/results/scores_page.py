"""Pages of scores: those of a set's versions, and the runs of one version. With their tables as files.

Used by the views of results.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from django.db.models import Prefetch, QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from builder.results.statistics import Difference, Estimate
from studio.models import PromptSet, PromptVersion, RunResult
from studio.results.models import Found
from studio.results.plans import Plan
from studio.results.round_scores import RoundScore, rounds_of
from studio.results.scoring_basis import BasisChange, ScoringBasis, basis_change_between
from studio.results.version_scores import (
    NotCounted,
    VersionScore,
    not_counted,
    scores_before,
    scores_of,
    versions_that_ran,
)
from studio.shell.charts import Chart, Series, Words, line_chart
from studio.shell.charts.intervals import Point, Stretch, interval_chart
from studio.shell.downloads import MOST_ROWS, Cell, Table
from studio.shell.numbers import score
from studio.shell.paging import Paging

VERSIONS_PER_PAGE = 40
VERSIONS_IN_A_FILE = 1_000
VERSIONS_BY_ROUND = 6
"""Lines over the rounds: more could not be told apart."""
RUNS_PER_PAGE = 50
MOST_DOUBTFUL = 50
"""Runs that are not the version's for certain: so many are listed, all are counted."""

# --- the versions of a set ---------------------------------------------------------------


@dataclass(frozen=True)
class VersionRow:
    """A version and its figures; ``broken`` where the one below it has another scoring basis."""

    score: VersionScore
    message: str
    broken: BasisChange | None = None


@dataclass(frozen=True)
class ScorePage:
    """What the page shows, the newest version first."""

    rows: tuple[VersionRow, ...]
    older: int | None
    chart: Chart
    left_out: NotCounted
    by_round: tuple[tuple[int, list[RoundScore]], ...] = ()
    """For the newest versions that have one scoring basis."""
    rounds_chart: Chart = Chart()  # noqa: RUF009 (frozen)

    @property
    def has_partial(self) -> bool:
        """Whether teams of some runs did not finish."""
        return any(row.score.partial for row in self.rows)

    @property
    def is_split(self) -> bool:
        return any(row.broken for row in self.rows)

    @property
    def round_numbers(self) -> list[tuple[int, list[RoundScore | None]]]:
        """By round number, the figures of each version."""
        figures = [{figure.number: figure for figure in rounds} for _version, rounds in self.by_round]
        numbers = sorted({number for of_version in figures for number in of_version})
        return [(number, [of_version.get(number) for of_version in figures]) for number in numbers]


def score_page(
    prompt_set: PromptSet,
    *,
    before: int | None,
    anyway: bool,
    partial: bool = False,
    most: int = VERSIONS_PER_PAGE,
) -> ScorePage:
    """The versions that ran; none of the others has anything to say here."""
    numbers = versions_that_ran(prompt_set, before=before, most=most + 1)
    scores = scores_of(prompt_set, numbers, anyway=anyway, partial=partial)
    shown = [scores[number] for number in numbers[:most]]
    older = numbers[most - 1] if len(numbers) > most else None
    messages = dict(
        prompt_set.versions.filter(number__in=numbers[:most]).values_list("number", "message").order_by()
    )
    rows = tuple(VersionRow(version, messages[version.number], _broken(version, scores)) for version in shown)
    measured = [(version.number, version.main) for version in shown if version.main]
    by_round = tuple(
        (number, rounds_of(prompt_set, number, main))
        for number, main in [pair for pair in measured if pair[1].basis.compares_with(measured[0][1].basis)][
            :VERSIONS_BY_ROUND
        ]
    )
    return ScorePage(
        rows,
        older,
        _versions_chart(prompt_set, rows[::-1]),
        not_counted(prompt_set),
        by_round,
        _lines_chart(prompt_set, by_round),
    )


def _broken(new: VersionScore, scores: dict[int, VersionScore]) -> BasisChange | None:
    """Where the means in the table and the chart were measured differently, whatever runs they share."""
    old = scores.get(new.change.old) if new.change else None
    if old is None or old.main is None or new.main is None:
        return None
    if new.change and new.change.basis_change:
        return new.change.basis_change
    return basis_change_between((old.number, old.main.basis), (new.number, new.main.basis), {})


def score_tables(prompt_set: PromptSet, page: ScorePage, detect: float) -> dict[str, Callable[[], Table]]:
    """The tables of the page by name."""
    name = f"{prompt_set.slug}-scores"
    versions = (_version_cells(row.score, row.message, detect) for row in page.rows)
    return {
        "versions": lambda: Table(name, _VERSIONS, versions, page.older is not None),
        "rounds": lambda: _rounds_table(f"{name}-by-round", page.by_round),
    }


# --- the runs of a version ---------------------------------------------------------------


@dataclass(frozen=True)
class VersionRuns:
    """What the page shows; the latest runs first."""

    score: VersionScore
    runs: list[RunResult]
    paging: Paging
    edited: list[RunResult]
    several: list[RunResult]
    rounds: list[RoundScore]
    rounds_chart: Chart


def version_runs(version: PromptVersion, *, page: int, anyway: bool, partial: bool = False) -> VersionRuns:
    """Its runs that count, those that may be its own, and how its rounds went."""
    scores = scores_before(version.prompt_set, [version.number], anyway=anyway, partial=partial)
    figures = scores.get(version.number, VersionScore(version.number))
    exact = _listed(version.results.filter(found=Found.EXACT))
    paging = Paging(page, exact.count(), RUNS_PER_PAGE)
    rounds = rounds_of(version.prompt_set, version.number, figures.main) if figures.main else []
    named = PromptVersion.objects.select_related("prompt_set").only("number", "prompt_set__slug")
    several = _listed(RunResult.objects.filter(found=Found.SEVERAL, candidates=version))
    return VersionRuns(
        figures,
        list(exact[paging.offset : paging.offset + paging.size]),
        paging,
        list(_listed(version.results.filter(found=Found.EDITED))[:MOST_DOUBTFUL]),
        list(several.prefetch_related(Prefetch("candidates", named))[:MOST_DOUBTFUL]),
        rounds,
        _rounds_chart(rounds),
    )


def _listed(runs: QuerySet[RunResult]) -> QuerySet[RunResult]:
    return runs.select_related("workspace", "scoring").order_by("-started_at", "-pk")


def run_tables(version: PromptVersion, page: VersionRuns) -> dict[str, Callable[[], Table]]:
    """The tables of the page by name; all runs, not only the page's."""
    name = f"{version.prompt_set.slug}-v{version.number}"
    exact = _listed(version.results.filter(found=Found.EXACT))
    runs = (_run_cells(run, is_copy=run.pk in page.score.copies) for run in exact.iterator())
    return {
        "runs": lambda: Table(f"{name}-runs", _RUNS, runs, page.paging.total > MOST_ROWS),
        "rounds": lambda: _rounds_table(f"{name}-rounds", [(version.number, page.rounds)]),
    }


# --- charts ------------------------------------------------------------------------------


def _runs_url(prompt_set: PromptSet, number: int) -> str:
    return reverse("version-runs", args=[prompt_set.slug, number])


def _versions_chart(prompt_set: PromptSet, rows: Sequence[VersionRow]) -> Chart:
    """The oldest first; broken where the scoring basis changes. A point leads to the runs of its version."""
    looks: list[ScoringBasis] = []
    stretches: list[Stretch] = []
    for row in rows:
        if (main := row.score.main) is None:
            continue
        name, url = f"v{row.score.number}", _runs_url(prompt_set, row.score.number)
        point = Point(name, main.estimate, f"{name}: {_spoken(main.estimate)}", url)
        if stretches and not row.broken:
            stretches[-1] = replace(stretches[-1], points=(*stretches[-1].points, point))
            continue
        look = next((at for at, known in enumerate(looks) if known.compares_with(main.basis)), len(looks))
        looks += [main.basis] if look == len(looks) else []
        stretches.append(Stretch((point,), row.broken.why if row.broken else "", look))
    if not stretches:
        return Chart()
    words = Words(
        title=_("Score over versions"),
        description=" ".join(point.says + "." for stretch in stretches for point in stretch.points),
        across=_("Version"),
        up=_("Mean best score of a run (bars: 95 %)"),
    )
    return interval_chart("versions-chart", stretches, words)


def _lines_chart(prompt_set: PromptSet, by_round: Sequence[tuple[int, list[RoundScore]]]) -> Chart:
    """A line over the rounds for each version; a point leads to that round among the version's runs."""
    words = Words(
        title=_("Do scores improve by round?"),
        description=" ".join(
            f"v{version}: " + _(", ").join(f"{of.number}: {score(of.estimate.mean)}" for of in rounds) + "."
            for version, rounds in by_round
        ),
        across=_("Round"),
        up=_("Mean score"),
    )
    series = [
        Series(
            f"v{version}",
            tuple((of.number, of.estimate.mean) for of in rounds),
            {of.number: f"{_runs_url(prompt_set, version)}#round-{of.number}" for of in rounds},
        )
        for version, rounds in by_round
    ]
    return line_chart("rounds-chart", series, words)


def _rounds_chart(rounds: Sequence[RoundScore]) -> Chart:
    """The rounds of one version, with intervals; a point leads to its row in the table."""
    points = tuple(
        Point(
            str(of.number),
            of.estimate,
            _("Round %(number)d: %(mean)s") % {"number": of.number, "mean": _spoken(of.estimate)},
            f"#round-{of.number}",
        )
        for of in rounds
    )
    words = Words(
        title=_("Do scores improve by round?"),
        description=" ".join(point.says + "." for point in points),
        across=_("Round"),
        up=_("Mean score of a round (bars: 95 %)"),
    )
    return interval_chart("rounds-chart", [Stretch(points)] if points else [], words)


def _spoken(estimate: Estimate) -> str:
    """An estimate in words, such as «81.20 ± 2.30 over 12 runs»."""
    mean = score(estimate.mean) + ("" if estimate.margin is None else f" ± {score(estimate.margin)}")
    return ngettext("%(mean)s over %(n)d run", "%(mean)s over %(n)d runs", estimate.runs) % {
        "mean": mean,
        "n": estimate.runs,
    }


# --- rows of files -----------------------------------------------------------------------

_VERSIONS = (
    "version", "message", "runs", "rounds", "teams", "scored_runs", "mean_best_score", "low", "high",
    "compared_with", "verdict", "different_ruler", "difference", "difference_low", "difference_high", "p",
    "method", "metrics", "unfinished", "edited_by_hand", "several_versions", "teams_or_models_changed",
    "settings_not_recorded", "runs_with_partial_teams", "smallest_detectable_difference",
    "difference_to_detect", "more_runs_of_each",
)  # fmt: skip
_ROUNDS = (
    "version", "round_number", "runs", "rounds", "mean_score", "low", "high", "gain", "gain_low", "gain_high",
    "gain_p", "gain_method",
)  # fmt: skip
_RUNS = (
    "execution_id", "workspace", "state", "counted", "found", "judges_inferred_from", "task", "teams",
    "rounds", "best_score", "metrics", "started_at", "orchestrator", "scoring_record", "partial_teams",
)  # fmt: skip


def _version_cells(version: VersionScore, message: str, detect: float) -> tuple[Cell, ...]:
    change = version.change
    return (
        version.number,
        message,
        version.runs,
        version.rounds,
        version.teams,
        version.main.runs if version.main else 0,
        *_mean_cells(version.estimate),
        *((change.old, change.verdict, change.basis_change is not None) if change else (None, None, None)),
        *_difference_cells(change.difference if change else None),
        "; ".join(version.main.basis.metrics) if version.main else None,
        version.unfinished,
        version.edited,
        version.several,
        None if change is None else change.teams is not None,
        version.main.unrecorded if version.main else None,
        version.partial,
        *((plan.smallest, detect, plan.more) if (plan := Plan.of(change, detect)) else (None, detect, None)),
    )


def _rounds_table(name: str, by_version: Iterable[tuple[int, Iterable[RoundScore]]]) -> Table:
    rows = (
        (version, of.number, of.runs, of.rounds, *_mean_cells(of.estimate), *_difference_cells(of.gain))
        for version, rounds in by_version
        for of in rounds
    )
    return Table(name, _ROUNDS, rows)


def _run_cells(run: RunResult, *, is_copy: bool) -> tuple[Cell, ...]:
    return (
        run.execution_id,
        run.workspace.slug,
        run.state,
        run.over and run.state != "failed" and not is_copy,
        run.found,
        run.basis or "nothing",
        run.task,
        run.teams,
        run.rounds,
        run.best_score,
        "; ".join(run.metrics),
        run.started_at,
        run.orchestrator,
        run.scoring.sha256 if run.scoring else None,
        "; ".join(run.partial_teams),
    )


def _mean_cells(mean: Estimate | None) -> tuple[Cell, ...]:
    return (None, None, None) if mean is None else (mean.mean, mean.low, mean.high)


def _difference_cells(gain: Difference | None) -> tuple[Cell, ...]:
    return (None,) * 5 if gain is None else (gain.mean, gain.low, gain.high, gain.p, gain.method)
