"""The runs of one version: those that count, those that may be its own, and how its rounds went."""

from collections.abc import Callable
from dataclasses import dataclass

from django.db.models import Prefetch, QuerySet
from django.utils.translation import gettext as _

from studio.models import PromptVersion, RunResult
from studio.results.models import Found
from studio.results.round_scores import RoundScore, rounds_of
from studio.results.scores_page import spoken
from studio.results.tables import rounds_table, runs_table
from studio.results.version_scores import VersionScore, scores_before
from studio.shell.charts import Chart, Words
from studio.shell.charts.intervals import Point, Stretch, interval_chart
from studio.shell.downloads import MOST_ROWS, Table
from studio.shell.paging import Paging

RUNS_PER_PAGE = 50
MOST_DOUBTFUL = 50
"""Runs that are not the version's for certain: so many are listed, all are counted."""


@dataclass(frozen=True)
class VersionRuns:
    """What the page shows."""

    score: VersionScore
    runs: list[RunResult]
    paging: Paging
    edited: list[RunResult]
    several: list[RunResult]
    rounds: list[RoundScore]
    rounds_chart: Chart


def version_runs(version: PromptVersion, *, page: int, anyway: bool) -> VersionRuns:
    """The latest runs first."""
    found = scores_before(version.prompt_set, [version.number], anyway=anyway)
    score = found.get(version.number, VersionScore(version.number))
    paging = Paging(page, _exact(version).count(), RUNS_PER_PAGE)
    rounds = rounds_of(version.prompt_set, version.number, score.main) if score.main else []
    return VersionRuns(
        score,
        list(_exact(version)[paging.offset : paging.offset + paging.size]),
        paging,
        list(_listed(version.results.filter(found=Found.EDITED))[:MOST_DOUBTFUL]),
        _several(version),
        rounds,
        _chart(rounds),
    )


def _exact(version: PromptVersion) -> QuerySet[RunResult]:
    return _listed(version.results.filter(found=Found.EXACT))


def _listed(runs: QuerySet[RunResult]) -> QuerySet[RunResult]:
    return runs.select_related("workspace").order_by("-started_at", "-pk")


def _several(version: PromptVersion) -> list[RunResult]:
    named = PromptVersion.objects.select_related("prompt_set").only("number", "prompt_set__slug")
    runs = _listed(RunResult.objects.filter(found=Found.SEVERAL, candidates=version))
    return list(runs.prefetch_related(Prefetch("candidates", named))[:MOST_DOUBTFUL])


def _chart(rounds: list[RoundScore]) -> Chart:
    points = tuple(
        Point(
            str(each.number),
            each.estimate,
            _("Round %(number)d: %(mean)s") % {"number": each.number, "mean": spoken(each.estimate)},
        )
        for each in rounds
    )
    words = Words(
        title=_("Score per round number"),
        description=" ".join(point.says + "." for point in points),
        across=_("Round"),
        up=_("Mean score of a round (bars: 95 %)"),
    )
    return interval_chart("rounds-chart", [Stretch(points)] if points else [], words)


def tables(version: PromptVersion, page: VersionRuns) -> dict[str, Callable[[], Table]]:
    """The tables of the page by name; all runs, not only the page's."""
    name = f"{version.prompt_set.slug}-v{version.number}"
    runs = _exact(version).iterator()
    return {
        "runs": lambda: runs_table(
            f"{name}-runs", runs, page.score.copies, is_cut=page.paging.total > MOST_ROWS
        ),
        "rounds": lambda: rounds_table(f"{name}-rounds", [(version.number, page.rounds)]),
    }
