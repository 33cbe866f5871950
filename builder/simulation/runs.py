"""What a simulated run is: who plays, with which templates, and how it goes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from builder.template.defaults import DEFAULT_TEMPLATES
from builder.template.variables import PromptKind

RunState = Literal["completed", "partial_failure", "failed", "running"]


@dataclass(frozen=True)
class Team:
    """A team that takes part; ``skill`` is added to each of its scores."""

    team_id: str
    team_name: str
    skill: float = 0.0


TEAMS: tuple[Team, ...] = (
    Team("team-001", "リサーチ班 Alpha", 2.0),
    Team("team-002", "Beta Analysts", 4.0),
    Team("team-003", "深掘りチーム🔍", 0.0),
    Team("team-004", "Δelta", -3.0),
)

METRICS = ("ClarityCoherence", "Coverage", "Relevance")


@dataclass(frozen=True)
class Run:
    """One execution: who played what with which templates, and how it went.

    ``shift`` moves the mean of all scores, ``spread`` is their noise, ``gain`` what a team can win
    over its rounds. ``ties`` rounds scores so that teams draw. ``zone`` is the zone of the machine
    that ran it. A ``running`` run stops midway, has no summary and so no stored task; one that
    started long ago is indistinguishable from a killed one. ``races`` is how often a row is
    committed in the moment between a prompt's clock and its look at the leaderboard. ``dice`` names the
    throws, so that they fall the same whenever the run is said to have begun.
    """

    task: str
    started_at: datetime
    teams: Sequence[Team] = TEAMS
    rounds: int = 3
    templates: Mapping[PromptKind, str] = field(default_factory=lambda: DEFAULT_TEMPLATES)
    state: RunState = "completed"
    zone: str = "UTC"
    shift: float = 0.0
    spread: float = 6.0
    gain: float = 12.0
    ties: bool = False
    races: float = 0.08
    system_prompt: bool = False
    metrics: Sequence[str] = METRICS
    dice: str = ""
