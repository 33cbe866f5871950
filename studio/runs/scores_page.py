"""The page of a workspace's scores: how they spread over all, by team, and from run to run.

Used by the view of scores.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from builder.errors import DatabaseMissing
from builder.leaderboard import AggregationStore, Distribution, Execution, ScoresOf, TeamSummary
from studio.shell.charts import Chart, Group, Words, strip_chart
from studio.shell.charts.boxes import Box, box_chart, spread_chart
from studio.shell.downloads import Table
from studio.shell.numbers import score

MOST_GROUPS = 20
"""Rows of a chart: the teams that ran most often, or the latest runs."""
TEAMS_OFFERED = 200

_NONE = Distribution(0)


@dataclass(frozen=True)
class ScoreGroup:
    """The scores of a team, or of a run."""

    key: str
    name: str
    scores: Distribution
    run: Execution | None = None


GroupUrl = Callable[[ScoreGroup], str]
"""Where the row of a group leads; nowhere where it is empty."""


@dataclass(frozen=True)
class Scores:
    """What a page about scores shows."""

    whole: Distribution = Distribution(0)  # noqa: RUF009 (frozen)
    chart: Chart = Chart()  # noqa: RUF009 (frozen)
    groups: tuple[ScoreGroup, ...] = ()
    groups_chart: Chart = Chart()  # noqa: RUF009 (frozen)
    groups_total: int = 0
    teams: tuple[TeamSummary, ...] = ()
    """Those that can be chosen, by name."""
    chosen: TeamSummary | None = None
    has_partial: bool = False
    """Whether teams failed, or ran out of time, after some rounds."""

    @property
    def is_cut(self) -> bool:
        return self.groups_total > len(self.groups)


def read_scores(
    store: AggregationStore,
    of: ScoresOf,
    by: str,
    team_id: str | None,
    now: datetime,
    *,
    partial: bool,
    group_url: GroupUrl,
) -> Scores:
    """Of every round, or of each team's best in each run; for all teams or for one. ``partial``: with those
    of teams that did not finish."""
    try:
        whole = store.across.distribution(of=of, team_id=team_id, partial=partial)
    except DatabaseMissing:
        return Scores()
    if by == "runs" or team_id is not None:
        groups = _by_run(store, of, team_id, now, partial=partial)
        total = store.count_executions(team=team_id, now=now)
    else:
        groups = _by_team(store, of, partial=partial)
        total = store.across.count_teams()
    return Scores(
        whole,
        _whole_chart(whole, of),
        groups,
        _groups_chart(groups, of, group_url),
        total,
        teams=tuple(store.across.teams(order="name", limit=TEAMS_OFFERED)),
        chosen=None if team_id is None else store.across.team(team_id),
        has_partial=bool(store.across.unfinished()),
    )


def _by_team(store: AggregationStore, of: ScoresOf, *, partial: bool) -> tuple[ScoreGroup, ...]:
    teams = store.across.teams(order="executions", limit=MOST_GROUPS)
    spreads = store.across.spreads("team", [team.team_id for team in teams], of=of, partial=partial)
    return tuple(
        ScoreGroup(team.team_id, team.name or "–", spreads.get(team.team_id, _NONE)) for team in teams
    )


def _by_run(
    store: AggregationStore, of: ScoresOf, team_id: str | None, now: datetime, *, partial: bool
) -> tuple[ScoreGroup, ...]:
    runs = store.executions(team=team_id, limit=MOST_GROUPS, now=now)
    spreads = store.across.spreads(
        "execution", [run.execution_id for run in runs], of=of, team_id=team_id, partial=partial
    )
    return tuple(
        ScoreGroup(run.execution_id, _run_name(run), spreads.get(run.execution_id, _NONE), run)
        for run in runs
    )


def _run_name(run: Execution) -> str:
    short = run.execution_id[:8] or "–"
    if run.started_at is None:
        return short
    return f"{date_format(localtime(run.started_at), 'SHORT_DATE_FORMAT')} · {short}"


def _whole_chart(whole: Distribution, of: ScoresOf) -> Chart:
    if not whole.count:
        return Chart()
    figures = {
        "scores": ngettext("%(n)d score", "%(n)d scores", whole.count) % {"n": whole.count},
        "low": score(whole.lower_quartile),
        "high": score(whole.upper_quartile),
        "median": score(whole.median),
    }
    words = Words(
        title=_("Score distribution"),
        description=_("%(scores)s; half of them lie from %(low)s to %(high)s, the median is %(median)s.")
        % figures,
        across=_across(of),
        up=_("Number of scores"),
    )
    return spread_chart("spread-chart", whole, words)


def _groups_chart(groups: Sequence[ScoreGroup], of: ScoresOf, group_url: GroupUrl) -> Chart:
    words = Words(
        title=_("Scores side by side"),
        description=_("One row each: box for the middle half, line and number for the median."),
        across=_across(of),
    )
    # With all its values each row has its dots; of some, boxes alone say more.
    if all(len(group.scores.values) == group.scores.count for group in groups):
        rows = [Group(group.name, group.scores.values, group_url(group)) for group in groups]
        return strip_chart("groups-chart", rows, words)
    boxes = [Box(group.name, group.scores, group_url(group)) for group in groups]
    return box_chart("groups-chart", boxes, words)


def _across(of: ScoresOf) -> str:
    return _("Score of a round") if of == "rounds" else _("Best score of a team in a run")


# --- as files ----------------------------------------------------------------------------


def tables(scores: Scores, by: str) -> dict[str, Callable[[], Table]]:
    """The tables of the page by name."""
    of = "run" if by == "runs" else "team"
    columns = f"{'execution' if of == 'run' else of}_id=key name scores=scores.count " + " ".join(
        f"{figure}=scores.{figure}"
        for figure in ("minimum", "lower_quartile", "median", "upper_quartile", "maximum", "mean")
    )
    return {
        "bins": lambda: Table.of("score-distribution", scores.whole.bins, "from=low below=high scores=count"),
        "groups": lambda: Table.of(f"scores-by-{of}", scores.groups, columns),
    }
