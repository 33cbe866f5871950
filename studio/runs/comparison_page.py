"""Two executions side by side: what can be compared, what cannot, and by how much they differ."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from builder.leaderboard import (
    AggregationStore,
    Execution,
    ExecutionComparison,
    Metric,
    ScorePoint,
    Standing,
    TeamDelta,
)
from studio.shell.charts import Chart, Series, Words, line_chart
from studio.shell.downloads import Cell, Table

_ASKED = 5
"""Teams that are looked at for the metrics they were measured by."""


@dataclass(frozen=True)
class RoundFigures:
    """The scores of all teams in one round of one execution."""

    best: float | None = None
    mean: float | None = None
    teams: int = 0


@dataclass(frozen=True)
class RoundPair:
    """One round of both executions."""

    number: int
    first: RoundFigures
    second: RoundFigures

    @property
    def delta(self) -> float | None:
        """By how much the second one's best is higher."""
        return _difference(self.first.best, self.second.best)


@dataclass(frozen=True)
class MetricPair:
    """A metric of both winners' best rounds."""

    name: str
    first: float | None
    second: float | None

    @property
    def delta(self) -> float | None:
        return _difference(self.first, self.second)


@dataclass(frozen=True)
class RunComparison:
    """Two executions, their teams, rounds and metrics; ``cautions`` say what limits the comparison."""

    executions: ExecutionComparison
    rounds: tuple[RoundPair, ...]
    metrics: tuple[MetricPair, ...]
    cautions: tuple[str, ...]
    chart: Chart
    other_metrics: bool = False
    """Not scored by the same metrics."""
    team: TeamDelta | None = None
    """The one that the rounds are narrowed to."""

    @property
    def first(self) -> Execution:
        return self.executions.first

    @property
    def second(self) -> Execution:
        return self.executions.second

    @property
    def teams(self) -> Sequence[TeamDelta]:
        return self.executions.teams

    @property
    def shared(self) -> list[TeamDelta]:
        """Teams that took part in both."""
        return [team for team in self.teams if team.first is not None and team.second is not None]

    @property
    def mean_delta(self) -> float | None:
        """By how much the shared teams are better in the second one, on average."""
        deltas = [team.delta for team in self.shared if team.delta is not None]
        return fmean(deltas) if deltas else None

    @property
    def better(self) -> int:
        """Shared teams with a higher best score in the second one."""
        return sum(1 for team in self.shared if team.delta is not None and round(team.delta, 2) > 0)

    @property
    def same_task(self) -> bool:
        return self.first.user_prompt is not None and self.first.user_prompt == self.second.user_prompt


def compare_runs(
    store: AggregationStore, first: str, second: str, now: datetime, team_id: str | None = None
) -> RunComparison:
    """Raises ``UnknownExecution`` where one of them is not known."""
    found = store.across.compare(first, second, order=store.dialect.ranking_order, now=now)
    team = next((each for each in found.teams if each.team_id == team_id), None)
    narrowed = None if team is None else team.team_id
    sides = [store.scores(each, narrowed) for each in (first, second)]
    best = [_best_first(team, found, side) for side in ("first", "second")]
    metrics = [_metrics(store, each, teams[:1]) for each, teams in zip((first, second), best, strict=True)]
    # A winner without metrics tells nothing about how the others were measured.
    rulers = [_metrics(store, each, teams) for each, teams in zip((first, second), best, strict=True)]
    return RunComparison(
        executions=found,
        rounds=_rounds(*sides),
        metrics=_pairs(*metrics),
        cautions=tuple(_cautions(found, *rulers)),
        chart=_chart(found, sides, team),
        other_metrics=_other_metrics(*rulers),
        team=team,
    )


def _best_first(team: TeamDelta | None, found: ExecutionComparison, side: str) -> list[Standing]:
    """The team looked at, or else the best ones of a side."""
    teams = found.teams if team is None else (team,)
    standings: list[Standing] = [standing for each in teams if (standing := getattr(each, side)) is not None]
    return sorted(standings, key=lambda standing: standing.rank)[:_ASKED]


def _metrics(store: AggregationStore, execution_id: str, teams: Sequence[Standing]) -> tuple[Metric, ...]:
    """Of the best round of the first of the teams that has metrics at all."""
    for team in teams:
        for each in store.rounds(execution_id, team.team_id):
            if each.round_number == team.best_round and each.metrics:
                return each.metrics
    return ()


def _pairs(first: Sequence[Metric], second: Sequence[Metric]) -> tuple[MetricPair, ...]:
    one, other = ({metric.name: metric.score for metric in side} for side in (first, second))
    return tuple(MetricPair(name, one.get(name), other.get(name)) for name in dict.fromkeys([*one, *other]))


def _rounds(first: Sequence[ScorePoint], second: Sequence[ScorePoint]) -> tuple[RoundPair, ...]:
    one, other = _figures(first), _figures(second)
    none = RoundFigures()
    return tuple(
        RoundPair(number, one.get(number, none), other.get(number, none))
        for number in sorted(one.keys() | other.keys())
    )


def _figures(points: Sequence[ScorePoint]) -> dict[int, RoundFigures]:
    by_round: dict[int, list[float]] = {}
    for point in points:
        scores = by_round.setdefault(point.round_number, [])
        if point.score is not None and math.isfinite(point.score):
            scores.append(point.score)
    return {
        number: RoundFigures(max(scores), fmean(scores), len(scores)) if scores else RoundFigures()
        for number, scores in by_round.items()
    }


def _other_metrics(first: Sequence[Metric], second: Sequence[Metric]) -> bool:
    one, other = ({metric.name for metric in side} for side in (first, second))
    return bool(one and other and one != other)


def _cautions(found: ExecutionComparison, first: Sequence[Metric], second: Sequence[Metric]) -> Iterator[str]:
    """What a reader must know before believing a difference."""
    if _other_metrics(first, second):
        one, other = ({metric.name for metric in side} for side in (first, second))
        names = {"first": _listed(one), "second": _listed(other)}
        yield (
            _(
                "They were measured by different metrics, so their scores are not the same ruler:"
                " %(first)s in the first, %(second)s in the second."
            )
            % names
        )
    tasks = found.first.user_prompt, found.second.user_prompt
    if None in tasks:
        yield _("The task of a run that is not over is not stored, so it may be another one.")
    elif tasks[0] != tasks[1]:
        yield _("They had different tasks: how hard a task is shows in its scores.")
    unfinished = [each for each in (found.first, found.second) if each.state != "completed"]
    if any(each.state == "running" for each in unfinished):
        yield _("One of them is still running: its figures will change.")
    elif unfinished:
        yield _("Not every team reached the end, or it is not known whether it did.")
    rounds = found.first.rounds, found.second.rounds
    if rounds[0] != rounds[1]:
        said = ngettext("%(n)d round", "%(n)d rounds", rounds[0]) % {"n": rounds[0]}
        against = ngettext("%(n)d round", "%(n)d rounds", rounds[1]) % {"n": rounds[1]}
        yield _("%(first)s against %(second)s: more rounds give more chances for a high best score.") % {
            "first": said,
            "second": against,
        }
    if found.teams and not any(each.first and each.second for each in found.teams):
        yield _("No team took part in both.")


def _listed(names: set[str]) -> str:
    shown = sorted(names)[:6]
    return ", ".join(shown) + ("…" if len(names) > len(shown) else "")


def _chart(
    found: ExecutionComparison, sides: Sequence[Sequence[ScorePoint]], team: TeamDelta | None
) -> Chart:
    names = (_("First"), _("Second"))
    series = []
    for name, points in zip(names, sides, strict=True):
        figures = sorted(_figures(points).items())
        series.append(Series(name, tuple((number, each.best) for number, each in figures)))
    if team is None:
        for name, points in zip(names, sides, strict=True):
            figures = sorted(_figures(points).items())
            mean = _("%(name)s, mean") % {"name": name}
            series.append(Series(mean, tuple((number, each.mean) for number, each in figures)))
        title = _("Best and mean score of each round")
    else:
        title = _("Score of %(team)s in each round") % {"team": team.team_name}
    words = Words(
        title=title,
        description=_("A line for each run; the table beside it has the numbers."),
        across=_("Round"),
        up=_("Score"),
    )
    return line_chart("compare-chart", [each for each in series if each.points], words)


def _difference(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before


# --- as files ----------------------------------------------------------------------------
# ``apart``: measured with different rulers, so that no difference is told.


def teams_table(comparison: RunComparison, *, apart: bool) -> Table:
    columns = (
        "team_id",
        "team_name",
        "first_rank",
        "first_best_score",
        "first_rounds",
        "second_rank",
        "second_best_score",
        "second_rounds",
        "difference",
    )
    rows = (
        (
            team.team_id,
            team.team_name,
            *_cells(team.first),
            *_cells(team.second),
            None if apart else team.delta,
        )
        for team in comparison.teams
    )
    return Table("compared-teams", columns, rows)


def _cells(standing: Standing | None) -> tuple[Cell, Cell, Cell]:
    if standing is None:
        return None, None, None
    return standing.rank, standing.best_score, standing.rounds


def rounds_table(comparison: RunComparison, *, apart: bool) -> Table:
    columns = (
        "round",
        "first_best",
        "first_mean",
        "first_teams",
        "second_best",
        "second_mean",
        "second_teams",
        "difference_of_best",
    )
    rows = (
        (
            pair.number,
            pair.first.best,
            pair.first.mean,
            pair.first.teams,
            pair.second.best,
            pair.second.mean,
            pair.second.teams,
            None if apart else pair.delta,
        )
        for pair in comparison.rounds
    )
    return Table("compared-rounds", columns, rows)


def metrics_table(comparison: RunComparison, *, apart: bool) -> Table:
    rows = (
        (pair.name, pair.first, pair.second, None if apart else pair.delta) for pair in comparison.metrics
    )
    return Table("compared-metrics", ("metric", "first", "second", "difference"), rows)
