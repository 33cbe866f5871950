"""Pages of a team's rounds in one run: all of them on the team's page, and each on a page of its own.

Used by the views of runs and rounds, of replays and of sample contexts made from rounds.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from builder.cache import tokens
from builder.cache.tokens import TokenCount
from builder.errors import LeaderboardError, MissingColumn, MissingTable
from builder.leaderboard import (
    AggregationStore,
    DeliveredPrompt,
    Freshness,
    Gap,
    Metric,
    RoundRecord,
    Standing,
)
from studio.contexts.pasted_json import write_details
from studio.runs.reading import score_change
from studio.runs.run_page import metrics_table, rounds_table
from studio.shell.charts import Chart, Series, Words, line_chart
from studio.shell.downloads import Table
from studio.shell.language import reader_language
from studio.shell.markdown import MOST_CHARACTERS, markdown
from studio.shell.numbers import score
from studio.shell.paging import Paging
from studio.shell.refusal import RequestRefused

MOST_SHOWN = 200_000
"""Characters of a text that a page shows; a browser that lays out a million stops answering."""
ROUNDS_PER_PAGE = 10
SHOWN_CHARACTERS = 20_000
"""Of a submission on the team's page; the whole of it is one link away."""


@dataclass(frozen=True)
class StoredText:
    """A text out of the database; a very long one is cut on the page, and whole as a file."""

    text: str

    @property
    def shown(self) -> str:
        return self.text[:MOST_SHOWN]

    @property
    def is_cut(self) -> bool:
        return len(self.text) > MOST_SHOWN

    @property
    def formatted(self) -> SafeString:
        """Read as Markdown; it can do nothing to the page."""
        return markdown(self.shown)

    @property
    def characters(self) -> int:
        return len(self.text)

    @cached_property
    def tokens(self) -> TokenCount:
        return tokens.recount(self.text)


@dataclass(frozen=True)
class RoundAmongOthers:
    """A stored round with all rounds of its team, by number."""

    record: RoundRecord
    rounds: tuple[RoundRecord, ...]

    @property
    def number(self) -> int:
        return self.record.round_number

    @property
    def has_page(self) -> bool:
        """Rounds count from 1; a row of another number has no address."""
        return self.number >= 1

    @property
    def previous(self) -> RoundRecord | None:
        before = [record for record in self.rounds if 1 <= record.round_number < self.number]
        return before[-1] if before else None

    @property
    def change(self) -> float | None:
        """What the score is above that of the round before."""
        return score_change(self.previous.score, self.record.score) if self.previous else None

    @property
    def is_best(self) -> bool:
        """Whether no other round of the team has a higher score."""
        scores = [record.score for record in self.rounds if record.score is not None]
        return len(scores) > 1 and self.record.score is not None and self.record.score >= max(scores)

    @property
    def duration(self) -> timedelta | None:
        start, end = self.record.started_at, self.record.ended_at
        return end - start if start is not None and end is not None and end >= start else None

    @property
    def is_markdown(self) -> bool:
        """As nearly every submission; another format is shown as it was written."""
        return (self.record.submission_format or "md").lower() in ("md", "markdown")


# --- one round ---------------------------------------------------------------------------


@dataclass(frozen=True)
class MetricChange:
    """A metric with what it has more than in the round before."""

    metric: Metric
    change: float | None


@dataclass(frozen=True)
class RoundPage(RoundAmongOthers):
    """What the page of one round shows."""

    delivered: DeliveredPrompt | None
    not_delivered: str
    """Why there is no prompt to show."""
    freshness: Freshness
    gaps: tuple[Gap, ...]
    """What the database lacks."""

    @property
    def next(self) -> RoundRecord | None:
        return next((record for record in self.rounds if record.round_number > self.number), None)

    @property
    def metrics(self) -> list[MetricChange]:
        before: Mapping[str, float | None] = {}
        if self.previous is not None:
            before = {metric.name: metric.score for metric in self.previous.metrics}
        return [
            MetricChange(metric, score_change(before.get(metric.name), metric.score))
            for metric in self.record.metrics
        ]

    @property
    def other_details(self) -> str:
        """What the score's details say beside the metrics, where they are not in MixSeek's shape."""
        details = self.record.score_details or {}
        known = {"overall_score", "metrics"} if self.record.metrics else {"overall_score"}
        others = {name: value for name, value in details.items() if name not in known}
        return write_details(others) if others else ""

    @cached_property
    def submission(self) -> StoredText | None:
        return None if self.record.submission is None else StoredText(self.record.submission)

    @cached_property
    def prompt(self) -> StoredText | None:
        return None if self.delivered is None else StoredText(self.delivered.text)

    @cached_property
    def previous_steps(self) -> StoredText | None:
        """What the steps of a workflow before had answered, as JSON."""
        steps = self.delivered.previous_steps if self.delivered is not None else None
        return None if steps is None else StoredText(write_details(dict(steps)))


def read_round(store: AggregationStore, execution_id: str, team_id: str, number: int) -> RoundPage:
    """The round; refused with a 404 where the team has none of this number."""
    rounds = tuple(store.rounds(execution_id, team_id))
    record = next((record for record in rounds if record.round_number == number), None)
    if record is None:
        raise RequestRefused(404, _("The team has no such round in this run."))
    try:
        delivered, why = store.delivered(execution_id, team_id, number), ""
    except LeaderboardError as error:
        delivered, why = None, error.text(reader_language())
    return RoundPage(record, rounds, delivered, why, store.freshness(), store.gaps())


# --- all rounds of a team ----------------------------------------------------------------


@dataclass(frozen=True)
class TeamRound(RoundAmongOthers):
    """A round on its team's page; ``raw`` and ``whole`` say how its submission is wanted."""

    raw: bool
    whole: bool

    @property
    def is_cut(self) -> bool:
        return not self.whole and self.length > SHOWN_CHARACTERS

    @property
    def length(self) -> int:
        return len(self.record.submission or "")

    @property
    def text(self) -> str:
        """The submission as it was written, cut where it is very long."""
        written = self.record.submission or ""
        return written[:SHOWN_CHARACTERS] if self.is_cut else written

    @cached_property
    def html(self) -> SafeString | None:
        """The submission as Markdown; ``None`` where it is shown as it was written."""
        if self.raw or not self.is_markdown or len(self.text) > MOST_CHARACTERS:
            return None
        return markdown(self.text)


@dataclass(frozen=True)
class RunTeam:
    """The team, its place, and a page of its rounds."""

    team_id: str
    team_name: str
    standing: Standing | None
    of: int
    """How many teams have a place."""
    records: tuple[RoundRecord, ...]
    rounds: tuple[TeamRound, ...]
    paging: Paging
    chart: Chart
    gaps: tuple[Gap, ...]
    freshness: Freshness


def read_run_team(
    store: AggregationStore, execution_id: str, team_id: str, *, page: int, raw: bool, whole: int | None
) -> RunTeam:
    """Raises where the run or the team is unknown, or where nothing can be read."""
    records = tuple(store.rounds(execution_id, team_id))
    try:
        places = store.standings(execution_id)
    except (MissingTable, MissingColumn):
        places = []
    paging = Paging(page, len(records), ROUNDS_PER_PAGE)
    return RunTeam(
        team_id,
        records[-1].team_name if records else team_id,
        next((place for place in places if place.team_id == team_id), None),
        len(places),
        records,
        tuple(
            TeamRound(record, records, raw, record.round_number == whole)
            for record in records[paging.offset : paging.offset + paging.size]
        ),
        paging,
        line_chart("metrics", _series(records), _words(records)),
        store.gaps(),
        store.freshness(),
    )


def team_tables(execution_id: str, team: RunTeam) -> dict[str, Callable[[], Table]]:
    """The tables of the team's page by name."""
    name = f"run-{execution_id[:8]}-{team.team_id}"
    return {
        "rounds": lambda: rounds_table(f"{name}-rounds", team.records),
        "metrics": lambda: metrics_table(f"{name}-metrics", team.records),
    }


def _series(records: Sequence[RoundRecord]) -> list[Series]:
    """The score first, then what it was made of."""
    names = dict.fromkeys(metric.name for record in records for metric in record.metrics)
    numbers = [record.round_number for record in records]
    # Beside the team's own page; rounds count from 1, a row of another number has no address.
    urls = {number: f"rounds/{number}/" for number in numbers if number >= 1}
    series = [Series(_("Score"), tuple((record.round_number, record.score) for record in records), urls)]
    for name in names:
        points = [
            (record.round_number, next((m.score for m in record.metrics if m.name == name), None))
            for record in records
        ]
        series.append(Series(name or "–", tuple(points), urls))
    return series


def _words(records: Sequence[RoundRecord]) -> Words:
    said = ngettext("%(n)d round.", "%(n)d rounds.", len(records)) % {"n": len(records)}
    scored = [record for record in records if record.score is not None]
    if scored:
        best = max(scored, key=lambda record: record.score or 0.0)
        said += " " + _("The best score is %(score)s, in round %(round)d.") % {
            "score": score(best.score),
            "round": best.round_number,
        }
    return Words(_("Score and metrics by round"), said, _("Round"), _("Score"))
