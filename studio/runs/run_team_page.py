"""A team in one run as its page shows it: each round with its score, its submission and the judgment."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from builder.errors import MissingColumn, MissingTable
from builder.leaderboard import AggregationStore, Freshness, Gap, RoundRecord, Standing
from studio.shell.charts import Chart, Series, Words, line_chart
from studio.shell.markdown import MOST_CHARACTERS, markdown
from studio.shell.numbers import score
from studio.shell.paging import Paging

ROUNDS_PER_PAGE = 10
SHOWN_CHARACTERS = 20_000
"""Of a submission on the page; the whole of it is one link away."""


@dataclass(frozen=True)
class TeamRound:
    """A round of the team; ``change`` is what its score is above that of the round before."""

    record: RoundRecord
    change: float | None
    is_best: bool
    raw: bool
    whole: bool

    @property
    def number(self) -> int:
        return self.record.round_number

    @property
    def has_page(self) -> bool:
        """Rounds count from 1; a row of another number has no address."""
        return self.number >= 1

    @property
    def took(self) -> timedelta | None:
        start, end = self.record.started_at, self.record.ended_at
        return end - start if start is not None and end is not None and end >= start else None

    @property
    def is_markdown(self) -> bool:
        return (self.record.submission_format or "md").lower() in ("md", "markdown")

    @property
    def is_cut(self) -> bool:
        return not self.whole and len(self.record.submission or "") > SHOWN_CHARACTERS

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
    places = _places(store, execution_id)
    paging = Paging(page, len(records), ROUNDS_PER_PAGE)
    best = max((each.score for each in records if each.score is not None), default=None)
    shown = [
        TeamRound(
            record,
            _change(records, at),
            len(records) > 1 and best is not None and record.score == best,
            raw,
            record.round_number == whole,
        )
        for at, record in enumerate(records)
    ]
    return RunTeam(
        team_id,
        records[-1].team_name if records else team_id,
        next((each for each in places if each.team_id == team_id), None),
        len(places),
        records,
        tuple(shown[paging.offset : paging.offset + paging.size]),
        paging,
        line_chart("metrics", _series(records), _words(records)),
        store.gaps(),
        store.freshness(),
    )


def _places(store: AggregationStore, execution_id: str) -> list[Standing]:
    try:
        return store.standings(execution_id)
    except (MissingTable, MissingColumn):
        return []


def _change(records: Sequence[RoundRecord], at: int) -> float | None:
    now, before = records[at].score, records[at - 1].score if at else None
    return None if now is None or before is None else now - before


def _series(records: Sequence[RoundRecord]) -> list[Series]:
    """The score first, then what it was made of."""
    names = list(dict.fromkeys(metric.name for record in records for metric in record.metrics))
    found = [Series(_("Score"), tuple((record.round_number, record.score) for record in records))]
    for name in names:
        points = [
            (record.round_number, next((m.score for m in record.metrics if m.name == name), None))
            for record in records
        ]
        found.append(Series(name or "–", tuple(points)))
    return found


def _words(records: Sequence[RoundRecord]) -> Words:
    said = ngettext("%(n)d round.", "%(n)d rounds.", len(records)) % {"n": len(records)}
    scored = [each for each in records if each.score is not None]
    if scored:
        best = max(scored, key=lambda each: each.score or 0.0)
        said += " " + _("The best score is %(score)s, in round %(round)d.") % {
            "score": score(best.score),
            "round": best.round_number,
        }
    return Words(_("Score and metrics by round"), said, _("Round"), _("Score"))
