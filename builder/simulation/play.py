"""A simulated run and how it is played: all teams at once, each on its own clock, meeting at the leaderboard.
Used by ``simulate``."""

import heapq
import json
import struct
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, Literal
from zoneinfo import ZoneInfo

from builder.leaderboard.rebuild import rank
from builder.leaderboard.rows import BoardRow
from builder.leaderboard.writer import Judgment, RoundKey, SimulatedDatabase, Summary
from builder.simulation.conversation import converse, in_steps, stamp
from builder.simulation.texts import Voice, language_of
from builder.template.defaults import DEFAULT_TEMPLATES
from builder.template.dialect import MIXSEEK, Dialect
from builder.template.formatters import variables
from builder.template.models import RoundPromptContext, RoundState
from builder.template.render import render
from builder.template.variables import PromptKind

RunState = Literal["completed", "partial_failure", "failed", "running"]


@dataclass(frozen=True)
class Team:
    """A team that takes part; ``skill`` is added to each of its scores.

    A workflow is a team of steps: its agents are sent JSON, and one of functions alone asks no model.
    """

    team_id: str
    team_name: str
    skill: float = 0.0
    works: Literal["as-team", "as-workflow", "as-functions"] = "as-team"


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
    throws, so that they fall the same whenever the run is said to have begun. ``dialect`` is the format
    of the release that ran.
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
    dialect: Dialect = MIXSEEK


_COMMIT = timedelta(milliseconds=3)
"""From a transaction's start, which ``created_at`` holds, to the moment when others see its row."""


@dataclass(frozen=True)
class _Progress:
    """What the live progress file of a team says."""

    status: str
    round_number: int
    agent: str | None
    at: datetime
    error: str | None = None


class Play:
    """One run on its way into the database."""

    def __init__(self, run: Run, rng: Random, database: SimulatedDatabase) -> None:
        self.run = run
        self.execution_id = str(uuid.UUID(int=rng.getrandbits(128), version=4))
        self._rng = rng
        self._database = database
        self._voice = Voice(language_of(run.task), rng)
        self._zone = ZoneInfo(run.zone)
        # The same task is as hard for every version of a prompt: comparisons pair by task.
        self._difficulty = Random(run.task).uniform(-6.0, 6.0)
        self._rows: list[tuple[datetime, BoardRow]] = []
        """What stands on the leaderboard, and since when others see it."""
        self._due: dict[str, datetime] = {}
        self._progress: dict[str, _Progress] = {}
        self._results: list[dict[str, Any]] = []
        self._now = run.started_at.astimezone(UTC)

    def perform(self) -> None:
        """Wake the teams in the order of their clocks until all are through, or the run breaks off."""
        queue: list[tuple[datetime, int, Iterator[datetime]]] = []
        for number, team in enumerate(self.run.teams):
            heapq.heappush(queue, (self._now + self._pause(0.05, 0.4), number, self._team(team)))
        enough = max(1, len(self.run.teams) * self.run.rounds * 3 // 5)
        while queue:
            self._now, number, team_life = heapq.heappop(queue)
            if self.run.state == "running" and len(self._rows) >= enough:
                return
            wake = next(team_life, None)
            if wake is not None:
                heapq.heappush(queue, (wake, number, team_life))
        if self.run.state != "running":
            self._finish()

    def write_progress(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for team in self.run.teams:
            seen = self._progress.get(team.team_id)
            if seen is None:
                continue
            document: dict[str, Any] = {
                "execution_id": self.execution_id,
                "status": seen.status,
                "current_round": seen.round_number,
                "total_rounds": self.run.rounds,
                "team_id": team.team_id,
                "team_name": team.team_name,
                "current_agent": seen.agent,
                "updated_at": seen.at.isoformat(),
            }
            if seen.error:
                document["error_message"] = seen.error
            path = folder / f"{self.execution_id}.{team.team_id}.progress.json"
            path.write_text(json.dumps(document, ensure_ascii=False, indent=2), encoding="utf-8")

    # --- a team's life: each yield sleeps until a moment ---------------------------------

    def _team(self, team: Team) -> Iterator[datetime]:
        history: list[RoundState] = []
        for number in range(1, self.run.rounds + 1):
            if self._breaks_down(team, number):
                error = "Team execution timed out after 600 seconds"
                self._report(team, number, None, status="failed", error=error)
                return
            key = RoundKey(self.execution_id, team.team_id, team.team_name, number)
            clock, look = self._meeting(team, number)
            yield clock
            self._report(team, number, None)
            yield look
            prompt = self._prompt(team, number, history, clock)
            started = look + self._pause(0.002, 0.01)
            self._report(team, number, "leader")
            answered = started + self._pause(18, 70)
            ended = answered + self._pause(4, 14)
            self._due[team.team_id] = ended
            content = self._voice.submission(number)
            messages, members = converse(
                key,
                prompt,
                content,
                started,
                answered,
                self._voice,
                self._rng,
                system_prompt=self.run.system_prompt,
            )
            if team.works == "as-workflow":
                messages = in_steps(messages, prompt)
            elif team.works == "as-functions":
                messages = []
            yield answered
            self._database.save_history(key, messages, members, answered)
            self._report(team, number, "evaluator")
            yield ended
            state = self._judged(team, number, content, started, ended)
            assert state.score_details is not None
            self._database.save_submission(key, content, state.score_details, ended)
            score = _single(state.evaluation_score)
            self._rows.append((ended + _COMMIT, BoardRow(team.team_id, number, team.team_name, score, ended)))
            del self._due[team.team_id]
            history.append(state)
            noted = ended + self._pause(0.02, 0.1)
            yield noted
            self._database.save_status(key, started, ended, noted)
            self._report(team, number, None)
            decided = noted + self._pause(1.5, 6)
            yield decided
            more = number < self.run.rounds
            confidence = round(self._rng.uniform(0.55, 0.95), 2)
            self._database.save_judgment(
                key, Judgment(more, self._voice.reasoning(more), confidence), decided
            )
        self._conclude(team, history)

    def _breaks_down(self, team: Team, number: int) -> bool:
        if self.run.state == "failed":
            return True
        return self.run.state == "partial_failure" and team == self.run.teams[-1] and number == 2

    def _meeting(self, team: Team, number: int) -> tuple[datetime, datetime]:
        """When the prompt's clock is read, and when the leaderboard is: rarely the same moment."""
        clock = self._now + self._pause(0.01, 0.2)
        look = clock + self._pause(0.001, 0.004)
        others = [due for other, due in self._due.items() if other != team.team_id and due > clock]
        if number > 1 and others and self._rng.random() < self.run.races:
            due = min(others)
            if self._rng.random() < 0.5:
                # Committed after the clock was read, yet seen.
                clock, look = due - timedelta(milliseconds=2), due + 2 * _COMMIT
            else:
                # Begun before the clock was read, yet not seen.
                clock, look = due + timedelta(milliseconds=1), due + timedelta(milliseconds=2)
        return clock, look

    def _prompt(self, team: Team, number: int, history: list[RoundState], clock: datetime) -> str:
        context = RoundPromptContext(
            user_prompt=self.run.task,
            round_number=number,
            round_history=history,
            team_id=team.team_id,
            team_name=team.team_name,
            execution_id=self.execution_id,
        )
        template, dialect = self.run.templates["team"], self.run.dialect
        ranking = rank([row for seen_at, row in self._rows if seen_at <= self._now], dialect.ranking_order)
        values = variables("team", context, ranking, clock.astimezone(self._zone), dialect, template)
        return render("team", template, values, dialect)

    def _judged(
        self, team: Team, number: int, content: str, started: datetime, ended: datetime
    ) -> RoundState:
        learned = self.run.gain * (1 - 0.5 ** (number - 1))
        aim = 60 + self._difficulty + team.skill + self.run.shift + learned
        aim += self._rng.gauss(0, self.run.spread)
        # An evaluator gives 0 to 100.
        scores = [min(100.0, max(0.0, round(aim + self._rng.gauss(0, 5), 2))) for _ in self.run.metrics]
        overall = round(sum(scores) / len(scores), 2)
        if self.run.ties:
            overall = float(round(overall / 10) * 10)
        metrics = [
            {"metric_name": name, "score": score, "evaluator_comment": self._voice.comment(score)}
            for name, score in zip(self.run.metrics, scores, strict=True)
        ]
        return RoundState(
            round_number=number,
            submission_content=content,
            evaluation_score=overall,
            score_details=json.loads(json.dumps({"overall_score": overall, "metrics": metrics})),
            round_started_at=started,
            round_ended_at=ended,
        )

    def _conclude(self, team: Team, history: list[RoundState]) -> None:
        best = max(history, key=lambda state: state.evaluation_score)
        key = RoundKey(self.execution_id, team.team_id, team.team_name, best.round_number)
        self._database.mark_final(key, "max_rounds_reached", self._now)
        self._results.append(
            {
                "id": None,
                "execution_id": self.execution_id,
                "team_id": team.team_id,
                "team_name": team.team_name,
                "round_number": best.round_number,
                "submission_content": best.submission_content,
                "submission_format": "md",
                "score": best.evaluation_score,
                "score_details": best.score_details,
                "final_submission": True,
                "exit_reason": "max_rounds_reached",
                "created_at": stamp(self._now),
                "updated_at": stamp(self._now),
            }
        )
        self._report(team, self.run.rounds, None, status="completed")

    def _finish(self) -> None:
        best = max(self._results, key=lambda result: result["score"], default=None)
        end = self._now + self._pause(0.02, 0.1)
        assert self.run.state != "running"
        summary = Summary(
            execution_id=self.execution_id,
            user_prompt=self.run.task,
            status=self.run.state,
            total_teams=len(self.run.teams),
            total_execution_time_seconds=(end - self.run.started_at).total_seconds(),
        )
        if best is not None:
            summary = replace(
                summary, best_team_id=best["team_id"], best_score=best["score"], team_results=self._results
            )
        self._database.save_summary(summary, end)

    def _report(
        self, team: Team, number: int, agent: str | None, *, status: str = "running", error: str | None = None
    ) -> None:
        self._progress[team.team_id] = _Progress(status, number, agent, self._now, error)

    def _pause(self, shortest: float, longest: float) -> timedelta:
        return timedelta(microseconds=round(self._rng.uniform(shortest, longest) * 1_000_000))


def _single(score: float) -> float:
    """The score as a 32-bit column gives it back."""
    value: float = struct.unpack("f", struct.pack("f", score))[0]
    return value
