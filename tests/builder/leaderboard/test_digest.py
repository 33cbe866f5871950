"""Whatever stands in the tables of a foreign file, what can be shown of it is shown."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest

from builder.errors import LeaderboardError
from builder.leaderboard import AggregationStore
from builder.leaderboard.schema import COLUMNS
from tests.builder.leaderboard.conftest import Played
from tests.builder.leaderboard.test_store import _add_row, _write

Open = Callable[..., AggregationStore]


@pytest.mark.parametrize(
    "value",
    [
        "1",
        pytest.param("'x'", marks=pytest.mark.slow),
        "{'a': 1}",
        pytest.param("[1, 2]", marks=pytest.mark.slow),
        pytest.param("'x'::BLOB", marks=pytest.mark.slow),
        pytest.param("MAP {'a': 1}", marks=pytest.mark.slow),
        pytest.param("true", marks=pytest.mark.slow),
        "NULL",
        "99999999999999999999::HUGEINT",
        "TIMESTAMP 'infinity'",
        pytest.param("TIMESTAMP '20000-01-01'", marks=pytest.mark.slow),
        "TIMESTAMPTZ '2026-04-01 09:00:00+09'",
        pytest.param("'nan'::DOUBLE", marks=pytest.mark.slow),
        pytest.param("1e300", marks=pytest.mark.slow),
    ],
)
def test_values_of_any_type_end_no_page(value: str, tmp_path: Path, open_store: Open) -> None:
    with duckdb.connect(str(tmp_path / "mixseek.db")) as connection:
        for table, columns in COLUMNS.items():
            listed = ", ".join(f"{value} AS {column}" for column in columns)
            connection.execute(f"CREATE TABLE {table} AS SELECT {listed}")
    store = open_store(tmp_path)
    known = [found.execution_id for found in store.executions()]
    assert len(known) == store.count_executions() == (0 if value == "NULL" else 1)
    for execution_id in known:
        assert store.execution(execution_id) is not None
        store.standings(execution_id)
        try:
            assert store.rounds(execution_id) != []
        except LeaderboardError as error:
            assert str(error)
    assert len(store.across.teams()) == len(known)
    assert store.across.distribution().count in (0, 1)


@pytest.mark.slow
def test_a_time_beyond_all_zones_does_not_move_the_others(played: Played, open_store: Open) -> None:
    """Somebody touched a row days later: that is no offset from UTC."""
    _add_row(played, "touched", "a", 1, 50.0)
    _write(
        played,
        "UPDATE leader_board SET created_at = TIMESTAMP '2026-04-01 09:30:00',"
        " updated_at = TIMESTAMP '2026-04-09 09:30:00' WHERE execution_id = 'touched'",
    )
    found = open_store(played.path).execution("touched")
    assert found is not None
    # The neighbour in time was written in UTC.
    assert found.last_at == datetime(2026, 4, 1, 9, 30, tzinfo=UTC)


@pytest.mark.slow
def test_tables_of_ours_in_the_original_are_not_taken_for_true(played: Played, open_store: Open) -> None:
    """A copy of a copy, or a trap."""
    _write(
        played,
        "CREATE SCHEMA prompt_studio",
        "CREATE TABLE prompt_studio.executions AS SELECT 'forged' AS execution_id",
        "CREATE VIEW prompt_studio.teams AS SELECT 1",
    )
    store = open_store(played.path)
    assert len(store.executions()) == 5
    assert len(store.across.teams()) == 4
