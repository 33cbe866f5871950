"""What a round prompt is made from, gathered from a store."""

import asyncio
from pathlib import Path

import pytest

from builder.contract.round_context import (
    RoundContext,
    gather_round_context,
    read_round_context,
    round_context_of,
)
from builder.contract.round_prompt import PlainTextPromptBuilder, build_prompt
from builder.leaderboard import AggregationStore
from builder.simulation import Run, simulate
from builder.template.models import LeaderboardEntry, RankingEntry, RoundPromptContext, RoundState
from tests.builder.workspaces import START

TEAM = "team-001"


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("rounds")
    return folder, simulate(folder, [Run("要件を整理してください。", START, rounds=3)], seed=5)[0]


@pytest.mark.slow
def test_a_context_has_the_earlier_rounds_the_ranking_and_the_rank(
    stored: tuple[Path, str], tmp_path: Path
) -> None:
    folder, execution = stored
    with AggregationStore(folder, cache_folder=tmp_path) as store:
        plain = read_round_context(store, execution, TEAM, 3, "質問")
        assert asyncio.run(gather_round_context(store, execution, TEAM, 3, "質問")) == plain
        history = store.submissions(execution, TEAM)
        assert [record.round_number for record in history] == [1, 2, 3]
        assert plain == RoundContext(
            round_number=3,
            submission_history=history[:2],
            evaluation_feedback=store.evaluations(execution, TEAM)[:2],
            leaderboard_ranking=store.top(execution),
            current_team_rank=store.rank_of(execution, TEAM),
            user_query="質問",
            team_id=TEAM,
        )
        top = read_round_context(store, execution, store.top(execution)[-1].team_id, 3, teams=1)
        assert [entry.rank for entry in top.leaderboard_ranking] == [1]
        assert top.current_team_rank == len(store.top(execution))
        stranger = read_round_context(store, execution, "team-999", 2)
        assert (stranger.submission_history, stranger.current_team_rank) == ([], None)


def test_a_first_round_asks_nothing_as_there_may_be_no_database(tmp_path: Path) -> None:
    with AggregationStore(tmp_path / "none", cache_folder=tmp_path) as store:
        plain = read_round_context(store, "just started", TEAM, 1, "質問")
        assert asyncio.run(gather_round_context(store, "just started", TEAM, 1, "質問")) == plain
    assert build_prompt(plain, PlainTextPromptBuilder()) == (
        "ユーザのクエリに対して、最良の回答を提供してください。\n\nクエリ:\n質問"
    )


def test_a_context_of_the_user_prompts_becomes_one_of_round_prompts() -> None:
    context = RoundPromptContext(
        user_prompt="質問",
        round_number=2,
        round_history=[
            RoundState(
                round_number=number,
                submission_content=f"回答{number}",
                evaluation_score=50 + number,
                score_details={"clarity": 55, "comment": "良い", "passed": True},
                evaluation_feedback="根拠",
            )
            for number in (1, 2)
        ],
        team_id="b",
        team_name="B",
        execution_id="e",
        ranking=[
            RankingEntry(team_id=team, team_name=team.upper(), max_score=80, total_rounds=1) for team in "ab"
        ],
    )
    found = round_context_of(context)
    assert [(each.round_number, each.content, each.feedback) for each in found.submission_history] == [
        (1, "回答1", "根拠")
    ]
    assert [each.metrics for each in found.evaluation_feedback] == [{"clarity": 55.0}]
    assert found.leaderboard_ranking[0] == LeaderboardEntry(rank=1, team_id="a", team_name="A", best_score=80)
    assert (found.current_team_rank, found.user_query, found.team_id) == (2, "質問", "b")
