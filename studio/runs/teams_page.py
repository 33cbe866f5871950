"""Teams over executions, as their pages show them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from builder.errors import DatabaseMissing
from builder.leaderboard import AggregationStore, TeamOrder, TeamRun, TeamSummary
from studio.shell.charts import Chart, Series, Words, line_chart
from studio.shell.downloads import MOST_ROWS, Cell, Table
from studio.shell.numbers import score
from studio.shell.paging import Paging

TEAMS_PER_PAGE = 50
RUNS_PER_PAGE = 30
MOST_CHARTED = 200
"""Runs in a team's chart, the latest ones."""


@dataclass(frozen=True)
class TeamList:
    """A page of teams."""

    teams: Sequence[TeamSummary]
    paging: Paging


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


def list_teams(store: AggregationStore, search: str, order: TeamOrder, page: int) -> TeamList:
    """Every team that ever scored here; nobody yet where there is no database."""
    try:
        paging = Paging(page, store.across.count_teams(search), TEAMS_PER_PAGE)
    except DatabaseMissing:
        return TeamList((), Paging(1, 0, TEAMS_PER_PAGE))
    found = store.across.teams(search, order=order, limit=paging.size, offset=paging.offset)
    return TeamList(found, paging)


def read_history(store: AggregationStore, team_id: str, page: int, now: datetime) -> TeamHistory | None:
    """How a team did from run to run; ``None`` where it never scored."""
    team = store.across.team(team_id)
    if team is None:
        return None
    order = store.dialect.ranking_order
    paging = Paging(page, store.across.count_team_history(team_id), RUNS_PER_PAGE)
    # One more than is shown: the last one is compared with the run before it.
    found = store.across.team_history(
        team_id, order=order, limit=paging.size + 1, offset=paging.offset, now=now
    )
    latest = found if len(found) == paging.total else _latest(store, team_id, now)
    runs = [
        RunOfTeam(run, _change(run, before))
        for run, before in zip(found[: paging.size], [*found[1:], None], strict=False)
    ]
    return TeamHistory(team, runs, paging, _chart(team, latest), len(latest))


def _latest(store: AggregationStore, team_id: str, now: datetime) -> list[TeamRun]:
    return store.across.team_history(team_id, order=store.dialect.ranking_order, limit=MOST_CHARTED, now=now)


def _change(run: TeamRun, before: TeamRun | None) -> float | None:
    if before is None or run.best_score is None or before.best_score is None:
        return None
    return run.best_score - before.best_score


def _chart(team: TeamSummary, latest: Sequence[TeamRun]) -> Chart:
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
        each=_("run %(number)d"),
    )
    return line_chart("team-chart", [Series(team.name, points)], words)


# --- as files ----------------------------------------------------------------------------


def teams_table(store: AggregationStore, search: str, order: TeamOrder) -> Table:
    """The list of teams, all pages of it."""
    total = store.across.count_teams(search)
    found = store.across.teams(search, order=order, limit=MOST_ROWS)
    columns = (
        "team_id",
        "team_name",
        "executions",
        "wins",
        "rounds",
        "best_score",
        "mean_best_score",
        "last_at",
    )
    rows = (
        (
            team.team_id,
            team.name,
            team.executions,
            team.wins,
            team.rounds,
            team.best_score,
            team.mean_score,
            team.last_at,
        )
        for team in found
    )
    return Table("teams", columns, rows, is_cut=total > MOST_ROWS)


def history_table(store: AggregationStore, team_id: str, now: datetime) -> Table:
    """A team's runs, all of them."""
    total = store.across.count_team_history(team_id)
    found = store.across.team_history(team_id, order=store.dialect.ranking_order, limit=MOST_ROWS, now=now)
    columns = (
        "execution_id",
        "task",
        "state",
        "started_at",
        "last_at",
        "team_name",
        "rank",
        "teams",
        "best_score",
        "latest_score",
        "rounds",
    )
    return Table("team-history", columns, _history_rows(found), is_cut=total > MOST_ROWS)


def _history_rows(found: Sequence[TeamRun]) -> Iterator[tuple[Cell, ...]]:
    for run in found:
        execution = run.execution
        yield (
            execution.execution_id,
            execution.user_prompt,
            execution.state,
            execution.started_at,
            execution.last_at,
            run.team_name,
            run.rank,
            execution.teams,
            run.best_score,
            run.latest_score,
            run.rounds,
        )
