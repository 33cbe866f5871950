"""What building a prompt costs above its floor: validation, formatting and a precompiled render.

Run with: pytest tests/benchmarks/test_user_prompt.py
Both sides run in turns in one process, and the ratio is printed.
"""

import asyncio
import json
import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from jinja2.sandbox import ImmutableSandboxedEnvironment

from builder.contract.user_prompt import UserPromptBuilder
from builder.leaderboard import AggregationStore
from builder.simulation import Run, Team, simulate
from builder.template.defaults import DEFAULT_TEAM_USER_PROMPT
from builder.template.models import RoundPromptContext

NOW = datetime(2025, 11, 19, 12, 34, 56, 789012, UTC)
TURNS, CALLS = 60, 20


def raw_context(round_number: int, **changes: Any) -> dict[str, Any]:
    metric = {"metric_name": "Coverage", "score": 75.5, "evaluator_comment": "可"}
    details = {"overall_score": 75.5, "metrics": [metric]}
    history = [
        {
            "round_number": number,
            "submission_content": f"第{number}回の分析結果\n" * 20,
            "evaluation_score": 70.0 + number,
            "score_details": details,
        }
        for number in range(1, round_number)
    ]
    values = {
        "user_prompt": "データ分析タスク",
        "round_number": round_number,
        "round_history": history,
        "team_id": "team-001",
        "team_name": "Alpha",
        "execution_id": "exec1",
    }
    return values | changes


def bare_values(context: RoundPromptContext) -> dict[str, Any]:
    """The floor's formatting: straight-line code for this one situation, without dialects or choices."""
    blocks = [
        f"## ラウンド {state.round_number}\nスコア: {state.evaluation_score:.2f}/100\nスコア詳細:\n"
        f"{json.dumps(state.score_details, ensure_ascii=False, indent=2)}\n"
        f"あなたの提出内容: {state.submission_content}"
        for state in context.round_history
    ]
    return {
        "user_prompt": context.user_prompt,
        "round_number": context.round_number,
        "submission_history": "\n\n".join(blocks),
        "ranking_table": "",
        "team_position_message": "",
        "current_datetime": NOW.isoformat(),
    }


def in_turns(ours: Callable[[], Any], floor: Callable[[], Any]) -> tuple[list[float], list[float]]:
    """Milliseconds of each call, the two sides taking turns, so that a busy machine is unfair to both."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(TURNS):
        for side, call in enumerate((ours, floor)):
            began = time.perf_counter()
            for _ in range(CALLS):
                call()
            times[side].append((time.perf_counter() - began) / CALLS * 1000)
    return times


def p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]


@pytest.mark.parametrize("round_number", [1, 5])
def test_build_without_a_store_against_its_floor(
    benchmark: Any, tmp_path: Path, round_number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    builder = UserPromptBuilder(tmp_path, clock=lambda: NOW, environ={})
    raw = raw_context(round_number)
    template = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True).from_string(
        DEFAULT_TEAM_USER_PROMPT
    )
    loop = asyncio.new_event_loop()

    def ours() -> str:
        return loop.run_until_complete(builder.build_team_prompt(RoundPromptContext.model_validate(raw)))

    async def floor_of() -> str:
        context = RoundPromptContext.model_validate(raw)
        return template.render(bare_values(context))

    def floor() -> str:
        return loop.run_until_complete(floor_of())

    assert ours() == floor()
    mine, bare = in_turns(ours, floor)
    with capsys.disabled():
        print(
            f"\nround {round_number}: ours {statistics.median(mine):.3f} ms,"
            f" floor {statistics.median(bare):.3f} ms,"
            f" ratio {statistics.median(mine) / statistics.median(bare):.2f} (goal 1.5);"
            f" p95 {p95(mine):.3f} ms (contract: {10 if round_number == 1 else 50} ms)"
        )
    benchmark.extra_info["ratio"] = statistics.median(mine) / statistics.median(bare)
    benchmark(ours)
    loop.close()


def test_build_with_a_leaderboard_of_twenty_teams(
    benchmark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    teams = [Team(f"team-{number:03}", f"Team {number}", number / 3) for number in range(1, 21)]
    (execution,) = simulate(tmp_path, [Run("課題", NOW, teams=teams, rounds=5)], seed=3)
    with AggregationStore(tmp_path) as store:
        builder = UserPromptBuilder(tmp_path, store, clock=lambda: NOW, environ={})
        context = RoundPromptContext.model_validate(raw_context(5, execution_id=execution))
        benchmark(lambda: asyncio.run(builder.build_team_prompt(context)))
        times = []
        for _ in range(200):
            began = time.perf_counter()
            asyncio.run(builder.build_team_prompt(context))
            times.append((time.perf_counter() - began) * 1000)
    with capsys.disabled():
        print(f"\n20 teams × 5 rounds: p95 {p95(times):.2f} ms (contract: 50 ms)")
