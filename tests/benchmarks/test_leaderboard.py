"""How much the store adds to the bare query on a kept connection: both sides in one run, the ratio printed.

Run with: pytest tests/benchmarks/test_leaderboard.py
"""

import asyncio
import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

from builder.leaderboard import AggregationStore
from builder.leaderboard.copying import identify
from builder.leaderboard.queries import RANKING, overview
from builder.leaderboard.schema import DDL, Schema

TEAMS, ROUNDS = 20, 5


@dataclass(frozen=True)
class Filled:
    """A database of many executions, an hour old, and ids to ask for."""

    path: Path
    rows: int
    ids: list[str]


def _fill(path: Path, rows: int) -> Filled:
    with duckdb.connect(str(path)) as connection:
        for statement in DDL:
            connection.execute(statement)
        runs = rows // (TEAMS * ROUNDS)
        connection.execute(
            "CREATE TEMP TABLE run AS SELECT i, uuid()::VARCHAR AS id FROM range(?) t(i)", [runs]
        )
        connection.execute(
            "INSERT INTO leader_board (execution_id, team_id, team_name, round_number, submission_content,"
            " score, score_details, created_at, updated_at)"
            f" SELECT run.id, 'team-' || lpad((r % {TEAMS})::VARCHAR, 3, '0'), 'Team ' || (r % {TEAMS}),"
            f" 1 + r // {TEAMS}, 'submission ' || run.i || ' ' || r, 50 + (hash(run.i, r) % 5000) / 100.0,"
            """ '{"overall_score": 71.2, "metrics": []}', moment, moment FROM (SELECT run.id, run.i, r,"""
            " TIMESTAMP '2026-01-01' + to_seconds(run.i * 600 + r * 5) AS moment"
            f" FROM run, range({TEAMS * ROUNDS}) t(r)) run ORDER BY run.i, r"
        )
        connection.execute(
            "INSERT INTO execution_summary"
            " SELECT id, 'task ' || i, 'completed', '[]', 20, 'team-001', 88.0, 500,"
            " TIMESTAMP '2026-01-01' + to_seconds(i * 600 + 500), TIMESTAMP '2026-01-01' FROM run"
        )
        ids = [
            row[0]
            for row in connection.execute("SELECT id FROM run USING SAMPLE 200 (reservoir, 1)").fetchall()
        ]
    return Filled(path, rows, ids)


@pytest.fixture(scope="module", params=[10_000, 1_000_000], ids=["10k", "1M"])
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Filled:
    return _fill(tmp_path_factory.mktemp("filled") / "mixseek.db", request.param)


@pytest.fixture
def store(filled: Filled, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AggregationStore]:
    cache = tmp_path_factory.getbasetemp() / f"cache-{filled.rows}"
    with AggregationStore(filled.path, cache_folder=cache) as opened:
        opened.ranking(filled.ids[0])
        yield opened


@pytest.fixture
def bare(filled: Filled, store: AggregationStore, tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A kept connection of one's own to a copy with the same content."""
    own = tmp_path / "bare.duckdb"
    own.write_bytes(filled.path.read_bytes())
    with duckdb.connect(
        str(own), read_only=True, config={"threads": "2", "memory_limit": "1GB"}
    ) as connection:
        yield connection


def _compare(
    name: str,
    ours: Callable[[], Any],
    floor: Callable[[], Any],
    report: Callable[[str], None],
    times: int = 200,
) -> None:
    """Alternating, so that whatever else the machine does falls on both sides alike."""
    samples: tuple[list[float], list[float]] = ([], [])
    for _ in range(times):
        for side, call in enumerate((ours, floor)):
            start = time.perf_counter()
            call()
            samples[side].append(time.perf_counter() - start)
    mine, base = (sorted(side) for side in samples)
    report(
        f"{name}: {_figures(mine)}; bare query {_figures(base)}; ratio {_at(mine, 0.5) / _at(base, 0.5):.2f}"
    )
    # The fast tenth tells what the code costs where a busy machine blurs the middle.
    report(f"  ratio of the fastest tenths: {_at(mine, 0.1) / _at(base, 0.1):.2f}")


def _figures(samples: list[float]) -> str:
    return f"{_at(samples, 0.5) * 1000:.3f} ms (p95 {_at(samples, 0.95) * 1000:.2f})"


def _at(samples: list[float], share: float) -> float:
    return samples[int(len(samples) * share)]


@pytest.fixture
def report(capsys: pytest.CaptureFixture[str]) -> Callable[[str], None]:
    def line(text: str) -> None:
        with capsys.disabled():
            print(f"\n{text}")

    return line


def test_ranking(
    filled: Filled,
    store: AggregationStore,
    bare: duckdb.DuckDBPyConnection,
    report: Callable[[str], None],
    benchmark: Any,
) -> None:
    sql = RANKING[store.dialect.ranking_order]
    mine, theirs = itertools.cycle(filled.ids), itertools.cycle(filled.ids)
    assert len(store.ranking(filled.ids[0])) == len(bare.execute(sql, [filled.ids[0]]).fetchall()) == TEAMS
    _compare(
        f"ranking of one execution among {filled.rows:,} rows",
        lambda: store.ranking(next(mine)),
        lambda: bare.execute(sql, [next(theirs)]).fetchall(),
        report,
    )
    benchmark(lambda: store.ranking(next(mine)))


def test_ranking_as_a_coroutine(
    filled: Filled,
    store: AggregationStore,
    bare: duckdb.DuckDBPyConnection,
    report: Callable[[str], None],
    benchmark: Any,
) -> None:
    sql = RANKING[store.dialect.ranking_order]
    mine, theirs = itertools.cycle(filled.ids), itertools.cycle(filled.ids)
    with asyncio.Runner() as runner:
        _compare(
            f"the same, awaited, among {filled.rows:,} rows",
            lambda: runner.run(store.get_leader_board_ranking(next(mine))),
            lambda: bare.execute(sql, [next(theirs)]).fetchall(),
            report,
        )
        benchmark(lambda: runner.run(store.get_leader_board_ranking(next(mine))))


def test_page_of_executions(
    filled: Filled,
    store: AggregationStore,
    bare: duckdb.DuckDBPyConnection,
    report: Callable[[str], None],
    benchmark: Any,
) -> None:
    columns = bare.execute(
        "SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal"
    ).fetchall()
    sql = overview(Schema.of([(str(table), str(column)) for table, column in columns]))
    sql += " ORDER BY last_at DESC, known.execution_id LIMIT ? OFFSET ?"
    assert len(store.executions(limit=50)) == min(50, filled.rows // 100)
    _compare(
        f"first page of {filled.rows // 100:,} executions over {filled.rows:,} rows",
        lambda: store.executions(limit=50),
        lambda: bare.execute(sql, [50, 0]).fetchall(),
        report,
        times=30,
    )
    benchmark.pedantic(lambda: store.executions(limit=50), rounds=5)


def test_looking_whether_the_original_changed(filled: Filled, benchmark: Any) -> None:
    path = str(filled.path)
    assert benchmark(lambda: identify(path)).database.size == filled.path.stat().st_size


def test_first_copy(filled: Filled, tmp_path: Path, benchmark: Any) -> None:
    """What the first reader of a changed database waits for."""
    folders = (tmp_path / f"cache-{number}" for number in itertools.count())

    def read() -> int:
        with AggregationStore(filled.path, cache_folder=next(folders)) as fresh:
            return len(fresh.ranking(filled.ids[0]))

    assert benchmark.pedantic(read, rounds=3) == TEAMS
