"""Pages of teams over all runs of a workspace: the list of teams, and one team from run to run.

Used by the views of teams.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from builder.errors import DatabaseMissing
from builder.leaderboard import AggregationStore, TeamOrder, TeamRun, TeamSummary
from studio.runs.reading import score_change
from studio.shell.charts import Chart, Series, Words, line_chart
from studio.shell.downloads import MOST_ROWS, Table
from studio.shell.numbers import score
from studio.shell.paging import Paging
from studio.shell.refusal import RequestRefused

TEAMS_PER_PAGE = 50
RUNS_PER_PAGE = 30
MOST_CHARTED = 200
"""Runs in a team's chart, the latest ones."""


@dataclass(frozen=True)
class RunOfTeam:
    """A team's part in an execution, beside the one before."""

    run: TeamRun
    change: float | None
    """What its best score is above that of the run before."""


@dataclass(frozen=True)
class TeamHistory:
    """A team with a page of its runs, the latest first."""

    team: TeamSummary
    runs: Sequence[RunOfTeam]
    paging: Paging
    chart: Chart
    charted: int


def list_teams(
    store: AggregationStore, search: str, order: TeamOrder, page: int
) -> tuple[list[TeamSummary], Paging]:
    """A page of the teams that ever scored here; nobody yet where there is no database."""
    try:
        paging = Paging(page, store.across.count_teams(search), TEAMS_PER_PAGE)
    except DatabaseMissing:
        return [], Paging(1, 0, TEAMS_PER_PAGE)
    return store.across.teams(search, order=order, limit=paging.size, offset=paging.offset), paging


def read_history(
    store: AggregationStore, team_id: str, page: int, now: datetime, run_url: Callable[[str], str]
) -> TeamHistory:
    """How a team did from run to run; refused with a 404 where it never scored."""
    team = store.across.team(team_id)
    if team is None:
        raise RequestRefused(404, _("No team of this id has a score in this workspace."))
    history = partial(store.across.team_history, team_id, order=store.dialect.ranking_order, now=now)
    paging = Paging(page, store.across.count_team_history(team_id), RUNS_PER_PAGE)
    # One more than is shown: the last one is compared with the run before it.
    runs = history(limit=paging.size + 1, offset=paging.offset)
    latest = runs if len(runs) == paging.total else history(limit=MOST_CHARTED)
    shown = [
        RunOfTeam(run, score_change(before.best_score, run.best_score) if before else None)
        for run, before in zip(runs[: paging.size], [*runs[1:], None], strict=False)
    ]
    return TeamHistory(team, shown, paging, _chart(team, latest, run_url), len(latest))


def _chart(team: TeamSummary, latest: Sequence[TeamRun], run_url: Callable[[str], str]) -> Chart:
    runs = list(reversed(latest[:MOST_CHARTED]))
    points = tuple((number, run.best_score) for number, run in enumerate(runs, start=1))
    scores = [value for _number, value in points if value is not None]
    said = ngettext("%(n)d run", "%(n)d runs", len(runs)) % {"n": len(runs)}
    if scores:
        ends = {"said": said, "first": score(scores[0]), "last": score(scores[-1])}
        said = _("%(said)s, from %(first)s to %(last)s.") % ends
    words = Words(
        title=_("Best score of %(team)s in each run") % {"team": team.name},
        description=said,
        across=_("Run, the oldest first"),
        up=_("Best score"),
        place=_("run %(number)d"),
    )
    urls = {number: run_url(run.execution.execution_id) for number, run in enumerate(runs, start=1)}
    return line_chart("team-chart", [Series(team.name, points, urls)], words)


# --- as files ----------------------------------------------------------------------------


def teams_table(store: AggregationStore, search: str, order: TeamOrder) -> Table:
    """The list of teams, all pages of it."""
    total = store.across.count_teams(search)
    teams = store.across.teams(search, order=order, limit=MOST_ROWS)
    columns = (
        "team_id team_name=name executions wins rounds best_score mean_best_score=mean_score last_at"
        " not_finished=partial mean_of_all"
    )
    return Table.of("teams", teams, columns, is_cut=total > MOST_ROWS)


def history_table(store: AggregationStore, team_id: str, now: datetime) -> Table:
    """A team's runs, all of them."""
    total = store.across.count_team_history(team_id)
    runs = store.across.team_history(team_id, order=store.dialect.ranking_order, limit=MOST_ROWS, now=now)
    columns = (
        "execution_id=execution.execution_id task=execution.user_prompt state=execution.state"
        " started_at=execution.started_at last_at=execution.last_at team_name rank teams=execution.teams"
        " best_score latest_score rounds"
    )
    return Table.of("team-history", runs, columns, is_cut=total > MOST_ROWS)
