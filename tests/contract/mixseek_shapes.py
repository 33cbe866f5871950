"""Objects as MixSeek has them: the same fields, classes of their own, nothing of the builder's."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, ConfigDict

NOW = datetime(2025, 11, 19, 12, 34, 56, 789012, UTC)


class MixSeekState(BaseModel):
    """MixSeek's ``RoundState``: six fields, no feedback."""

    round_number: int
    submission_content: str
    evaluation_score: float
    score_details: dict[str, Any]
    round_started_at: datetime
    round_ended_at: datetime


class MixSeekContext(BaseModel):
    """MixSeek's ``RoundPromptContext``, with a store of any kind and no ranking."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    user_prompt: str
    round_number: int
    round_history: list[MixSeekState]
    team_id: str
    team_name: str
    execution_id: str
    store: Any = None


@dataclass
class Row:
    """A ranking row."""

    team_id: str
    team_name: str
    max_score: float
    total_rounds: int


@dataclass
class Submitted:
    """As much of a submission as the plain text of 002 uses."""

    round_number: int
    content: str


@dataclass
class Judged:
    """As much of an evaluation."""

    overall_score: float
    feedback_summary: str


@dataclass
class Placed:
    """A leaderboard entry of 002."""

    rank: int
    team_id: str
    team_name: str
    best_score: float


@dataclass
class Scores:
    """A store of one's own. It has a length, and so is false while it is empty."""

    rows: list[Any] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return 0

    async def get_leader_board_ranking(self, execution_id: str) -> list[Any]:
        self.asked.append(execution_id)
        return self.rows


def mixseek_state(number: int = 1, score: float = 75.5, content: str = "初回の分析結果") -> MixSeekState:
    return MixSeekState(
        round_number=number,
        submission_content=content,
        evaluation_score=score,
        score_details={"accuracy": 80.0, "completeness": 70.0},
        round_started_at=NOW,
        round_ended_at=NOW,
    )
