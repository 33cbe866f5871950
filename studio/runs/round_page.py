"""One round of one team, as its page shows it: what was sent, what came back, how it was judged."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property

from django.utils.safestring import SafeString

from builder.cache import tokens
from builder.cache.tokens import TokenCount
from builder.errors import LeaderboardError
from builder.leaderboard import AggregationStore, DeliveredPrompt, Freshness, Gap, Metric, RoundRecord
from studio.contexts.pasted_json import write_details
from studio.shell.language import reader_language
from studio.shell.markdown import markdown

MOST_SHOWN = 200_000
"""Characters of a text that a page shows; a browser that lays out a million stops answering."""


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
class MetricChange:
    """A metric with what the round before had in it."""

    metric: Metric
    change: float | None


@dataclass(frozen=True)
class Round:
    """A stored round among the team's others."""

    record: RoundRecord
    rounds: tuple[RoundRecord, ...]
    """All of the team's, by number."""
    delivered: DeliveredPrompt | None
    not_delivered: str = ""
    """Why there is no prompt to show."""
    freshness: Freshness | None = None
    gaps: tuple[Gap, ...] = ()
    """What the database lacks."""

    @property
    def previous(self) -> RoundRecord | None:
        before = [each for each in self.rounds if each.round_number < self.record.round_number]
        return before[-1] if before and before[-1].round_number >= 1 else None

    @property
    def next(self) -> RoundRecord | None:
        number = self.record.round_number
        return next((each for each in self.rounds if each.round_number > number), None)

    @property
    def change(self) -> float | None:
        """What the score is above that of the round before."""
        return _change(self.record.score, self.previous.score if self.previous else None)

    @property
    def is_best(self) -> bool:
        """Whether no other round of the team has a higher score."""
        scores = [each.score for each in self.rounds if each.score is not None]
        return len(scores) > 1 and self.record.score is not None and self.record.score >= max(scores)

    @property
    def metrics(self) -> list[MetricChange]:
        before: Mapping[str, float | None] = {}
        if self.previous is not None:
            before = {metric.name: metric.score for metric in self.previous.metrics}
        return [
            MetricChange(metric, _change(metric.score, before.get(metric.name)))
            for metric in self.record.metrics
        ]

    @property
    def other_details(self) -> str:
        """What the score's details say beside the metrics, where they are not in MixSeek's shape."""
        details = self.record.score_details or {}
        known = {"overall_score", "metrics"} if self.record.metrics else {"overall_score"}
        others = {name: value for name, value in details.items() if name not in known}
        return write_details(others) if others else ""

    @property
    def duration(self) -> timedelta | None:
        start, end = self.record.started_at, self.record.ended_at
        return end - start if start is not None and end is not None and end >= start else None

    @property
    def is_markdown(self) -> bool:
        """As nearly every submission; another format is shown as it was written."""
        return (self.record.submission_format or "md").lower() in ("md", "markdown")

    @cached_property
    def submission(self) -> StoredText | None:
        return None if self.record.submission is None else StoredText(self.record.submission)

    @cached_property
    def prompt(self) -> StoredText | None:
        return None if self.delivered is None else StoredText(self.delivered.text)


def read_round(store: AggregationStore, execution_id: str, team_id: str, number: int) -> Round | None:
    """The round; ``None`` where the team has none of this number. Raises where the store cannot tell."""
    rounds = tuple(store.rounds(execution_id, team_id))
    record = next((each for each in rounds if each.round_number == number), None)
    if record is None:
        return None
    try:
        delivered, why = store.delivered(execution_id, team_id, number), ""
    except LeaderboardError as error:
        delivered, why = None, error.text(reader_language())
    return Round(record, rounds, delivered, why, store.freshness(), store.gaps())


def _change(now: float | None, before: float | None) -> float | None:
    return None if now is None or before is None else now - before
