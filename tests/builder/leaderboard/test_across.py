"""Over many executions: what is said about a team or about scores agrees with the single executions."""

import statistics
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from builder.errors import UnknownExecution
from builder.leaderboard import AggregationStore, TeamOrder
from tests.builder.leaderboard.conftest import Played
from tests.builder.leaderboard.test_store import _add_row

Open = Callable[..., AggregationStore]
LATER = datetime(2026, 4, 6, tzinfo=UTC)


@pytest.mark.slow
def test_a_teams_history_has_its_place_in_each_execution(original: Played, kept: AggregationStore) -> None:
    history = kept.across.team_history("team-002", now=LATER)
    assert [original.ids.index(run.execution.execution_id) for run in history] == [4, 2, 1, 0]
    assert kept.across.count_team_history("team-002") == 4
    for run in history:
        assert run.execution == next(
            found for found in kept.executions(now=LATER) if found.execution_id == run.execution.execution_id
        )
        place = next(
            place
            for place in kept.standings(run.execution.execution_id, "team_id")
            if place.team_id == "team-002"
        )
        assert (run.best_score, run.latest_score, run.rank, run.rounds, run.team_name) == (
            place.best_score,
            place.latest_score,
            place.rank,
            place.rounds,
            place.team_name,
        )
    assert kept.across.team_history("team-002", limit=2, offset=1, now=LATER) == history[1:3]
    assert kept.across.team_history("team-999") == []
    assert kept.across.count_team_history("team-999") == 0


def test_teams_are_summed_up_over_executions(kept: AggregationStore) -> None:
    teams = {team.team_id: team for team in kept.across.teams()}
    assert set(teams) == {"team-001", "team-002", "team-003", "team-004"}
    for team_id, team in teams.items():
        history = kept.across.team_history(team_id, now=LATER)
        bests = [run.best_score for run in history if run.best_score is not None]
        whole = [
            place.best_score
            for run in history
            for place in kept.standings(run.execution.execution_id)
            if place.team_id == team_id and not place.is_partial
        ]
        assert team.executions == len(history)
        assert team.rounds == sum(run.rounds for run in history)
        assert team.wins == sum(run.rank == 1 for run in history)
        assert team.best_score == max(bests)
        assert team.mean_score == pytest.approx(statistics.mean(whole))
        assert team.last_at == history[0].execution.last_at
        assert kept.across.team(team_id) == team
    assert sum(team.wins for team in teams.values()) == 4
    assert kept.across.team("team-999") is None


def test_a_team_without_a_final_row_broke_off_where_others_have_one(
    original: Played, kept: AggregationStore
) -> None:
    failed, under_way = original.ids[2], original.ids[4]
    (broken,) = (place.team_id for place in kept.standings(failed) if place.is_partial)
    assert kept.across.unfinished().keys() == {failed} and kept.across.unfinished()[failed][0] == [broken]
    assert not any(place.is_partial for place in kept.standings(under_way))
    team = kept.across.team(broken)
    assert team is not None and team.mean_score != team.mean_of_all


def test_teams_are_searched_and_paged(kept: AggregationStore) -> None:
    assert [team.name for team in kept.across.teams("深掘")] == ["深掘りチーム🔍"]
    assert [team.team_id for team in kept.across.teams("ALPHA")] == ["team-001"]
    assert kept.across.count_teams("team-00") == 4
    assert kept.across.count_teams("%") == 0
    pages = [kept.across.teams(order="name", limit=3, offset=start) for start in (0, 3, 6)]
    assert [len(page) for page in pages] == [3, 1, 0]
    assert [team for page in pages for team in page] == kept.across.teams(order="name")


@pytest.mark.parametrize("order", ["best", "mean", "executions", "latest"])
def test_teams_are_ordered_by_what_is_asked_for(order: TeamOrder, kept: AggregationStore) -> None:
    column = {"best": "best_score", "mean": "mean_score", "executions": "executions", "latest": "last_at"}
    values = [getattr(team, column[order]) for team in kept.across.teams(order=order)]
    assert values == sorted(values, reverse=True)


@pytest.mark.slow
def test_a_team_that_changed_its_name_goes_by_the_latest(played: Played, open_store: Open) -> None:
    _add_row(played, "renamed", "team-001", 1, 10.0)
    team = open_store(played.path).across.team("team-001")
    assert team is not None
    # The row was written this moment, long after the others.
    assert team.names == ("TEAM-001", "リサーチ班 Alpha")
    assert team.name == "TEAM-001"


# --- how scores spread ---------------------------------------------------------------------------


@pytest.mark.parametrize("of", ["rounds", "best"])
@pytest.mark.parametrize("execution", [None, 1])
@pytest.mark.parametrize("team", [None, "team-003"])
def test_a_distribution_is_that_of_the_scores(
    of: str, execution: int | None, team: str | None, original: Played, kept: AggregationStore
) -> None:
    executions = [original.ids[execution]] if execution is not None else original.ids
    if of == "rounds":
        broken = {(each, name) for each, (names, _) in kept.across.unfinished().items() for name in names}
        scores = [
            point.score
            for each in executions
            for point in kept.scores(each, team)
            if (each, point.team_id) not in broken
        ]
    else:
        scores = [
            place.best_score
            for each in executions
            for place in kept.standings(each)
            if team in (None, place.team_id) and not place.is_partial
        ]
    found = kept.across.distribution(
        of=of,  # type: ignore[arg-type]
        execution_id=None if execution is None else original.ids[execution],
        team_id=team,
        bins=8,
    )
    values = sorted(score for score in scores if score is not None)
    assert (found.count, found.minimum, found.maximum) == (len(values), values[0], values[-1])
    assert found.mean == pytest.approx(statistics.mean(values))
    assert found.median == pytest.approx(statistics.median(values))
    if len(values) > 1:
        quartiles = statistics.quantiles(values, method="inclusive")
        assert [found.lower_quartile, found.upper_quartile] == pytest.approx([quartiles[0], quartiles[2]])
    assert [each.count for each in found.bins] == [
        sum(each.low <= value < each.high for value in values) for each in found.bins
    ]
    assert sum(each.count for each in found.bins) == len(values)
    assert len(found.bins) <= 10
    assert all(one.high == other.low for one, other in zip(found.bins, found.bins[1:], strict=False))


@pytest.mark.slow
def test_the_edges_are_numbers_a_person_would_choose(played: Played, open_store: Open) -> None:
    cases = [
        ([50.0], [50, 51]),
        ([50.0, 50.0], [50, 51]),
        ([-12.5, 250.0], [-50, 0, 50, 100, 150, 200, 250, 300]),
        ([0.0, 100.0], [0, 20, 40, 60, 80, 100, 120]),
        ([0.1, 0.35], [0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4]),
        ([80.25, 80.75], [80.2, 80.3, 80.4, 80.5, 80.6, 80.7, 80.8]),
    ]
    for case, (scores, _) in enumerate(cases):
        for number, score in enumerate(scores, start=1):
            _add_row(played, f"spread-{case}", "a", number, score)
    store = open_store(played.path)
    for case, (scores, edges) in enumerate(cases):
        found = store.across.distribution(execution_id=f"spread-{case}", bins=6)
        assert [*(each.low for each in found.bins), found.bins[-1].high] == pytest.approx(edges)
        assert sum(each.count for each in found.bins) == len(scores)


def test_the_number_of_columns_is_bounded(kept: AggregationStore) -> None:
    assert 1 <= len(kept.across.distribution(bins=-5).bins) <= 3
    assert 20 < len(kept.across.distribution(bins=10**9).bins) <= 202


def test_without_scores_there_is_nothing_to_spread(original: Played, kept: AggregationStore) -> None:
    found = kept.across.distribution(execution_id=original.ids[3])
    assert (found.count, found.median, found.bins) == (0, None, ())


# --- two executions side by side -----------------------------------------------------------------


def test_two_executions_are_compared_team_by_team(original: Played, kept: AggregationStore) -> None:
    found = kept.across.compare(original.ids[0], original.ids[2], now=LATER)
    assert found.first.execution_id == original.ids[0]
    assert found.second.state == "partial_failure"
    assert found.first.best_score is not None and found.second.best_score is not None
    assert found.best_delta == found.second.best_score - found.first.best_score
    one, other = (
        {place.team_id: place for place in kept.standings(each, "team_id")}
        for each in (original.ids[0], original.ids[2])
    )
    assert [team.team_id for team in found.teams] == [*one]
    for team in found.teams:
        assert (team.first, team.second) == (one[team.team_id], other[team.team_id])
        assert team.delta == other[team.team_id].best_score - one[team.team_id].best_score


@pytest.mark.slow
def test_teams_of_one_execution_only_come_last(played: Played, open_store: Open) -> None:
    for execution, teams in (("one", "abc"), ("two", "cdb")):
        for place, team in enumerate(teams):
            _add_row(played, execution, team, 1, 90.0 - place)
    found = open_store(played.path).across.compare("one", "two")
    assert [(team.team_id, team.delta) for team in found.teams] == [
        ("b", -1.0),
        ("c", 2.0),
        ("a", None),
        ("d", None),
    ]
    assert (found.teams[2].second, found.teams[3].first) == (None, None)


def test_an_execution_without_scores_can_be_compared(original: Played, kept: AggregationStore) -> None:
    found = kept.across.compare(original.ids[3], original.ids[0], now=LATER)
    assert found.best_delta is None
    assert {team.first for team in found.teams} == {None}


def test_a_comparison_with_an_unknown_execution_is_refused(original: Played, kept: AggregationStore) -> None:
    with pytest.raises(UnknownExecution):
        kept.across.compare(original.ids[0], "no such id")


def test_the_best_score_of_each_round_of_several_executions(kept: AggregationStore) -> None:
    ids = [run.execution_id for run in kept.executions(now=LATER)]
    best = kept.across.best_by_round([*ids[:2], "nobody"])
    assert set(best) <= set(ids[:2]) and best
    for execution_id, rounds in best.items():
        scores: dict[int, float] = {}
        for point in kept.scores(execution_id):
            if point.score is not None:
                scores[point.round_number] = max(scores.get(point.round_number, point.score), point.score)
        assert dict(rounds) == pytest.approx(scores) and [number for number, _ in rounds] == sorted(scores)
    assert kept.across.best_by_round([]) == {}
