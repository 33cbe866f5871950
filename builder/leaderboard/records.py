"""The records that the store answers with. Used by everybody who asks it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from builder.leaderboard.schema import PARTIAL
from builder.template.models import RoundPromptContext

ExecutionState = Literal["running", "completed", "partial_failure", "failed", "unknown"]
ExecutionOrder = Literal["newest", "oldest", "best", "worst", "teams", "rounds"]
"""``best``: by best score; those without one come last."""
RULES = ("Below minimum rounds", "Final round reached (judgment skipped")
"""How the reasons begin that MixSeek writes where no model was asked."""


@dataclass(frozen=True)
class TeamFailure:
    """A team that gave up, by its own account in the workspace's logs."""

    team_id: str
    team_name: str
    error: str


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
    """When it ended or, while it runs, when its latest row was written."""
    seconds: float | None = None
    """How long the whole run took; known when it is over."""
    best_team_id: str | None = None
    best_team_name: str | None = None
    finished_teams: int | None = None
    """How many of the teams reached a result; known when the run is over."""
    failures: tuple[TeamFailure, ...] = ()
    """Why teams failed; read for a single execution only."""

    @property
    def failed_teams(self) -> int | None:
        """How many teams have no result; known when the run is over."""
        return None if self.finished_teams is None else max(0, self.teams - self.finished_teams)


@dataclass(frozen=True)
class Standing:
    """A team's place in one execution.

    Places follow the 32-bit scores that MixSeek compares, ``kept_score``; the other scores have the
    evaluator's own digits, wherever the two agree.
    """

    rank: int
    team_id: str
    team_name: str
    best_score: float
    best_round: int
    latest_score: float | None
    latest_round: int
    rounds: int
    kept_score: float
    exit_reason: str | None = None
    """Why the team stopped, stored with its final submission; of one that broke off without, a failure."""

    @property
    def is_partial(self) -> bool:
        """Whether it failed, or ran out of time, before its last round."""
        return (self.exit_reason or "").startswith(PARTIAL)


@dataclass(frozen=True)
class ScorePoint:
    """A team's score in one round, for a chart; ``final`` is the round that became its result."""

    team_id: str
    team_name: str
    round_number: int
    score: float | None
    final: bool = False


@dataclass(frozen=True)
class TeamSummary:
    """A team over all executions; ``names`` begins with the latest one."""

    team_id: str
    names: tuple[str, ...]
    executions: int
    rounds: int
    wins: int
    best_score: float | None
    mean_score: float | None
    """Of its best scores, one for each execution that it finished."""
    last_at: datetime | None
    partial: int = 0
    """Executions in which it failed, or ran out of time, after some rounds."""
    mean_of_all: float | None = None
    """The same with those."""

    @property
    def name(self) -> str:
        return self.names[0] if self.names else self.team_id


TeamOrder = Literal["best", "mean", "executions", "name", "latest"]


@dataclass(frozen=True)
class TeamRun:
    """How a team did in one execution."""

    execution: Execution
    team_name: str
    best_score: float | None
    latest_score: float | None
    rank: int | None
    rounds: int


@dataclass(frozen=True)
class Bin:
    """A column of a histogram: scores from ``low`` up to, but without, ``high``."""

    low: float
    high: float
    count: int


ScoresBy = Literal["team", "execution"]
ScoresOf = Literal["rounds", "best"]
"""Every round's score, or each team's best in each execution."""


@dataclass(frozen=True)
class Distribution:
    """How scores spread. All figures but ``count`` are ``None`` where there is no score."""

    count: int
    minimum: float | None = None
    lower_quartile: float | None = None
    median: float | None = None
    upper_quartile: float | None = None
    maximum: float | None = None
    mean: float | None = None
    bins: tuple[Bin, ...] = ()
    values: tuple[float, ...] = ()
    """The scores themselves, where groups were asked for and this one is small."""


@dataclass(frozen=True)
class TeamDelta:
    """A team in two executions; one side is ``None`` where it took part in the other only."""

    team_id: str
    team_name: str
    first: Standing | None
    second: Standing | None

    @property
    def delta(self) -> float | None:
        """By how much the best score of the second execution is higher."""
        if self.first is None or self.second is None:
            return None
        return self.second.best_score - self.first.best_score


@dataclass(frozen=True)
class ExecutionComparison:
    """Two executions side by side; teams in both come first, then those in one only."""

    first: Execution
    second: Execution
    teams: tuple[TeamDelta, ...]

    @property
    def best_delta(self) -> float | None:
        if self.first.best_score is None or self.second.best_score is None:
            return None
        return self.second.best_score - self.first.best_score


@dataclass(frozen=True)
class Activity:
    """A workspace at a glance. ``executions`` is ``None`` while no copy of the database can be read."""

    running: tuple[str, ...]
    """The ids of executions that show signs of life, also of those the database does not know yet."""
    executions: int | None = None
    last_at: datetime | None = None
    last_state: ExecutionState | None = None


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
    submission: str | None = field(default=None, repr=False)
    submission_format: str | None = None
    score: float | None = None
    """As the evaluator gave it; the leaderboard itself keeps fewer digits."""
    score_details: Mapping[str, Any] | None = field(default=None, repr=False)
    metrics: tuple[Metric, ...] = ()
    final_submission: bool = False
    exit_reason: str | None = None
    should_continue: bool | None = None
    reasoning: str | None = None
    confidence: float | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    submitted_at: datetime | None = None

    @property
    def decided_by_rule(self) -> bool:
        """Whether MixSeek decided by itself whether to go on, without asking a model."""
        return self.confidence == 1.0 and (self.reasoning or "").startswith(RULES)


@dataclass(frozen=True)
class ScoredRound:
    """How a round was scored, and how its submission begins."""

    metrics: tuple[Metric, ...]
    submission: str | None = field(default=None, repr=False)
    """As many characters as were asked for."""
    length: int = 0
    """Of the whole."""
    submission_format: str | None = None


@dataclass(frozen=True)
class SubmissionLength:
    """How many characters a team handed in."""

    execution_id: str
    team_id: str
    round_number: int
    characters: int


@dataclass(frozen=True)
class DeliveredPrompt:
    """What a team was really sent: the user's part of its first message.

    The agents of a workflow are sent JSON: ``text`` is the team prompt in it, ``previous_steps`` what was
    answered before, as the last of the agents was told.
    """

    text: str = field(repr=False)
    timestamp: datetime | None
    part: int
    """Its place among the parts of that message: a system prompt may come before it."""
    previous_steps: Mapping[str, Any] | None = None
    """None outside of workflows."""


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

    @property
    def is_in_doubt(self) -> bool:
        """Whether clock or ranking are guessed by the times of rows: the stored text does not show them."""
        return self.clock_source != "text" or self.cutoff == "unconfirmed"
