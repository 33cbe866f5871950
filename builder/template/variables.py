"""The variables of the three templates: the one table that checks, help texts and samples read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from builder.messages import Wording

PromptKind = Literal["team", "evaluator", "judgment"]
KINDS: tuple[PromptKind, ...] = get_args(PromptKind)

Changes = Literal["task", "round", "call"]
"""How often a value changes: once per task, with each round, or with every single call."""


def field_name(kind: PromptKind) -> str:
    """The key of a template in ``prompt_builder.toml``."""
    return f"{kind}_user_prompt"


FIELDS: tuple[str, ...] = tuple(field_name(kind) for kind in KINDS)


@dataclass(frozen=True)
class Variable:
    """A name that a template may use."""

    name: str
    type: Literal["string", "int"]
    description: Wording
    sample: str | int
    changes: Changes


_SAMPLE_HISTORY = """## ラウンド 1
スコア: 75.50/100
スコア詳細:
{
  "accuracy": 80.0,
  "completeness": 70.0
}
あなたの提出内容: 初回の分析結果"""

_SAMPLE_RANKING = """**#1 Alpha (あなたのチーム) - スコア: 85.50/100 (ラウンド数: 3)**
#2 Beta - スコア: 80.00/100 (ラウンド数: 2)"""

USER_PROMPT = Variable(
    "user_prompt",
    "string",
    Wording("The task as the user gave it", "元のユーザプロンプト"),
    "データ分析タスク",
    "task",
)
ROUND_NUMBER = Variable(
    "round_number",
    "int",
    Wording("The current round, counted from 1", "現在のラウンド番号（1始まり）"),
    2,
    "round",
)
SUBMISSION_HISTORY = Variable(
    "submission_history",
    "string",
    Wording("The team's earlier submissions, formatted", "過去のSubmission履歴（整形済み文字列）"),
    _SAMPLE_HISTORY,
    "round",
)
RANKING_TABLE = Variable(
    "ranking_table",
    "string",
    Wording("The leaderboard, formatted", "リーダーボード情報（整形済み文字列）"),
    _SAMPLE_RANKING,
    "round",
)
TEAM_POSITION_MESSAGE = Variable(
    "team_position_message",
    "string",
    Wording("A sentence about the team's place", "チーム順位メッセージ"),
    "🏆 現在、あなたのチームは1位です！この調子で頑張ってください。",
    "round",
)
SUBMISSION = Variable(
    "submission",
    "string",
    Wording("The submission to be evaluated", "評価対象のエージェント提出内容"),
    "初回の分析結果",
    "round",
)
CURRENT_DATETIME = Variable(
    "current_datetime",
    "string",
    Wording("The time of the call, ISO 8601 with its zone", "現在日時（ISO 8601形式、タイムゾーン付き）"),
    "2025-11-19T12:34:56.789012+00:00",
    "call",
)

_ROUND_VARIABLES = (
    USER_PROMPT,
    ROUND_NUMBER,
    SUBMISSION_HISTORY,
    RANKING_TABLE,
    TEAM_POSITION_MESSAGE,
    CURRENT_DATETIME,
)

VARIABLES: Mapping[PromptKind, tuple[Variable, ...]] = {
    "team": _ROUND_VARIABLES,
    "evaluator": (USER_PROMPT, SUBMISSION, CURRENT_DATETIME),
    "judgment": _ROUND_VARIABLES,
}


def names(kind: PromptKind) -> frozenset[str]:
    """The names that a template of this kind may use."""
    return frozenset(variable.name for variable in VARIABLES[kind])


def types(kind: PromptKind) -> dict[str, str]:
    """The type of each of them."""
    return {variable.name: variable.type for variable in VARIABLES[kind]}


def sample_values(kind: PromptKind) -> dict[str, str | int]:
    """A value for every variable, for a first look at a template."""
    return {variable.name: variable.sample for variable in VARIABLES[kind]}
