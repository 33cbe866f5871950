"""Scores per round number: whether later rounds profit. Used by the pages of scores.

The unit is a run: the scores of its teams in a round are averaged first, for they share task and day.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

from builder.results.statistics import Difference, Estimate, difference, estimate
from studio.models import PromptSet, RoundResult
from studio.results.measured_runs import Measured

MOST_ROUNDS = 60
"""Rounds of a table; nobody compares more by eye."""

_Scores = dict[int, dict[int, dict[str, float]]]
"""By round number, run and team."""


@dataclass(frozen=True)
class RoundScore:
    """What was scored in rounds of one number."""

    number: int
    runs: int
    rounds: int
    """Of all teams."""
    estimate: Estimate
    gain: Difference | None = None
    """On the round before, of the teams that took part in both; None for the first and where runs are few."""


def rounds_of(prompt_set: PromptSet, number: int, measured: Measured) -> list[RoundScore]:
    """Of the runs of a version that have one scoring basis."""
    results = RoundResult.objects.filter(
        run__version__prompt_set=prompt_set, run__version__number=number, round_number__lte=MOST_ROUNDS
    )
    rows = results.order_by().values_list("run_id", "team_id", "round_number", "score")
    return by_round(
        row
        for row in rows.iterator()
        if row[0] in measured.keys and row[1] not in measured.partial.get(row[0], ())
    )


def by_round(rows: Iterable[tuple[int, str, int, float | None]]) -> list[RoundScore]:
    """From rows of run, team, round number and score."""
    scores: _Scores = defaultdict(lambda: defaultdict(dict))
    for run, team, number, score in rows:
        if score is not None:
            scores[number][run][team] = score
    figures = []
    for number in sorted(scores):
        mean = estimate(fmean(teams.values()) for teams in scores[number].values())
        if mean is not None:
            rounds = sum(map(len, scores[number].values()))
            gain = _gain(scores, number) if number - 1 in scores else None
            figures.append(RoundScore(number, len(scores[number]), rounds, mean, gain))
    return figures


def _gain(scores: _Scores, number: int) -> Difference | None:
    """Without the teams that stopped in the round before: that the weak ones are gone is no gain."""
    before: dict[str, list[float]] = {}
    after: dict[str, list[float]] = {}
    for run, teams in scores[number].items():
        both = teams.keys() & scores[number - 1].get(run, {}).keys()
        if both:
            before[str(run)] = [fmean(scores[number - 1][run][team] for team in both)]
            after[str(run)] = [fmean(teams[team] for team in both)]
    return difference(before, after)
