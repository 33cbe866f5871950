"""The page of two runs side by side: by how much they differ, and what limits the comparison.

Used by the view of the comparison.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean
from typing import NamedTuple

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
from studio.runs.reading import score_change
from studio.shell.charts import Chart, Series, Words, line_chart
from studio.shell.downloads import Cell, Table

_ASKED = 5
"""Teams that are looked at for the metrics they were measured by."""


RoundUrl = Callable[[str, str, int], str]
"""The address of a round by run, team and number; without a team, that of the run."""


class RoundFigures(NamedTuple):
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
        return score_change(self.first.best, self.second.best)


@dataclass(frozen=True)
class MetricPair:
    """A metric of both winners' best rounds."""

    name: str
    first: float | None
    second: float | None

    @property
    def delta(self) -> float | None:
        return score_change(self.first, self.second)


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
    store: AggregationStore,
    first: str,
    second: str,
    now: datetime,
    round_url: RoundUrl,
    team_id: str | None = None,
) -> RunComparison:
    """Raises ``UnknownExecution`` where one of them is not known."""
    both = store.across.compare(first, second, order=store.dialect.ranking_order, now=now)
    team = next((team for team in both.teams if team.team_id == team_id), None)
    points = [store.scores(run, None if team is None else team.team_id) for run in (first, second)]
    best = [_best_first(both.teams if team is None else (team,), side) for side in ("first", "second")]
    winners = [_metrics(store, run, teams[:1]) for run, teams in zip((first, second), best, strict=True)]
    # A winner without metrics tells nothing about how the others were measured.
    measured = [_metrics(store, run, teams) for run, teams in zip((first, second), best, strict=True)]
    names = [{metric.name for metric in metrics} for metrics in measured]
    other_metrics = bool(names[0] and names[1] and names[0] != names[1])
    return RunComparison(
        executions=both,
        rounds=_rounds(*points),
        metrics=_pairs(*winners),
        cautions=tuple(_cautions(both, names if other_metrics else [])),
        chart=_chart(list(zip((first, second), points, strict=True)), team, round_url),
        other_metrics=other_metrics,
        team=team,
    )


def _best_first(teams: Sequence[TeamDelta], side: str) -> list[Standing]:
    """The best teams of a side."""
    standings: list[Standing] = [place for team in teams if (place := getattr(team, side)) is not None]
    return sorted(standings, key=lambda place: place.rank)[:_ASKED]


def _metrics(store: AggregationStore, execution_id: str, teams: Sequence[Standing]) -> tuple[Metric, ...]:
    """Of the best round of the first of the teams that has metrics at all."""
    for team in teams:
        for record in store.rounds(execution_id, team.team_id):
            if record.round_number == team.best_round and record.metrics:
                return record.metrics
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


def _cautions(both: ExecutionComparison, other_metrics: Sequence[set[str]]) -> Iterator[str]:
    """What a reader must know before believing a difference."""
    if other_metrics:
        first, second = map(_listed, other_metrics)
        yield _("Metrics differ: not comparable. First run: %(first)s, second run: %(second)s.") % {
            "first": first,
            "second": second,
        }
    tasks = both.first.user_prompt, both.second.user_prompt
    if None in tasks:
        yield _("The task of an unfinished run is not stored, so the tasks may differ.")
    elif tasks[0] != tasks[1]:
        yield _("Tasks differ: a harder task gives lower scores.")
    states = {run.state for run in (both.first, both.second)}
    if "running" in states:
        yield _("One of them is still running: its scores will change.")
    elif states != {"completed"}:
        yield _("Not every team finished, or it is unknown whether it did.")
    rounds = both.first.rounds, both.second.rounds
    if rounds[0] != rounds[1]:
        said = [ngettext("%(n)d round", "%(n)d rounds", count) % {"n": count} for count in rounds]
        yield _("%(first)s versus %(second)s: more rounds tend to give a higher best score.") % {
            "first": said[0],
            "second": said[1],
        }
    if both.teams and not any(team.first and team.second for team in both.teams):
        yield _("No team took part in both.")


def _listed(names: set[str]) -> str:
    shown = sorted(names)[:6]
    return _(", ").join(shown) + ("…" if len(names) > len(shown) else "")


def _chart(
    sides: Sequence[tuple[str, Sequence[ScorePoint]]], team: TeamDelta | None, round_url: RoundUrl
) -> Chart:
    """The best of a round leads to the round of the team that has it, a mean to its run."""
    best, means = [], []
    for name, (run, points) in zip((_("First"), _("Second")), sides, strict=True):
        figures = sorted(_figures(points).items())
        leaders = {point.round_number: point for point in sorted(points, key=lambda point: point.score or 0)}
        urls = {number: round_url(run, leader.team_id, number) for number, leader in leaders.items()}
        best.append(Series(name, tuple((number, of.best) for number, of in figures), urls))
        means.append(
            Series(
                _("%(name)s, mean") % {"name": name},
                tuple((number, of.mean) for number, of in figures),
                {number: round_url(run, "", number) for number, _of in figures},
            )
        )
    series = best if team else best + means
    if team is None:
        title = _("Best and mean score of each round")
    else:
        title = _("Score of %(team)s in each round") % {"team": team.team_name}
    words = Words(
        title=title,
        description=_("One line per run; the table has the numbers."),
        across=_("Round"),
        up=_("Score"),
    )
    return line_chart("compare-chart", [line for line in series if line.points], words)


# --- as files ----------------------------------------------------------------------------


def comparison_tables(comparison: RunComparison, *, apart: bool) -> dict[str, Callable[[], Table]]:
    """The tables of the page by name. ``apart``: measured differently, so that no difference is told."""
    both = ("first_{}", "second_{}")
    of_teams = [side.format(figure) for side in both for figure in ("rank", "best_score", "rounds")]
    of_rounds = [side.format(figure) for side in both for figure in RoundFigures._fields]
    teams = (
        (
            team.team_id,
            team.team_name,
            *_cells(team.first),
            *_cells(team.second),
            None if apart else team.delta,
        )
        for team in comparison.teams
    )
    rounds = (
        (pair.number, *pair.first, *pair.second, None if apart else pair.delta) for pair in comparison.rounds
    )
    metrics = (
        (pair.name, pair.first, pair.second, None if apart else pair.delta) for pair in comparison.metrics
    )
    return {
        "teams": lambda: Table("compared-teams", ("team_id", "team_name", *of_teams, "difference"), teams),
        "rounds": lambda: Table("compared-rounds", ("round", *of_rounds, "difference_of_best"), rounds),
        "metrics": lambda: Table("compared-metrics", ("metric", "first", "second", "difference"), metrics),
    }


def _cells(standing: Standing | None) -> tuple[Cell, Cell, Cell]:
    if standing is None:
        return None, None, None
    return standing.rank, standing.best_score, standing.rounds
