"""What the store answers with."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from builder.models import RoundPromptContext

ExecutionState = Literal["running", "completed", "partial_failure", "failed", "unknown"]


@dataclass(frozen=True)
class Execution:
    """One run of MixSeek. Times are UTC.

    ``user_prompt`` is the task; MixSeek stores it when the run is over, so a running or killed one
    has none. ``unknown`` is a run that left no summary and shows no sign of life.
    """

    execution_id: str
    user_prompt: str | None
    state: ExecutionState
    teams: int
    rounds: int
    best_score: float | None
    started_at: datetime | None
    last_at: datetime | None


@dataclass(frozen=True)
class Metric:
    """One of the scores that a submission was given."""

    name: str
    score: float | None
    comment: str


@dataclass(frozen=True)
class RoundRecord:
    """Everything stored about one round of one team, the conversation aside. Times are UTC."""

    execution_id: str
    team_id: str
    team_name: str
    round_number: int
    submission: str | None = None
    submission_format: str | None = None
    score: float | None = None
    """As the evaluator gave it; the leaderboard itself keeps fewer digits."""
    score_details: Mapping[str, Any] | None = None
    metrics: tuple[Metric, ...] = ()
    final_submission: bool = False
    exit_reason: str | None = None
    should_continue: bool | None = None
    reasoning: str | None = None
    confidence: float | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    submitted_at: datetime | None = None


@dataclass(frozen=True)
class DeliveredPrompt:
    """What a team was really sent: the user's part of its first message."""

    text: str
    timestamp: datetime | None
    part: int
    """Its place among the parts of that message: a system prompt may come before it."""


Cutoff = Literal["first-round", "confirmed", "neighbour", "unconfirmed"]
ClockSource = Literal["text", "message", "status", "board"]


@dataclass(frozen=True)
class RebuiltRound:
    """A stored round's context, as it was when its prompt was made.

    ``delivered_at`` is the prompt's clock: out of the stored text (``text``) in the zone it was
    printed in, else the time of the message, or of the nearest row that tells one. ``cutoff`` says
    how the ranking was found: no ranking is made for a ``first-round``; ``confirmed``, the one of that
    moment stands in the stored text; ``neighbour``, one a row or so earlier or later does, since a row
    can be committed between the clock and the look; ``unconfirmed``, the text shows no ranking.
    """

    context: RoundPromptContext
    delivered_at: datetime
    clock_source: ClockSource
    cutoff: Cutoff
    delivered: DeliveredPrompt | None = None
    zone_offset: timedelta = field(default=timedelta(0))
    """What the writer's local time was ahead of UTC."""
