"""The chart of a run: a line for each team over the rounds, whose points lead there. Used by its page."""

from collections.abc import Callable, Sequence
from typing import Protocol

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from builder.leaderboard import ScorePoint, Standing
from studio.shell.charts import Chart, Series, Words, line_chart
from studio.shell.numbers import score


class Team(Protocol):
    """A team with its scores."""

    @property
    def team_id(self) -> str: ...
    @property
    def team_name(self) -> str: ...
    @property
    def points(self) -> tuple[ScorePoint, ...]: ...


def scores_chart(
    teams: Sequence[Team],
    places: Sequence[Standing],
    rounds: Sequence[int],
    team_url: Callable[[str], str],
) -> Chart:
    """``places`` are those of the whole run, which the description names the first of."""
    series = [
        Series(
            team.team_name or team.team_id,
            tuple((point.round_number, point.score) for point in team.points),
            _round_urls(team_url(team.team_id), team.points) if team.team_id else {},
        )
        for team in teams
    ]
    return line_chart("scores", series, _words(places, rounds))


def _round_urls(team_url: str, points: Sequence[ScorePoint]) -> dict[int, str]:
    """Rounds count from 1; a row of another number has no address."""
    return {
        point.round_number: f"{team_url}rounds/{point.round_number}/"
        for point in points
        if point.round_number >= 1
    }


def _words(places: Sequence[Standing], rounds: Sequence[int]) -> Words:
    said = ngettext("%(n)d team, ", "%(n)d teams, ", len(places)) % {"n": len(places)}
    said += ngettext("%(n)d round.", "%(n)d rounds.", len(rounds)) % {"n": len(rounds)}
    if places:
        lead = places[0]
        said += " " + _("%(team)s leads with %(score)s, reached in round %(round)d.") % {
            "team": lead.team_name,
            "score": score(lead.best_score),
            "round": lead.best_round,
        }
    return Words(_("Score by round and team"), said, _("Round"), _("Score"))
