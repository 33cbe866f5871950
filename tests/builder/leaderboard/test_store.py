import asyncio
import struct
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest

from builder.errors import (
    LeaderboardError,
    MissingColumn,
    MissingTable,
    PromptNotStored,
    UnknownExecution,
    UnknownRound,
    UnknownTeam,
)
from builder.leaderboard import AggregationStore, database_path
from builder.leaderboard.schema import DDL, Gap
from builder.template.dialect import CONTRACT, MIXSEEK
from builder.template.models import RankingStore
from tests.builder.leaderboard.conftest import RUNS, Played

Open = Callable[..., AggregationStore]


def _write(played: Played, *statements: str) -> None:
    with duckdb.connect(str(played.path / "mixseek.db")) as connection:
        for statement in statements:
            connection.execute(statement)


def _add_row(played: Played, execution: str, team: str, number: int, score: float) -> None:
    with duckdb.connect(str(played.path / "mixseek.db")) as connection:
        connection.execute(
            "INSERT INTO leader_board (execution_id, team_id, team_name, round_number, submission_content,"
            " score, score_details) VALUES (?, ?, ?, ?, 'text', ?, ?)",
            [execution, team, team.upper(), number, score, f'{{"overall_score": {score}}}'],
        )


def test_a_store_serves_the_builders_as_a_ranking_store(original: Played, kept: AggregationStore) -> None:
    assert isinstance(kept, RankingStore)


def test_ranking_has_every_team_with_its_best_score_and_its_rounds(
    original: Played, kept: AggregationStore
) -> None:
    ranking = kept.ranking(original.ids[0])
    with duckdb.connect(str(original.path / "mixseek.db"), read_only=True) as connection:
        rows = connection.execute(
            "SELECT team_id, max(score), count(*) FROM leader_board WHERE execution_id = ? GROUP BY 1",
            [original.ids[0]],
        ).fetchall()
    assert {(entry.team_id, entry.max_score, entry.total_rounds) for entry in ranking} == set(rows)
    assert [entry.max_score for entry in ranking] == sorted((row[1] for row in rows), reverse=True)


@pytest.mark.slow
def test_equal_scores_are_ordered_by_latest_round_in_the_contract_and_by_team_in_mixseek(
    played: Played, open_store: Open
) -> None:
    for team, number, score in [("c", 1, 70), ("b", 1, 70), ("b", 2, 60), ("a", 1, 70), ("d", 1, 80)]:
        _add_row(played, "tied", team, number, score)
    contract = open_store(played.path, dialect=CONTRACT).ranking("tied")
    mixseek = open_store(played.path, dialect=MIXSEEK).ranking("tied")
    assert [entry.team_id for entry in contract] == ["d", "b", "a", "c"]
    assert [entry.team_id for entry in mixseek] == ["d", "a", "b", "c"]


@pytest.mark.slow
def test_team_ids_are_ordered_by_bytes(played: Played, open_store: Open) -> None:
    for team in ("ä", "b", "B", "あ"):
        _add_row(played, "tied", team, 1, 50)
    ranking = open_store(played.path, dialect=MIXSEEK).ranking("tied")
    assert [entry.team_id for entry in ranking] == ["B", "b", "ä", "あ"]


@pytest.mark.slow
def test_ranking_shows_the_score_as_the_leaderboard_keeps_it(played: Played, open_store: Open) -> None:
    _add_row(played, "precise", "a", 1, 84.235)
    store = open_store(played.path)
    (kept,) = struct.unpack("f", struct.pack("f", 84.235))
    assert store.ranking("precise")[0].max_score == kept
    assert store.rounds("precise")[0].score == 84.235


@pytest.mark.slow
def test_scores_may_be_negative_or_over_a_hundred(played: Played, open_store: Open) -> None:
    _add_row(played, "wild", "a", 1, -12.5)
    _add_row(played, "wild", "b", 1, 250.0)
    assert [entry.max_score for entry in open_store(played.path).ranking("wild")] == [250.0, -12.5]


@pytest.mark.slow
def test_a_score_that_is_no_number_has_no_place(played: Played, open_store: Open) -> None:
    _add_row(played, "odd", "a", 1, 50)
    _write(
        played,
        "INSERT INTO leader_board (execution_id, team_id, team_name, round_number, submission_content, score,"
        " score_details) VALUES ('odd', 'b', 'B', 1, '', 'nan', '{}')",
    )
    store = open_store(played.path)
    assert [entry.team_id for entry in store.ranking("odd")] == ["a"]
    assert [record.score for record in store.rounds("odd")] == [50.0, None]


def test_an_execution_without_rows_has_an_empty_ranking_and_no_ranks(
    original: Played, kept: AggregationStore
) -> None:
    assert kept.ranking("nothing ran under this id") == []
    assert kept.rank_of("nothing ran under this id", "team-001") is None
    assert kept.rank_of(original.ids[0], "team-999") is None


def test_ids_are_bound_never_spliced(original: Played, kept: AggregationStore) -> None:
    assert kept.ranking("' OR 1=1 --") == []
    assert kept.executions("%' OR 1=1 --") == []


def test_coroutines_answer_like_the_plain_methods(original: Played, kept: AggregationStore) -> None:
    store, execution = kept, original.ids[0]

    async def ask() -> list[object]:
        return [
            await store.get_leader_board_ranking(execution),
            await store.get_leaderboard_ranking_by_execution(execution, limit=2),
            await store.get_team_current_rank(execution, "team-003"),
            await store.get_team_submission_history(execution, "team-001", limit=2),
            await store.get_evaluation_results_by_execution(execution, "team-001"),
            await store.get_rounds(execution),
            await store.list_executions("batch", limit=1),
            await store.delivered_prompt(execution, "team-001", 2),
            await store.rebuild_context(execution, "team-001", 2),
        ]

    assert asyncio.run(ask()) == [
        [entry.model_dump() for entry in store.ranking(execution)],
        store.top(execution, 2),
        store.rank_of(execution, "team-003"),
        store.submissions(execution, "team-001", 2),
        store.evaluations(execution, "team-001"),
        store.rounds(execution),
        store.executions("batch", limit=1),
        store.delivered(execution, "team-001", 2),
        store.rebuild(execution, "team-001", 2),
    ]


@pytest.mark.slow
def test_a_coroutine_leaves_the_loop_free_while_it_waits(played: Played, open_store: Open) -> None:
    store = open_store(played.path)

    async def ask() -> int:
        ticks = 0
        waiting = asyncio.ensure_future(store.get_leader_board_ranking(played.ids[0]))
        while not waiting.done():
            ticks += 1
            await asyncio.sleep(0)
        return ticks

    # The first question makes the copy; a blocked loop would not have come round even twice.
    assert asyncio.run(ask()) > 2


def test_top_and_rank_follow_the_ranking(original: Played, kept: AggregationStore) -> None:
    ranking = kept.ranking(original.ids[0])
    top = kept.top(original.ids[0], limit=2)
    assert [(entry.rank, entry.team_id, entry.best_score) for entry in top] == [
        (place, entry.team_id, entry.max_score) for place, entry in enumerate(ranking[:2], start=1)
    ]
    assert kept.rank_of(original.ids[0], ranking[3].team_id) == 4


def test_submission_history_is_in_the_order_of_rounds_and_limited_to_the_latest(
    original: Played, kept: AggregationStore
) -> None:
    history = kept.submissions(original.ids[0], "team-001")
    assert [record.round_number for record in history] == [1, 2, 3]
    assert kept.submissions(original.ids[0], "team-001", limit=2) == history[1:]
    assert kept.submissions(original.ids[0], "team-001", limit=0) == []
    assert history[0].content.startswith("# 提出 第1版")
    assert "Coverage: " in history[0].feedback


def test_nothing_submitted_yet_is_an_empty_history_not_an_error(
    original: Played, kept: AggregationStore
) -> None:
    assert kept.submissions("just started", "team-001", limit=0) == []
    assert kept.submissions(original.ids[0], "team-999") == []
    assert kept.evaluations("just started") == []


def test_evaluations_carry_metrics_and_comments(original: Played, kept: AggregationStore) -> None:
    results = kept.evaluations(original.ids[0])
    assert len(results) == 12
    record = kept.rounds(original.ids[0], "team-001")[0]
    first = kept.evaluations(original.ids[0], "team-001")[0]
    assert first.overall_score == record.score
    assert first.metrics == {metric.name: metric.score for metric in record.metrics}
    assert set(first.metrics) == {"ClarityCoherence", "Coverage", "Relevance"}


def test_rounds_tell_everything_about_a_round_in_utc(original: Played, kept: AggregationStore) -> None:
    record = kept.rounds(original.ids[1], "team-002")[0]
    assert record.submission is not None
    assert record.submission.startswith("# Submission, version 1")
    assert record.should_continue is True
    assert record.reasoning
    assert record.confidence is not None
    assert record.started_at is not None and record.ended_at is not None and record.submitted_at is not None
    # The writer's machine was in Tokyo; what it wrote in local time comes out in UTC all the same.
    assert abs(record.submitted_at - record.ended_at) < timedelta(seconds=5)
    assert record.started_at - RUNS[1].started_at < timedelta(minutes=2)


def test_executions_tell_state_task_teams_rounds_and_times(original: Played, kept: AggregationStore) -> None:
    later = datetime(2026, 4, 6, tzinfo=UTC)
    found = {execution.execution_id: execution for execution in kept.executions(now=later)}
    assert [execution.execution_id for execution in kept.executions(now=later)] == list(
        reversed(original.ids)
    )
    states = [found[execution_id].state for execution_id in original.ids]
    assert states == ["completed", "completed", "partial_failure", "failed", "unknown"]
    assert [found[execution_id].user_prompt for execution_id in original.ids] == [
        *(run.task for run in RUNS[:4]),
        None,
    ]
    assert [found[execution_id].teams for execution_id in original.ids] == [4, 4, 4, 4, 4]
    assert [found[execution_id].rounds for execution_id in original.ids[:4]] == [3, 4, 3, 0]
    assert found[original.ids[3]].best_score is None
    for run, execution_id in zip(RUNS, original.ids, strict=True):
        started = found[execution_id].started_at
        assert started is not None
        if run.state != "failed":
            assert abs(started - run.started_at) < timedelta(minutes=2), run.zone


def test_a_run_without_a_summary_is_running_while_it_shows_signs_of_life(
    original: Played, kept: AggregationStore
) -> None:
    sign = max(team.updated_at for team in kept.progress([original.ids[4]]) if team.updated_at)
    soon = kept.executions(now=sign + timedelta(minutes=10))[0]
    late = kept.executions(now=sign + timedelta(minutes=20))[0]
    assert (soon.state, late.state) == ("running", "unknown")


def test_executions_are_searched_by_task_and_by_the_beginning_of_the_id(
    original: Played, kept: AggregationStore
) -> None:
    assert [found.execution_id for found in kept.executions("規程")] == [original.ids[2]]
    assert [found.execution_id for found in kept.executions("NIGHTLY batch")] == [original.ids[1]]
    assert [found.execution_id for found in kept.executions(original.ids[4][:8])] == [original.ids[4]]
    assert kept.executions("100%") == []
    assert kept.count_executions("規程") == 1


def test_pages_of_executions_make_up_the_whole(original: Played, kept: AggregationStore) -> None:
    pages = [kept.executions(limit=2, offset=offset) for offset in (0, 2, 4, 6)]
    assert [found.execution_id for page in pages for found in page] == list(reversed(original.ids))
    assert kept.count_executions() == 5


def test_unknown_execution_team_and_round_are_told_apart(original: Played, kept: AggregationStore) -> None:
    with pytest.raises(UnknownExecution):
        kept.delivered("no such", "team-001", 1)
    with pytest.raises(UnknownTeam):
        kept.delivered(original.ids[0], "team-999", 1)
    with pytest.raises(UnknownRound):
        kept.rebuild(original.ids[0], "team-001", 9)
    with pytest.raises(UnknownExecution):
        kept.rounds("no such")


def test_delivered_prompt_is_the_users_part_wherever_it_stands(
    original: Played, kept: AggregationStore
) -> None:
    bare = kept.delivered(original.ids[0], "team-001", 1)
    after_system = kept.delivered(original.ids[1], "team-001", 1)
    assert (bare.part, after_system.part) == (0, 1)
    assert bare.text.startswith(f"# ユーザから指定されたタスク\n{RUNS[0].task}\n")
    assert after_system.text.startswith(f"# 競合タスク\n{RUNS[1].task}\n")
    assert bare.timestamp is not None and bare.timestamp.tzinfo is not None


@pytest.mark.slow
def test_a_conversation_without_a_user_part_says_that_the_prompt_is_not_stored(
    played: Played, open_store: Open
) -> None:
    _write(played, "UPDATE round_history SET message_history = '[{\"parts\": []}]'")
    with pytest.raises(PromptNotStored, match="The prompt of round 1 of team `team-001` is not stored"):
        open_store(played.path).delivered(played.ids[0], "team-001", 1)


# --- files of another version ---------------------------------------------------------------


@pytest.mark.slow
def test_a_missing_table_is_named_and_the_rest_still_works(played: Played, open_store: Open) -> None:
    _write(played, "DROP TABLE round_history", "DROP TABLE round_status")
    store = open_store(played.path)
    assert store.gaps() == (Gap("round_history"), Gap("round_status"))
    assert len(store.ranking(played.ids[0])) == 4
    assert len(store.executions()) == 5
    assert store.rounds(played.ids[0], "team-001")[0].reasoning is None
    with pytest.raises(MissingTable, match="no table `round_history`") as caught:
        store.delivered(played.ids[0], "team-001", 1)
    assert "テーブル `round_history` がありません" in caught.value.text("ja")


@pytest.mark.slow
def test_a_missing_column_is_named_and_the_rest_still_works(played: Played, open_store: Open) -> None:
    _write(
        played,
        "CREATE TABLE kept AS SELECT * EXCLUDE (score) FROM leader_board",
        "DROP TABLE leader_board",
        "ALTER TABLE kept RENAME TO leader_board",
    )
    store = open_store(played.path)
    assert store.gaps() == (Gap("leader_board", "score"),)
    with pytest.raises(MissingColumn, match="`leader_board` has no column `score`"):
        store.ranking(played.ids[0])
    assert [found.user_prompt for found in store.executions("規程")] == [RUNS[2].task]
    assert store.delivered(played.ids[0], "team-001", 1).text


@pytest.mark.slow
def test_columns_that_an_answer_can_do_without_are_left_empty(played: Played, open_store: Open) -> None:
    _write(
        played,
        "CREATE TABLE kept AS SELECT execution_id, team_id, team_name, round_number, score FROM leader_board",
        "DROP TABLE leader_board",
        "ALTER TABLE kept RENAME TO leader_board",
        "DROP TABLE execution_summary",
    )
    store = open_store(played.path)
    assert len(store.ranking(played.ids[0])) == 4
    record = store.rounds(played.ids[0], "team-001")[0]
    assert (record.submission, record.score_details, record.submitted_at) == (None, None, None)
    assert record.score is not None
    assert {found.state for found in store.executions()} == {"unknown"}


@pytest.mark.slow
def test_columns_of_other_types_are_said_to_be_foreign(played: Played, open_store: Open) -> None:
    _write(
        played,
        "DROP TABLE round_status",
        "CREATE TABLE round_status AS SELECT 1 AS execution_id, 2 AS team_id, 3 AS round_number",
    )
    with pytest.raises(LeaderboardError, match="has other column types than MixSeek's"):
        open_store(played.path).rounds(played.ids[0])


@pytest.mark.slow
def test_a_workspace_or_a_file_may_be_given(played: Played, cache: Path) -> None:
    file = played.path / "mixseek.db"
    for store in (
        AggregationStore(played.path, cache_folder=cache),
        AggregationStore(str(played.path), cache_folder=cache),
        AggregationStore(file, cache_folder=cache),
        AggregationStore(db_path=file, cache_folder=cache),
    ):
        with store:
            assert store.path == file
            assert len(store.executions()) == 5
    assert AggregationStore(Path("gone/mixseek.db")).path == Path("gone/mixseek.db")
    assert database_path("somewhere") == Path("somewhere/mixseek.db")
    with pytest.raises(TypeError):
        AggregationStore()


def test_our_schema_has_no_gaps(original: Played, kept: AggregationStore) -> None:
    assert len(DDL) == 14
    assert kept.gaps() == ()
