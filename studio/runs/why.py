"""Why a run's first team is first: the metrics of each team's best round, and its submission beside the next.

Used by the page of a run.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.utils.safestring import SafeString

from builder.leaderboard import AggregationStore, Metric, ScoredRound, Standing
from studio.shell.markdown import markdown

HEAT_ROWS = 10
"""Teams in the table of metrics until somebody asks for all of the ranking's page."""
MOST_METRICS = 12
SHOWN_CHARACTERS = 4_000
"""Of each submission; the page of its round has the whole."""
_LEVELS = 5
_CLOSE = 5
"""Metrics named in the sentence that compares the first two."""


@dataclass(frozen=True)
class HeatCell:
    """A metric of a team's best round."""

    number: int
    """Its place among the metrics of the round, from 1: the anchor of its comment."""
    score: float | None
    comment: str
    level: int | None
    """How high it is among the teams shown, from 0; None where there is nothing to compare."""
    is_best: bool


@dataclass(frozen=True)
class HeatRow:
    """A team with its metrics, one for each column."""

    standing: Standing
    cells: tuple[HeatCell | None, ...]

    @property
    def has_page(self) -> bool:
        """Rounds count from 1; a row of another number has no address."""
        return self.standing.best_round >= 1


@dataclass(frozen=True)
class Contender:
    """One of the first two teams, in its best round."""

    standing: Standing
    scored: ScoredRound | None

    @property
    def has_page(self) -> bool:
        return self.standing.best_round >= 1

    @property
    def is_cut(self) -> bool:
        return self.scored is not None and self.scored.length > SHOWN_CHARACTERS

    @cached_property
    def html(self) -> SafeString | None:
        """The submission as Markdown; None where it has another format."""
        if self.scored is None or self.scored.submission is None:
            return None
        is_markdown = (self.scored.submission_format or "md").lower() in ("md", "markdown")
        return markdown(self.scored.submission) if is_markdown else None


@dataclass(frozen=True)
class MetricGap:
    """What the first team has more in a metric than the second."""

    name: str
    difference: float


@dataclass(frozen=True)
class Why:
    """The first two teams, what sets them apart, and the metrics of more teams."""

    contenders: tuple[Contender, ...]
    metrics: tuple[str, ...]
    metrics_left_out: int
    rows: tuple[HeatRow, ...]
    teams_left_out: int
    """Of the ranking's page."""

    @property
    def first(self) -> Standing:
        return self.contenders[0].standing

    @property
    def second(self) -> Standing | None:
        return self.contenders[1].standing if len(self.contenders) > 1 else None

    @property
    def lead(self) -> float:
        return self.first.best_score - self.second.best_score if self.second else 0.0

    @property
    def is_tied(self) -> bool:
        return self.second is not None and self.first.kept_score == self.second.kept_score

    @cached_property
    def _gaps(self) -> list[MetricGap]:
        if len(self.contenders) < 2:
            return []
        sides = [{metric.name: metric.score for metric in _metrics(side.scored)} for side in self.contenders]
        gaps = [
            MetricGap(name, score - other)
            for name, score in sides[0].items()
            if score is not None and (other := sides[1].get(name)) is not None
        ]
        return sorted(gaps, key=lambda gap: -abs(gap.difference))

    @property
    def ahead(self) -> list[MetricGap]:
        return [gap for gap in self._gaps if gap.difference > 0][:_CLOSE]

    @property
    def behind(self) -> list[MetricGap]:
        return [gap for gap in self._gaps if gap.difference < 0][:_CLOSE]


def read_why(
    store: AggregationStore,
    execution_id: str,
    standings: Sequence[Standing],
    shown: Sequence[Standing],
    *,
    every: bool,
) -> Why | None:
    """None without a ranking. ``shown`` are the teams of the page; ``every`` asks for the metrics of all."""
    if not standings:
        return None
    first = standings[:2]
    listed = shown if every else shown[:HEAT_ROWS]
    texts = store.across.scored_rounds(execution_id, map(_place, first), characters=SHOWN_CHARACTERS)
    scored = store.across.scored_rounds(execution_id, map(_place, listed)) if listed else {}
    names = list(dict.fromkeys(metric.name for found in scored.values() for metric in found.metrics))
    columns = names[:MOST_METRICS]
    of_team = [(standing, _by_name(scored.get(_place(standing)))) for standing in listed]
    bounds = [_bounds(metrics.get(name) for _standing, metrics in of_team) for name in columns]
    rows = tuple(
        HeatRow(
            standing,
            tuple(_cell(metrics.get(name), bound) for name, bound in zip(columns, bounds, strict=True)),
        )
        for standing, metrics in of_team
    )
    return Why(
        tuple(Contender(standing, texts.get(_place(standing))) for standing in first),
        tuple(columns),
        len(names) - len(columns),
        rows if columns else (),
        len(shown) - len(listed),
    )


def _place(standing: Standing) -> tuple[str, int]:
    return standing.team_id, standing.best_round


def _metrics(scored: ScoredRound | None) -> tuple[Metric, ...]:
    return scored.metrics if scored is not None else ()


def _by_name(scored: ScoredRound | None) -> dict[str, tuple[int, Metric]]:
    """The metrics with their places; of two that have one name, the first."""
    found: dict[str, tuple[int, Metric]] = {}
    for number, metric in enumerate(_metrics(scored), start=1):
        found.setdefault(metric.name, (number, metric))
    return found


def _bounds(metrics: Iterable[tuple[int, Metric] | None]) -> tuple[float, float] | None:
    """The lowest and the highest score; None where fewer than two teams have one."""
    scores = [each[1].score for each in metrics if each is not None and each[1].score is not None]
    return (min(scores), max(scores)) if len(scores) > 1 else None


def _cell(found: tuple[int, Metric] | None, bounds: tuple[float, float] | None) -> HeatCell | None:
    if found is None:
        return None
    number, metric = found
    if metric.score is None or bounds is None:
        return HeatCell(number, metric.score, metric.comment, None, False)
    low, high = bounds
    # Halves, for the difference of two large numbers may be none.
    share = (metric.score / 2 - low / 2) / (high / 2 - low / 2) if high / 2 > low / 2 else 1.0
    return HeatCell(number, metric.score, metric.comment, round(share * (_LEVELS - 1)), metric.score == high)
