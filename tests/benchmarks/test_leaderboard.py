"""How much the store adds to the bare query: all sides in one run, over the same rows, the ratios printed.

The bare query of a page is twofold. *Plain*: what one would write over MixSeek's own tables, on a connection
kept open to a copy. *Same*: the very statement that the store asks, on one's own connection with a digest of
its own, so that what is left is the store's own cost: the way to the reader process and back.

Of a file that changed before each call the bare side is a verified copy, a connection to it and one query.

Run with: pytest tests/benchmarks/test_leaderboard.py
"""

import asyncio
import itertools
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from builder.leaderboard import AggregationStore, copying, digest, executions
from builder.leaderboard.copying import identify
from builder.leaderboard.executions import Filter, Signs
from builder.leaderboard.schema import COLUMNS, DDL, Schema

TEAMS, ROUNDS = 20, 5
NOW = datetime(2026, 11, 1, tzinfo=UTC)

RANKING = (
    "SELECT team_id, team_name, MAX(score) AS max_score, COUNT(*), MAX(round_number), FROM leader_board"
    " WHERE execution_id = ? GROUP BY team_id, team_name ORDER BY max_score DESC, team_id"
)
SAME_RANKING = (
    "SELECT by_team_id, team_id, team_name, best, best_round, latest_score, latest_round, rounds, kept,"
    " exit_reason FROM prompt_studio.standings WHERE execution_id = ? AND kept IS NOT NULL"
    " ORDER BY by_team_id"
)
LIST = (
    "SELECT execution_id, user_prompt, status, total_teams, best_score, best_team_id, completed_at,"
    " total_execution_time_seconds, rounds, first_at, last_at FROM execution_summary LEFT JOIN"
    " (SELECT execution_id, MAX(round_number) AS rounds, MIN(created_at) AS first_at,"
    " MAX(created_at) AS last_at FROM leader_board GROUP BY 1) USING (execution_id)"
    " {where} ORDER BY last_at DESC, execution_id LIMIT ? OFFSET ?"
)
SEARCH = (
    "WHERE contains(lower(user_prompt), lower(?)) OR starts_with(execution_id, ?)"
    " OR EXISTS (SELECT 1 FROM leader_board AS board"
    " WHERE board.execution_id = execution_summary.execution_id"
    " AND contains(lower(team_name), lower(?)))"
)
COUNT = f"SELECT COUNT(*) FROM execution_summary {SEARCH}"


@dataclass(frozen=True)
class Filled:
    """A database of many executions, an hour old, and ids to ask for."""

    path: Path
    rows: int
    ids: list[str]


def fill(path: Path, rows: int) -> Filled:
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
            f" 1 + r // {TEAMS}, 'submission ' || run.i || ' ' || r, score,"
            """ '{"overall_score": ' || score || ', "metrics": [{"metric_name": "Coverage", "score": 67.51,"""
            """ "evaluator_comment": "主要な論点は網羅されています。"}]}', moment, moment"""
            " FROM (SELECT run.id, run.i, r, (5000 + (hash(run.i, r) % 5000)::INTEGER) / 100.0 AS score,"
            " TIMESTAMP '2026-01-01' + to_seconds(run.i * 600 + r * 5) AS moment"
            f" FROM run, range({TEAMS * ROUNDS}) t(r)) run ORDER BY run.i, r"
        )
        connection.execute(
            "INSERT INTO execution_summary"
            " SELECT id, 'task ' || i || repeat(' 競合タスクの長い説明。', 10), 'completed', '[]', 20,"
            " 'team-001', 88.0, 500,"
            " TIMESTAMP '2026-01-01' + to_seconds(i * 600 + 500), TIMESTAMP '2026-01-01' FROM run"
        )
        ids = [
            row[0]
            for row in connection.execute("SELECT id FROM run USING SAMPLE 200 (reservoir, 1)").fetchall()
        ]
    return Filled(path, rows, ids)


@pytest.fixture(scope="module", params=[10_000, 1_000_000], ids=["10k", "1M"])
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Filled:
    return fill(tmp_path_factory.mktemp("filled") / "mixseek.db", request.param)


@pytest.fixture
def store(filled: Filled, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AggregationStore]:
    cache = tmp_path_factory.getbasetemp() / f"cache-{filled.rows}"
    with AggregationStore(filled.path, cache_folder=cache) as opened:
        opened.ranking(filled.ids[0])
        yield opened


@dataclass(frozen=True)
class Bare:
    """Kept connections of one's own: to a plain copy, and to one with a digest."""

    plain: duckdb.DuckDBPyConnection
    same: duckdb.DuckDBPyConnection


@pytest.fixture
def bare(filled: Filled, store: AggregationStore, tmp_path: Path) -> Iterator[Bare]:
    own = tmp_path / "bare.duckdb"
    own.write_bytes(filled.path.read_bytes())
    with _kept_open(own) as plain, duckdb.connect(config={"threads": "2", "memory_limit": "512MB"}) as same:
        same.execute(f"ATTACH '{own}' AS bare (READ_ONLY)")
        same.execute(f"CREATE SCHEMA {digest.SCHEMA}")
        same.execute("SET search_path = 'memory.main,bare.main'")
        for statement in digest.statements(Schema({t: frozenset(columns) for t, columns in COLUMNS.items()})):
            same.execute(statement)
        yield Bare(plain, same)


def _kept_open(path: Path) -> duckdb.DuckDBPyConnection:
    return duckdb.connect(str(path), read_only=True, config={"threads": "2", "memory_limit": "256MB"})


def _compare(name: str, report: Callable[[str], None], times: int = 100, **sides: Callable[[], Any]) -> None:
    """Alternating, so that whatever else the machine does falls on all sides alike."""
    samples: dict[str, list[float]] = {side: [] for side in sides}
    for _ in range(times):
        for side, call in sides.items():
            start = time.perf_counter()
            call()
            samples[side].append(time.perf_counter() - start)
    ours, *floors = (sorted(side) for side in samples.values())
    report(f"{name}: {_figures(ours)}")
    for side, floor in zip([*sides][1:], floors, strict=True):
        # The fast tenth tells what the code costs where a busy machine blurs the middle.
        report(
            f"  {side} query {_figures(floor)}: ratio {_at(ours, 0.5) / _at(floor, 0.5):.2f},"
            f" of the fastest tenths {_at(ours, 0.1) / _at(floor, 0.1):.2f}"
        )


def _figures(samples: list[float]) -> str:
    return f"{_at(samples, 0.5) * 1000:.3f} ms (p95 {_at(samples, 0.95) * 1000:.2f})"


def _at(samples: list[float], share: float) -> float:
    return samples[int(len(samples) * share)]


@pytest.fixture
def report(capsys: pytest.CaptureFixture[str]) -> Callable[[str], None]:
    def line(text: str) -> None:
        with capsys.disabled():
            print(text if text.startswith(" ") else f"\n{text}")

    return line


def test_ranking(
    filled: Filled, store: AggregationStore, bare: Bare, report: Callable[[str], None], benchmark: Any
) -> None:
    ids = [itertools.cycle(filled.ids) for _ in range(3)]
    expected = bare.plain.execute(RANKING, [filled.ids[0]]).fetchall()
    found = store.standings(filled.ids[0], "team_id")
    assert [(place.team_id, place.kept_score) for place in found] == [(row[0], row[2]) for row in expected]
    _compare(
        f"ranking of one execution among {filled.rows:,} rows",
        report,
        ours=lambda: store.standings(next(ids[0]), "team_id"),
        plain=lambda: bare.plain.execute(RANKING, [next(ids[1])]).fetchall(),
        same=lambda: bare.same.execute(SAME_RANKING, [next(ids[2])]).fetchall(),
    )
    benchmark(lambda: store.standings(next(ids[0]), "team_id"))


def test_ranking_as_a_coroutine(
    filled: Filled, store: AggregationStore, bare: Bare, report: Callable[[str], None], benchmark: Any
) -> None:
    ids = [itertools.cycle(filled.ids) for _ in range(3)]
    with asyncio.Runner() as runner:
        _compare(
            f"the same, awaited, among {filled.rows:,} rows",
            report,
            ours=lambda: runner.run(store.get_leader_board_ranking(next(ids[0]))),
            plain=lambda: bare.plain.execute(RANKING, [next(ids[1])]).fetchall(),
            same=lambda: bare.same.execute(SAME_RANKING, [next(ids[2])]).fetchall(),
        )
        benchmark(lambda: runner.run(store.get_leader_board_ranking(next(ids[0]))))


@pytest.mark.parametrize("search", ["", "77"], ids=["whole list", "searched"])
def test_page_of_executions_with_their_count(
    search: str,
    filled: Filled,
    store: AggregationStore,
    bare: Bare,
    report: Callable[[str], None],
    benchmark: Any,
) -> None:
    wanted, signs = Filter(search), Signs(NOW)
    last = max(1, filled.rows // 100 - 49)
    offsets = [0] if search else range(0, last, max(1, last // 40))
    turns = [itertools.cycle(offsets) for _ in range(3)]

    def ours() -> tuple[int, int]:
        found = store.executions(search, limit=50, offset=next(turns[0]), now=NOW)
        return len(found), store.count_executions(search, now=NOW)

    def plain() -> tuple[int, int]:
        sql = LIST.format(where=SEARCH if search else "")
        terms = [search] * 3 if search else []
        found = bare.plain.execute(sql, [*terms, 50, next(turns[1])]).fetchall()
        count = COUNT if search else "SELECT COUNT(*) FROM execution_summary"
        return len(found), bare.plain.execute(count, terms).fetchall()[0][0]

    def same() -> tuple[int, int]:
        found = bare.same.execute(*executions.page(wanted, signs, "newest", 50, next(turns[2]))).fetchall()
        return len(found), bare.same.execute(*executions.count(wanted, signs)).fetchall()[0][0]

    assert ours() == plain() == same()
    _compare(
        f"a page and the count of {filled.rows // 100:,} executions{' searched' if search else ''}"
        f" over {filled.rows:,} rows",
        report,
        times=40,
        ours=ours,
        plain=plain,
        same=same,
    )
    benchmark.pedantic(ours, rounds=5)


WRITER = """
import sys, duckdb
path, teams = sys.argv[1], int(sys.argv[2])
connection = duckdb.connect(path)
print("ready", flush=True)
for number, _ in enumerate(sys.stdin):
    connection.execute(
        "INSERT INTO leader_board (execution_id, team_id, team_name, round_number, submission_content, score,"
        " score_details) VALUES (?, ?, 'Team', 1, repeat('text ', 400), ?, '{}')",
        [f"other-{number}", f"team-{number % teams:03}", number % 100],
    )
    print("committed", flush=True)
"""


class Run:
    """A MixSeek that runs: it holds the file, and commits a row when it is told to."""

    def __init__(self, path: Path, teams: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), str(teams)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._answer()

    def _answer(self) -> None:
        assert self._process.stdout
        assert self._process.stdout.readline()

    def commit(self) -> None:
        assert self._process.stdin
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        self._answer()

    def end(self) -> None:
        self._process.communicate(timeout=60)


@pytest.mark.parametrize(
    ("teams", "megabytes"), [(4, 0), (20, 0), (20, 150)], ids=["4 teams x 5", "20 teams x 5", "150 MB"]
)
def test_ranking_when_the_file_changed_before_each_call(
    teams: int, megabytes: int, tmp_path: Path, report: Callable[[str], None], benchmark: Any
) -> None:
    """Every round of a live run: at most 1.5 times a verified copy, a connection and one plain query."""
    path = tmp_path / "workspace" / "mixseek.db"
    path.parent.mkdir()
    with duckdb.connect(str(path)) as connection:
        for statement in DDL:
            connection.execute(statement)
        connection.execute("CREATE TABLE padding (bytes BLOB)")
        while path.stat().st_size < megabytes * 1_000_000:
            connection.execute("INSERT INTO padding VALUES (?)", [os.urandom(1_000_000)])
            connection.execute("CHECKPOINT")
        connection.execute(
            "INSERT INTO leader_board (execution_id, team_id, team_name, round_number, submission_content,"
            " score, score_details) SELECT 'run', 'team-' || lpad(t::VARCHAR, 3, '0'), 'Team ' || t, r,"
            " repeat('text ', 400), (t * r * 7) % 100, '{}' FROM range(?) t(t), range(1, 6) r(r)",
            [teams],
        )
    run = Run(path, teams)
    numbers = itertools.count()
    samples: dict[str, list[float]] = {"ours": [], "bare": []}

    def bare() -> int:
        target = tmp_path / f"bare-{next(numbers)}"
        copying.copy(str(path), target)
        with _kept_open(target) as connection:
            rows = connection.execute(RANKING, ["run"]).fetchall()
        for file in tmp_path.glob(f"{target.name}*"):
            file.unlink()
        return len(rows)

    with AggregationStore(path, cache_folder=tmp_path / "cache") as store:
        sides = {"ours": lambda: len(store.ranking("run")), "bare": bare}
        store.ranking("run")
        for _ in range(20 if megabytes else 60):
            for name, side in sides.items():
                run.commit()
                start = time.perf_counter()
                assert side() == teams
                samples[name].append(time.perf_counter() - start)
        benchmark.pedantic(sides["ours"], setup=run.commit, rounds=3)
    run.end()
    ours, floor = sorted(samples["ours"]), sorted(samples["bare"])
    report(
        f"ranking, the file of {path.stat().st_size / 1e6:.1f} MB changed before each call: {_figures(ours)}"
    )
    report(
        f"  verified copy and plain query {_figures(floor)}: ratio {_at(ours, 0.5) / _at(floor, 0.5):.2f},"
        f" of the fastest tenths {_at(ours, 0.1) / _at(floor, 0.1):.2f}"
    )


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


def test_other_pages_while_a_large_file_is_copied(
    filled: Filled, tmp_path: Path, report: Callable[[str], None], benchmark: Any
) -> None:
    """Another workspace's list, alone and while this file is copied and prepared over and over."""
    small = fill(tmp_path / "small.db", 10_000)
    with (
        AggregationStore(small.path, cache_folder=tmp_path / "small") as other,
        AggregationStore(
            filled.path, cache_folder=tmp_path / "large", background_bytes=0, patience=0.0
        ) as large,
    ):
        other.executions(limit=50)

        def asked(times: int) -> list[float]:
            samples = []
            for _ in range(times):
                start = time.perf_counter()
                other.executions(limit=50)
                samples.append(time.perf_counter() - start)
                time.sleep(0.005)
            return sorted(samples)

        alone = asked(200)
        over = threading.Event()

        def copy_again() -> None:
            while not over.is_set():
                large.refresh(wait=None)
                large.close()
                for copy in (tmp_path / "large").glob("*/*/"):
                    shutil.rmtree(copy)

        copier = threading.Thread(target=copy_again)
        copier.start()
        meanwhile = asked(400)
        over.set()
        copier.join()
    megabytes = filled.path.stat().st_size / 1e6
    report(
        f"another list alone: {_figures(alone)}; while {megabytes:,.0f} MB are copied: {_figures(meanwhile)}"
    )
    assert benchmark.pedantic(lambda: len(meanwhile), rounds=1) == 400
