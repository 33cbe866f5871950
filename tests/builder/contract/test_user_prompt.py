"""The API contract's main class, with the documents' own examples to the byte."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from builder.contract.user_prompt import UserPromptBuilder
from builder.template.dialect import ENGLISH, MIXSEEK, Dialect
from builder.template.models import EvaluatorPromptContext, RankingEntry, RoundPromptContext, RoundState

NOW = datetime(2025, 11, 19, 12, 34, 56, 789012, UTC)

FIRST_ROUND = RoundState(
    round_number=1,
    submission_content="初回の分析結果",
    evaluation_score=75.5,
    score_details={"accuracy": 80.0, "completeness": 70.0},
    round_started_at=NOW,
    round_ended_at=NOW,
)
ALPHA = {"team_id": "team1", "team_name": "Alpha", "max_score": 75.5, "total_rounds": 1}
BETA = {"team_id": "team2", "team_name": "Beta", "max_score": 90.0, "total_rounds": 1}


class Store:
    """A ranking that is asked for as MixSeek asks, and remembers who asked."""

    def __init__(self, *ranking: dict[str, Any]) -> None:
        self.ranking = list(ranking)
        self.asked: list[str] = []

    async def get_leader_board_ranking(self, execution_id: str) -> list[dict[str, Any]]:
        self.asked.append(execution_id)
        return self.ranking


def context(round_number: int, **changes: Any) -> RoundPromptContext:
    values: dict[str, Any] = {
        "user_prompt": "データ分析タスク",
        "round_number": round_number,
        "round_history": [] if round_number == 1 else [FIRST_ROUND],
        "team_id": "team1",
        "team_name": "Alpha",
        "execution_id": "exec1",
    }
    return RoundPromptContext(**values | changes)


def builder(workspace: Path, dialect: Dialect | None = None, **options: Any) -> UserPromptBuilder:
    if dialect is not None:
        options["dialect"] = dialect
    return UserPromptBuilder(workspace, clock=lambda: NOW, environ={}, **options)


def write_templates(workspace: Path, **templates: str) -> None:
    (workspace / "configs").mkdir()
    lines = [f"{field} = '''\n{text}'''" for field, text in templates.items()]
    (workspace / "configs" / "prompt_builder.toml").write_text("[prompt_builder]\n" + "\n".join(lines) + "\n")


def test_ranking_of_the_context_wins_over_its_store_and_that_over_the_builders(tmp_path: Path) -> None:
    write_templates(tmp_path, team_user_prompt="{{ ranking_table }}")
    of_builder, of_context = Store(ALPHA), Store(BETA)
    made = builder(tmp_path, store=of_builder)

    own = context(2, store=of_context, ranking=[RankingEntry(**ALPHA | {"team_name": "Own"})])
    assert asyncio.run(made.build_team_prompt(own)).startswith("**#1 Own")
    assert asyncio.run(made.build_team_prompt(context(2, store=of_context))).startswith("#1 Beta")
    assert asyncio.run(made.build_team_prompt(context(2))).startswith("**#1 Alpha")
    assert (of_builder.asked, of_context.asked) == (["exec1"], ["exec1"])


@pytest.mark.parametrize("dialect", [None, MIXSEEK, ENGLISH])
def test_round_one_asks_no_store_for_a_ranking(tmp_path: Path, dialect: Dialect | None) -> None:
    store = Store(ALPHA)
    made = builder(tmp_path, dialect, store=store)
    asyncio.run(made.build_team_prompt(context(1)))
    asyncio.run(made.build_judgment_prompt(context(1)))
    assert store.asked == []


def test_round_one_of_the_contract_shows_nothing_that_the_context_carries(tmp_path: Path) -> None:
    fields = "[{{ submission_history }}][{{ ranking_table }}][{{ team_position_message }}]"
    write_templates(tmp_path, team_user_prompt=fields, judgment_user_prompt=fields)
    carried = context(1, round_history=[FIRST_ROUND], ranking=[RankingEntry(**ALPHA)])
    made = builder(tmp_path)
    assert asyncio.run(made.build_team_prompt(carried)) == "[まだ過去のSubmissionはありません。][][]"
    judgment = asyncio.run(made.build_judgment_prompt(carried))
    assert judgment.startswith("[## ラウンド 1\nスコア: 75.50/100\n")
    assert judgment.endswith("初回の分析結果][][]")


def test_round_one_of_mixseek_defines_all_six_values(tmp_path: Path) -> None:
    write_templates(
        tmp_path,
        team_user_prompt="{{ submission_history }}|{{ ranking_table }}"
        "|{{ team_position_message }}|{{ round_number }}",
    )
    prompt = asyncio.run(builder(tmp_path, MIXSEEK).build_team_prompt(context(1)))
    assert prompt == (
        "まだ過去のSubmissionはありません。|まだランキング情報がありません。"
        "|まだあなたのチームの順位はありません。|1"
    )


def test_evaluator_prompt_names_the_query_user_prompt(tmp_path: Path) -> None:
    write_templates(
        tmp_path, evaluator_user_prompt="{{ user_prompt }}/{{ submission }}/{{ current_datetime }}"
    )
    prompt = builder(tmp_path).build_evaluator_prompt(
        EvaluatorPromptContext(user_query="問い", submission="答え")
    )
    assert prompt == "問い/答え/2025-11-19T12:34:56.789012+00:00"
