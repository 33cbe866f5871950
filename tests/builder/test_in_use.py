"""The library as others use it: what its README shows, under type checkers, in pipelines."""

import asyncio
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
README = (ROOT / "builder" / "README.md").read_text(encoding="utf-8")

CONSUMER = """
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builder import (
    AggregationStore, BuiltPrompt, ContextError, EvaluationResult, LeaderboardEntry, PlainTextPromptBuilder,
    PromptBuilder, RankingStore, RoundPromptConfig, RoundPromptContext, SubmissionRecord,
    SystemPromptBuilder, UserPromptBuilder, build_round_prompt, build_system_prompt, format_ranking_table,
    format_submission_history, gather_round_context,
)


@dataclass
class State:
    round_number: int
    submission_content: str
    evaluation_score: float


@dataclass(frozen=True)
class Context:
    user_prompt: str
    round_number: int
    round_history: list[State]
    team_id: str
    team_name: str
    execution_id: str


@dataclass
class Submitted:
    round_number: int
    content: str


@dataclass
class Judged:
    overall_score: float
    feedback_summary: str


class Plain:
    def get_leader_board_ranking(self, execution_id: str) -> list[dict[str, Any]]:
        return []


class Awaited:
    async def get_leader_board_ranking(self, execution_id: str) -> list[dict[str, Any]]:
        return []


class Own(PromptBuilder):
    def build_initial_prompt(
        self, user_query: str, team_id: str, metadata: dict[str, Any] | None = None
    ) -> str:
        return user_query

    def build_continuation_prompt(
        self,
        user_query: str,
        round_number: int,
        team_id: str,
        submission_history: list[SubmissionRecord],
        evaluation_feedback: list[EvaluationResult],
        leaderboard_ranking: list[LeaderboardEntry],
        current_team_rank: int | None,
        metadata: dict[str, Any] | None = None,
    ) -> str:
        return user_query


stores: Sequence[RankingStore] = (Plain(), Awaited(), AggregationStore("ws"))
builders: Sequence[PromptBuilder] = (Own(), PlainTextPromptBuilder(RoundPromptConfig(5, 10)))


async def play(workspace: Path) -> str:
    states = [State(1, "c", 50.0)]
    context = Context("q", 2, states, "t", "T", "e")
    for store in stores:
        await UserPromptBuilder(workspace, store).build_team_prompt(context)
    builder = UserPromptBuilder(workspace)
    await builder.build_judgment_prompt({"user_prompt": "q"})
    builder.build_evaluator_prompt({"user_query": "q", "submission": "s"})
    ready = RoundPromptContext(
        user_prompt="q", round_number=1, round_history=[], team_id="t", team_name="T", execution_id="e"
    )
    try:
        prompt: str = await builder.build_team_prompt(ready)
    except ContextError as error:
        prompt = error.text("ja")
    rows = await AggregationStore(workspace).get_leader_board_ranking("e")
    name: str = rows[0]["team_id"]
    format_ranking_table(rows, name, "T")
    format_submission_history(states)
    await gather_round_context(AggregationStore(workspace), "e", "t", 2)
    build_round_prompt("q", 2, "t", [Submitted(1, "c")], [Judged(50.0, "f")], [], None)
    built: BuiltPrompt = SystemPromptBuilder(workspace, {"userTimezone": "UTC"}).build("minimal")
    return prompt + built.upper() + build_system_prompt("none", workspace)
"""
WRONG = """
from builder import UserPromptBuilder, UserPromtBuilder
UserPromptBuilder("ws", store=5)
"""


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


def test_the_round_controller_of_the_readme_plays(tmp_path: Path) -> None:
    (code,) = blocks("python")
    assert len([line for line in code.splitlines() if line.strip()]) <= 20
    names: dict[str, Any] = {}
    exec(code, names)
    seen: list[str] = []

    async def ask(prompt: str) -> str:
        seen.append(prompt)
        return f"回答{len(seen)}"

    async def judge(prompt: str) -> float:
        assert f"回答{len(seen)}" in prompt
        return 50.0 + len(seen)

    history = asyncio.run(names["play"](tmp_path, "課題", ask, judge))
    assert [state["evaluation_score"] for state in history] == [51.0, 52.0, 53.0]
    assert "**#1 Alpha (あなたのチーム) - スコア: 52.00/100 (ラウンド数: 2)**" in seen[2]


def test_the_workflows_of_the_readme_are_yaml_that_runs_a_check() -> None:
    workflow, hook = map(yaml.safe_load, blocks("yaml"))
    commands = [step.get("run", "") for step in workflow["jobs"]["check"]["steps"]]
    assert "python -m builder check --format sarif workspace > prompts.sarif" in commands
    (offered,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert hook["repos"][0]["hooks"] == [{"id": offered["id"]}]
    command, subcommand = offered["entry"].split()
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    assert command in scripts and subcommand == "check"
    assert re.search(offered["files"], "workspace/configs/prompt_builder.toml")


def test_what_is_decided_differently_is_a_table() -> None:
    section = README.partition("## Where this library reads the documents differently, and why\n")[2]
    rows = [line for line in section.splitlines() if line.startswith("| 0")]
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 5 for row in rows)
    wanted = (
        "trailing space",
        "スコア推移",
        "second cut",
        "評価フィードバック",
        "frozen",
        "format",
        "lipsum",
        "NaN",
    )
    assert [word for word in wanted if not any(word in row for row in rows)] == []


@pytest.mark.slow
@pytest.mark.parametrize(("source", "errors"), [(CONSUMER, []), (WRONG, ["attr-defined", "arg-type"])])
def test_a_project_under_mypy_strict(tmp_path: Path, source: str, errors: list[str]) -> None:
    (tmp_path / "consumer.py").write_text(source)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "consumer.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert re.findall(r"\[([\w-]+)\]$", done.stdout, flags=re.MULTILINE) == errors, done.stdout + done.stderr
