"""Document 002: context from the store, the two queries, compression, and what a budget leaves out."""

import asyncio
import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from builder import (
    AggregationStore,
    FittedPrompt,
    RoundContext,
    SubmissionRecord,
    compress_submission_history,
    fit_round_prompt,
    gather_round_context,
    read_round_context,
)
from tests.contract.leaderboards import Played, write_leaderboard
from tests.contract.mixseek_shapes import Judged, Placed, Submitted

RANKING_SQL = """
SELECT team_id, team_name, MAX(score) as best_score, MAX(round_number) as latest_round
FROM leader_board WHERE execution_id = ?
GROUP BY team_id, team_name ORDER BY best_score DESC, latest_round DESC LIMIT ?
"""
RANK_SQL = """
WITH team_rankings AS (
    SELECT team_id, team_name,
        ROW_NUMBER() OVER (ORDER BY MAX(score) DESC, MAX(round_number) DESC) as rank
    FROM leader_board WHERE execution_id = ? GROUP BY team_id, team_name
)
SELECT rank FROM team_rankings WHERE team_id = ?
"""


def random_rows() -> list[Played]:
    """Ties, negatives and scores over a hundred; no two teams with the same best score and latest round."""
    chance = random.Random(2)
    return [
        ("random", f"team-{team:02}", f"Team {team}", number, float(chance.randrange(-20, 130, 10)))
        for team in range(12)
        for number in range(1, chance.randrange(2, 7))
    ]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows: list[Played] = [
        *random_rows(),
        ("odd", "a", "A", 1, 50.0),
        ("odd", "b", "B", 1, math.nan),
        ("odd", "c", "C", 1, None),
        ("renamed", "a", "Old", 1, 50.0),
        ("renamed", "a", "New", 2, 60.0),
        *(("played", "t1", "Alpha", number, 50.0 + number) for number in (1, 2, 3)),
        ("played", "t2", "Beta", 1, 90.0),
    ]
    return write_leaderboard(tmp_path_factory.mktemp("002"), rows)


@pytest.fixture(scope="module")
def store(database: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AggregationStore]:
    with AggregationStore(db_path=database, cache_folder=tmp_path_factory.mktemp("cache")) as opened:
        yield opened


def asked(database: Path, sql: str, *values: Any) -> list[Any]:
    with duckdb.connect(str(database), read_only=True) as connection:
        return connection.execute(sql, values).fetchall()


# --- DuckDB クエリ --------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [1, 5, 10, 100])
def test_query_ranking_is_the_documents(database: Path, store: AggregationStore, limit: int) -> None:
    found = asyncio.run(store.get_leaderboard_ranking_by_execution("random", limit=limit))
    expected = asked(database, RANKING_SQL, "random", limit)
    assert [entry.best_score for entry in found] == [row[2] for row in expected]
    latest = {row[0]: row[3] for row in asked(database, RANKING_SQL, "random", 100)}
    assert [latest[entry.team_id] for entry in found] == [row[3] for row in expected]
    assert [entry.rank for entry in found] == [*range(1, len(expected) + 1)]


def test_query_rank_is_the_documents_where_it_is_determined(database: Path, store: AggregationStore) -> None:
    rows = asked(database, RANKING_SQL, "random", 100)
    keys = [row[2:] for row in rows]
    determined = [row[0] for row in rows if keys.count(row[2:]) == 1]
    assert len(determined) > 5
    for team in determined:
        rank = asyncio.run(store.get_team_current_rank("random", team))
        assert [(rank,)] == asked(database, RANK_SQL, "random", team)


def test_query_nobody_played(store: AggregationStore) -> None:
    assert asyncio.run(store.get_leaderboard_ranking_by_execution("nothing")) == []
    assert asyncio.run(store.get_team_current_rank("played", "nobody")) is None


def test_query_scores_that_are_no_number_have_no_place(store: AggregationStore) -> None:
    """Decided differently: to the document's query NaN is the greatest score of all."""
    assert [entry.team_id for entry in store.ranking("odd")] == ["a"]


def test_query_a_renamed_team_has_two_rows(database: Path, store: AggregationStore) -> None:
    assert [entry.team_name for entry in store.ranking("renamed")] == [
        row[1] for row in asked(database, RANKING_SQL, "renamed", 10)
    ]


# --- コンテキスト情報 -----------------------------------------------------------------------


def test_context_history_and_results_of_a_team(store: AggregationStore) -> None:
    latest = asyncio.run(store.get_team_submission_history("played", "t1", limit=2))
    assert [(each.round_number, each.content, each.score) for each in latest] == [
        (2, "回答2", 52.0),
        (3, "回答3", 53.0),
    ]
    results = asyncio.run(store.get_evaluation_results_by_execution("played", "t1"))
    assert [(each.overall_score, each.metrics) for each in results] == [
        (51.0, {"m": 50.0}),
        (52.0, {"m": 50.0}),
        (53.0, {"m": 50.0}),
    ]


def test_context_has_the_five_fields() -> None:
    context = RoundContext(
        round_number=1,
        submission_history=[],
        evaluation_feedback=[],
        leaderboard_ranking=[],
        current_team_rank=1,
    )
    assert (context.round_number, context.current_team_rank) == (1, 1)


def test_context_is_gathered_from_earlier_rounds_ranking_and_rank(store: AggregationStore) -> None:
    context = asyncio.run(gather_round_context(store, "played", "t1", 3, "質問"))
    assert [each.round_number for each in context.submission_history] == [1, 2]
    assert [each.overall_score for each in context.evaluation_feedback] == [51.0, 52.0]
    assert [each.team_id for each in context.leaderboard_ranking] == ["t2", "t1"]
    assert (context.current_team_rank, context.user_query) == (2, "質問")
    assert read_round_context(store, "played", "t1", 3, "質問") == context


class DocumentStore:
    """As the document calls it: by keywords, with a limit that has no default."""

    async def get_team_submission_history(
        self, *, execution_id: str, team_id: str, limit: int
    ) -> list[Submitted]:
        return [Submitted(number, f"回答{number}") for number in (1, 2, 3)][:limit]

    async def get_evaluation_results_by_execution(self, *, execution_id: str, team_id: str) -> list[Judged]:
        return [Judged(50.0 + number, "f") for number in (1, 2, 3)]

    async def get_leaderboard_ranking_by_execution(self, *, execution_id: str, limit: int) -> list[Placed]:
        return [Placed(1, "t1", "Alpha", 53.0)][:limit]


class PlainStore:
    """The same without coroutines."""

    def get_team_submission_history(self, execution_id: str, team_id: str, limit: int) -> list[Submitted]:
        return [Submitted(number, f"回答{number}") for number in (1, 2, 3)]

    def get_evaluation_results_by_execution(self, execution_id: str, team_id: str) -> list[Judged]:
        return [Judged(50.0 + number, "f") for number in (1, 2, 3)]

    def get_leaderboard_ranking_by_execution(self, execution_id: str, limit: int) -> list[Placed]:
        return [Placed(1, "t1", "Alpha", 53.0)]


@pytest.mark.parametrize("own", [DocumentStore(), PlainStore()])
def test_context_may_come_from_a_store_of_ones_own(own: DocumentStore | PlainStore) -> None:
    context = asyncio.run(gather_round_context(own, "e", "t1", 3))
    assert [each.content for each in context.submission_history] == ["回答1", "回答2"]
    assert (context.evaluation_feedback[1].overall_score, context.current_team_rank) == (52.0, 1)


# --- 段階的情報配置 -------------------------------------------------------------------------

LEVEL_1 = ("元のクエリ:\n質問\n", "現在順位: 2位", "- スコア: 70.0/100")
LEVEL_2 = ("- フィードバック: 冗長です", "  3位: Team 3", "スコア推移: ")
LEVEL_3 = ("ラウンド 1: 最初の回答", "  4位: Team 4", "根拠が足りません")
WHOLE = RoundContext.model_validate(
    {
        "round_number": 4,
        "submission_history": [
            Submitted(1, "最初の回答" * 20),
            Submitted(2, "い" * 250),
            Submitted(3, "う" * 250 + "え" * 100),
        ],
        "evaluation_feedback": [
            Judged(60.0, "根拠が足りません"),
            Judged(72.4, "例"),
            Judged(70.0, "冗長です"),
        ],
        "leaderboard_ranking": [Placed(rank, f"t{rank}", f"Team {rank}", 90 - rank) for rank in range(1, 11)],
        "current_team_rank": 2,
        "user_query": "質問",
        "team_id": "t2",
    }
)


def fit(budget: int) -> FittedPrompt:
    return fit_round_prompt(WHOLE, budget=budget)


def test_levels_the_first_is_always_there() -> None:
    fitted = fit(0)
    assert all(part in fitted.text for part in LEVEL_1)
    assert not any(part in fitted.text for part in (*LEVEL_2, *LEVEL_3))
    assert fitted.over_budget and {each.level for each in fitted.left_out} == {2, 3}


def test_levels_hold_under_every_budget() -> None:
    least = fit(0).tokens.tokens
    for budget in range(0, 2_600, 130):
        fitted = fit(budget)
        assert fitted.over_budget == (fitted.tokens.tokens > budget) == (budget < least)
        if any(each.level == 2 for each in fitted.left_out):
            assert not any(part in fitted.text for part in LEVEL_3)
    assert all(part in fitted.text for part in (*LEVEL_1, *LEVEL_2)) and fitted.left_out == ()


def test_levels_the_usual_budget_is_the_configurations() -> None:
    assert fit_round_prompt(WHOLE).budget == 3000


def test_levels_what_is_left_out_is_told() -> None:
    assert fit(0).notes()[1:3] == [
        "Left out (level 2): the feedback on the latest round",
        "Left out (level 2): the three leading teams",
    ]
    assert len(repr(fit(0))) < 800


# --- 圧縮戦略 -------------------------------------------------------------------------------


def record(number: int, content: str) -> SubmissionRecord:
    return SubmissionRecord(round_number=number, content=content)


def test_compress_nothing_is_a_sentence() -> None:
    assert compress_submission_history([]) == "（過去のSubmissionはありません）"


def test_compress_keeps_two_thousand_tokens_by_default() -> None:
    assert compress_submission_history.__defaults__ == (2000,)


def test_compress_shows_the_latest_five() -> None:
    records = [record(number, f"回答{number}") for number in range(1, 9)]
    assert compress_submission_history(records) == "\n".join(f"ラウンド {n}: 回答{n}" for n in range(4, 9))


def test_compress_keeps_beginning_and_end_of_what_is_long() -> None:
    """Decided differently: the document's code cuts its own summary once more and always adds dots."""
    long = "a" * 200 + "b" + "c" * 100
    assert compress_submission_history([record(1, "d" * 300), record(2, long), record(3, "abc")]) == (
        f"ラウンド 1: {'d' * 300}\nラウンド 2: {'a' * 200}...[中略]...{'c' * 100}\nラウンド 3: abc"
    )


def test_compress_within_a_budget_keeps_the_newest() -> None:
    records = [record(number, "長い文章" * 20) for number in (1, 2, 3)]
    assert compress_submission_history(records, 120).startswith("ラウンド 3: 長い")
