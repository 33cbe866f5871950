"""An answer is at least as new as its question, however large the file is; or there is an error, never an
old answer."""

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import duckdb
import pytest

from builder.contract.round_context import gather_round_context
from builder.contract.user_prompt import UserPromptBuilder
from builder.errors import CopyUnderWay, LeaderboardError, TornCopy
from builder.leaderboard import AggregationStore, Retries, copying
from builder.leaderboard.copying import Changed, Watch
from builder.leaderboard.schema import DDL
from builder.template.models import RoundPromptContext

Open = Callable[..., AggregationStore]
MEGABYTE = 1_000_000

_COMMIT = (
    "import sys, duckdb\n"
    "with duckdb.connect(sys.argv[1]) as connection:\n"
    "    connection.execute('INSERT INTO leader_board (execution_id, team_id, team_name, round_number,'"
    " \" submission_content, score, score_details) VALUES ('run', ?, ?, ?, 'text', ?, '{}')\","
    " [sys.argv[2], sys.argv[2].upper(), int(sys.argv[3]), float(sys.argv[4])])\n"
)


def _commit(database: Path, team: str, number: int, score: float) -> None:
    """A row of another process, which is over when this returns."""
    subprocess.run(
        [sys.executable, "-c", _COMMIT, str(database), team, str(number), str(score)], check=True, timeout=60
    )


@pytest.fixture
def database(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A run in which one team has ten points, in a file of so many bytes."""
    path = tmp_path / "workspace" / "mixseek.db"
    path.parent.mkdir()
    with duckdb.connect(str(path)) as connection:
        for statement in DDL:
            connection.execute(statement)
        connection.execute("CREATE TABLE padding (bytes BLOB)")
        for _ in range(getattr(request, "param", MEGABYTE) // MEGABYTE):
            connection.execute("INSERT INTO padding VALUES (?)", [os.urandom(MEGABYTE)])
    _commit(path, "ours", 1, 10.0)
    return path


def _context() -> RoundPromptContext:
    return RoundPromptContext.model_validate(
        {
            "user_prompt": "Task",
            "round_number": 2,
            "round_history": [],
            "team_id": "ours",
            "team_name": "OURS",
            "execution_id": "run",
        }
    )


@pytest.mark.parametrize(
    "database",
    [MEGABYTE, pytest.param(150 * MEGABYTE, marks=pytest.mark.slow)],
    indirect=True,
    ids=["1 MB", "150 MB"],
)
def test_what_another_process_committed_between_two_calls_is_seen(database: Path, open_store: Open) -> None:
    """A team was told that it is first although another had committed 99 points."""
    store = open_store(database)
    builder = UserPromptBuilder(database.parent, store, environ={})

    async def ask() -> list[Any]:
        prompt = await builder.build_team_prompt(_context())
        gathered = await gather_round_context(store, "run", "ours", 2)
        return [
            "THEIRS" in prompt,
            await store.get_team_current_rank("run", "ours"),
            [entry.team_id for entry in await store.get_leaderboard_ranking_by_execution("run")],
            [entry.team_id for entry in gathered.leaderboard_ranking],
            len(await store.get_rounds("run")),
            (await store.list_executions())[0].best_score,
        ]

    with asyncio.Runner() as runner:
        before = runner.run(ask())
        assert before == [False, 1, ["ours"], ["ours"], 1, 10.0]
        _commit(database, "theirs", 1, 99.0)
        after = runner.run(ask())
        assert after == [True, 2, ["theirs", "ours"], ["theirs", "ours"], 2, 99.0]


def test_a_copy_that_began_before_the_last_commit_does_not_answer(
    database: Path, open_store: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One thread's copy is nearly over when a row is committed and another thread asks."""
    store = open_store(database)
    store.ranking("run")
    _commit(database, "ours", 2, 20.0)
    copied, go_on = threading.Event(), threading.Event()
    real_copy = copying.copy

    def holding(path: str, target: Path, *options: Any) -> Any:
        identity = real_copy(path, target, *options)
        if not copied.is_set():
            copied.set()
            assert go_on.wait(30)
        return identity

    monkeypatch.setattr(copying, "copy", holding)
    answers: dict[str, float] = {}
    first = threading.Thread(target=lambda: answers.update(first=store.ranking("run")[0].max_score))
    first.start()
    assert copied.wait(30)
    _commit(database, "ours", 3, 30.0)
    second = threading.Thread(target=lambda: answers.update(second=store.ranking("run")[0].max_score))
    second.start()
    go_on.set()
    first.join(30)
    second.join(30)
    assert answers == {"first": 20.0, "second": 30.0}


def test_without_a_new_copy_there_is_an_error_and_no_old_answer(
    database: Path, open_store: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(database, retries=Retries(attempts=2, first_wait=0.0))
    assert store.rank_of("run", "ours") == 1

    def changing(*_: object, **__: object) -> NoReturn:
        raise Changed

    _commit(database, "theirs", 1, 99.0)
    with monkeypatch.context() as broken:
        broken.setattr(copying, "copy", changing)
        with pytest.raises(TornCopy, match="changed during each of 2 attempts"):
            store.rank_of("run", "ours")
    assert store.rank_of("run", "ours") == 2


def test_the_wait_for_a_new_copy_has_a_stated_limit(
    database: Path, open_store: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(database, patience=0.05)
    store._snapshots._patience = None
    store.ranking("run")
    store._snapshots._patience = 0.05
    _commit(database, "theirs", 1, 99.0)
    standing, real = threading.Event(), copying._transfer

    def slowly(reading: int, writing: int, size: int, watch: Watch) -> int:
        while not standing.wait(0.01):
            watch.check()
        return real(reading, writing, size, watch)

    monkeypatch.setattr(copying, "_transfer", slowly)
    with pytest.raises(
        CopyUnderWay, match=r"has changed, and 0 of \d MB were copied within 0.05 s"
    ) as caught:
        store.ranking("run")
    assert "0.05秒以内にコピーできませんでした" in caught.value.text("ja")
    standing.set()


def test_a_log_that_appears_beside_the_file_is_a_change(database: Path, open_store: Open) -> None:
    """While it checkpoints, DuckDB 2 commits into a log of another name."""
    store = open_store(database)
    store.ranking("run")
    first = store._snapshots.reader()
    Path(f"{database}.wal.checkpoint").write_bytes(b"")
    # DuckDB may refuse an empty log, but the old copy does not answer.
    with suppress(LeaderboardError):
        assert store._snapshots.reader() is not first
