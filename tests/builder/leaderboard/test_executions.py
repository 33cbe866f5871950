"""The list of executions: every filter narrows the page and its count alike."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from builder.errors import UnknownExecution, UnknownRound
from builder.leaderboard import AggregationStore, ExecutionOrder, ExecutionState
from tests.builder.leaderboard.conftest import Played
from tests.builder.leaderboard.test_store import _add_row, _write

Open = Callable[..., AggregationStore]
LATER = datetime(2026, 4, 6, tzinfo=UTC)


def _places(played: Played, store: AggregationStore, search: str = "", **filters: object) -> list[int]:
    """Which of the workspace's runs are listed; the count must say the same."""
    found = store.executions(search, now=LATER, **filters)  # type: ignore[arg-type]
    narrowing = {name: value for name, value in filters.items() if name in ("state", "team")}
    assert store.count_executions(search, now=LATER, **narrowing) == len(found)  # type: ignore[arg-type]
    return [played.ids.index(each.execution_id) for each in found]


@pytest.mark.parametrize(
    ("search", "expected"),
    [
        ("", [4, 3, 2, 1, 0]),
        ("   ", [4, 3, 2, 1, 0]),
        ("規程", [2]),
        ("BATCH nightly", [1]),
        ("nightly 規程", []),
        ("nightly\u3000batch", [1]),
        ("beta ANALYSTS", [4, 2, 1, 0]),
        ("深掘", [4, 2, 1, 0]),
        ("team-004", [4, 2, 1, 0]),
        ("100%", []),
        ("_", []),
        ("' OR 1=1 --", []),
    ],
)
def test_each_word_must_stand_in_the_task_or_a_teams_name_or_id(
    search: str, expected: list[int], original: Played, kept: AggregationStore
) -> None:
    assert _places(original, kept, search) == expected


def test_the_beginning_of_an_id_finds_its_execution(original: Played, kept: AggregationStore) -> None:
    assert _places(original, kept, original.ids[4][:8]) == [4]
    assert _places(original, kept, original.ids[3].upper()) == [3]
    assert _places(original, kept, original.ids[4][2:10]) == []


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("completed", [1, 0]),
        ("partial_failure", [2]),
        ("failed", [3]),
        ("running", []),
        ("unknown", [4]),
    ],
)
def test_a_state_narrows_the_list(
    state: ExecutionState, expected: list[int], original: Played, kept: AggregationStore
) -> None:
    assert _places(original, kept, state=state) == expected
    assert {each.state for each in kept.executions(state=state, now=LATER)} <= {state}


def test_a_team_narrows_the_list_to_where_it_took_part(original: Played, kept: AggregationStore) -> None:
    assert _places(original, kept, team="team-004") == [4, 2, 1, 0]
    assert _places(original, kept, team="team-0") == []
    assert _places(original, kept, "規程", team="team-001", state="partial_failure") == [2]


def test_signs_of_life_decide_also_under_a_filter(original: Played, kept: AggregationStore) -> None:
    sign = max(team.updated_at for team in kept.progress([original.ids[4]]) if team.updated_at)
    soon, late = sign + timedelta(minutes=14), sign + timedelta(minutes=16)
    assert [len(kept.executions(state="running", now=moment)) for moment in (soon, late)] == [1, 0]
    assert [kept.count_executions(state="unknown", now=moment) for moment in (soon, late)] == [0, 1]


def test_rows_without_logs_are_signs_of_life_too(played: Played, open_store: Open) -> None:
    for file in (played.path / "logs").iterdir():
        file.unlink()
    store = open_store(played.path)
    last = store.executions(now=LATER)[0].last_at
    assert last is not None
    states = [store.executions(now=last + timedelta(minutes=age))[0].state for age in (14, 16)]
    assert states == ["running", "unknown"]


@pytest.mark.parametrize(
    ("order", "expected"),
    [("newest", [4, 3, 2, 1, 0]), ("oldest", [0, 1, 2, 3, 4])],
)
def test_the_order_is_by_time(
    order: ExecutionOrder, expected: list[int], original: Played, kept: AggregationStore
) -> None:
    assert _places(original, kept, order=order) == expected
    pages = [kept.executions(order=order, limit=2, offset=start, now=LATER) for start in (0, 2, 4, 6)]
    assert [original.ids.index(each.execution_id) for page in pages for each in page] == expected


def test_the_order_by_best_score_puts_those_without_one_last(
    original: Played, kept: AggregationStore
) -> None:
    found = kept.executions(order="best", now=LATER)
    scores = [each.best_score for each in found if each.best_score is not None]
    assert scores == sorted(scores, reverse=True)
    assert (len(scores), found[-1].execution_id) == (4, original.ids[3])


def test_an_odd_page_is_empty_not_an_error(kept: AggregationStore) -> None:
    assert kept.executions(limit=0) == []
    assert kept.executions(limit=50, offset=10**12) == []
    assert len(kept.executions(limit=50, offset=-3)) == 5
    assert len(kept.executions("team", limit=50, offset=-3)) == 4


def test_an_execution_tells_how_it_ended(original: Played, kept: AggregationStore) -> None:
    completed, partly, failed, unknown = (
        kept.execution(original.ids[number], now=LATER) for number in (0, 2, 3, 4)
    )
    assert completed is not None and partly is not None and failed is not None and unknown is not None
    best = kept.standings(original.ids[0])[0]
    assert (completed.best_team_id, completed.best_team_name) == (best.team_id, best.team_name)
    assert completed.best_score == best.best_score
    assert completed.started_at is not None and completed.last_at is not None
    assert completed.seconds == pytest.approx((completed.last_at - completed.started_at).total_seconds())
    assert (completed.failed_teams, partly.failed_teams, failed.failed_teams) == (0, 1, 4)
    assert (unknown.failed_teams, unknown.seconds) == (None, None)
    assert [failure.error for failure in partly.failures] == ["Team execution timed out after 600 seconds"]
    assert completed.failures == ()
    assert kept.execution("nothing ran under this id") is None


def test_a_running_execution_has_a_best_team_too(original: Played, kept: AggregationStore) -> None:
    found = kept.execution(original.ids[4], now=LATER)
    best = kept.standings(original.ids[4])[0]
    assert found is not None
    assert (found.best_team_id, found.best_score) == (best.team_id, best.best_score)


@pytest.mark.slow
def test_an_execution_without_a_score_takes_the_zone_of_its_neighbour(
    played: Played, open_store: Open
) -> None:
    """Two machines nine hours apart wrote here; the failed run left no pair of times to tell its zone by."""
    _write(
        played,
        "INSERT INTO execution_summary (execution_id, user_prompt, status, team_results, total_teams,"
        " total_execution_time_seconds, completed_at) VALUES ('from-tokyo', 'x', 'failed', '[]', 1, 60,"
        " TIMESTAMP '2026-04-02 18:30:00')",
    )
    found = open_store(played.path).execution("from-tokyo")
    assert found is not None
    assert found.last_at == datetime(2026, 4, 2, 9, 30, tzinfo=UTC)
    assert found.started_at == datetime(2026, 4, 2, 9, 29, tzinfo=UTC)


@pytest.mark.slow
def test_a_state_that_mixseek_does_not_know_is_unknown(played: Played, open_store: Open) -> None:
    _write(
        played,
        "CREATE TABLE loose AS SELECT * FROM execution_summary",
        "DROP TABLE execution_summary",
        "ALTER TABLE loose RENAME TO execution_summary",
        f"UPDATE execution_summary SET status = 'paused' WHERE execution_id = '{played.ids[0]}'",
    )
    store = open_store(played.path)
    assert _places(played, store, state="unknown") == [4, 0]


@pytest.mark.slow
def test_the_task_of_a_search_may_be_long_and_of_any_script(played: Played, open_store: Open) -> None:
    _add_row(played, "e-1", "チーム壱", 1, 50.0)
    store = open_store(played.path)
    assert [found.execution_id for found in store.executions("壱")] == ["e-1"]
    assert store.executions("x" * 100_000) == []
    assert store.count_executions(" ".join("abcdefghijklmnopqrstuvwxyz")) == 0


@pytest.mark.parametrize("odd", ["\0", "\ud800", "%", "\u3000", "'"])
def test_an_odd_character_finds_nothing_rather_than_failing(odd: str, kept: AggregationStore) -> None:
    assert kept.standings(odd) == kept.scores(odd) == kept.across.team_history(odd) == []
    assert (kept.execution(odd), kept.across.team(odd), kept.count_executions(team=odd)) == (None, None, 0)
    assert len(kept.executions(odd)) in (0, 5)
    with pytest.raises(UnknownExecution):
        kept.round(odd, odd, 1)


@pytest.mark.parametrize("number", [2**31, 2**63, 10**50, -(10**50)])
def test_a_number_of_any_size_finds_nothing_rather_than_failing(
    number: int, original: Played, kept: AggregationStore
) -> None:
    assert kept.executions("team", limit=5, offset=abs(number)) == []
    assert kept.executions(limit=5, offset=abs(number)) == []
    assert len(kept.executions(limit=abs(number))) == 5
    for ask in (kept.round, kept.delivered, kept.rebuild):
        with pytest.raises(UnknownRound):
            ask(original.ids[0], "team-001", number)
