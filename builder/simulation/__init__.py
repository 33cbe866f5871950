"""Simulated workspaces, as MixSeek leaves them behind: database, logs and configuration.

The demo and the tests need runs to look at. ``simulate`` plays them, deterministically, with real
DuckDB rows of MixSeek's schema, prompts rendered by the templates that a run is said to have used,
and scores that a run can shift, so that one version of a prompt can be seen to help.

>>> simulate(
...     Path("workspace"),
...     [
...         Run("社内規程の検索システムの要件を整理してください。", datetime(2026, 4, 1, 9, tzinfo=UTC)),
...         Run("…", datetime(2026, 4, 2, 9, tzinfo=UTC), templates=better, shift=6.0, zone="Asia/Tokyo"),
...         Run("…", datetime.now(UTC) - timedelta(minutes=4), state="running"),
...     ],
...     seed=7,
... )
('3f0c…', '9a41…', 'c277…')
"""

import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from random import Random
from zoneinfo import ZoneInfo

from builder.files.prompt_file import merge
from builder.leaderboard.schema import DATABASE_NAME
from builder.leaderboard.writer import SimulatedDatabase
from builder.simulation.play import METRICS, TEAMS, Play, Run, RunState, Team
from builder.simulation.texts import TASKS
from builder.template.variables import PromptKind, field_name

__all__ = ["METRICS", "TASKS", "TEAMS", "Run", "RunState", "Team", "prompt_file_of", "simulate"]


def simulate(
    workspace: Path,
    runs: Sequence[Run],
    *,
    seed: int = 0,
    prompt_file: Mapping[PromptKind, str] | None = None,
) -> tuple[str, ...]:
    """Play the runs into a workspace and return their execution ids. Runs are added to what is there.

    ``prompt_file`` becomes ``configs/prompt_builder.toml``; where it is not given and the workspace has
    none, the templates of the last run do, as they would after that run.
    """
    _write_configuration(workspace, runs, prompt_file)
    ids: list[str] = []
    with SimulatedDatabase(workspace / DATABASE_NAME) as database:
        for number, run in enumerate(runs):
            # Named by what it is, so that another run before it changes nothing about this one.
            rng = Random(f"{seed}/{number}/{run.task}/{run.dice or run.started_at.isoformat()}")
            database.zone = ZoneInfo(run.zone)
            with database.transaction():
                play = Play(run, rng, database)
                play.perform()
            play.write_progress(workspace / "logs")
            ids.append(play.execution_id)
    return tuple(ids)


def prompt_file_of(templates: Mapping[PromptKind, str], day: date) -> bytes:
    """The prompt file of these templates, as an export of that day would make it."""
    return merge(None, {field_name(kind): text for kind, text in templates.items()}, day)


def _write_configuration(
    workspace: Path, runs: Sequence[Run], prompt_file: Mapping[PromptKind, str] | None
) -> None:
    configs = workspace / "configs"
    (configs / "agents").mkdir(parents=True, exist_ok=True)
    teams = {team.team_id: team for run in runs for team in run.teams}
    for team in teams.values():
        (configs / "agents" / f"{team.team_id}.toml").write_text(_team_file(team), encoding="utf-8")
    rounds = max((run.rounds for run in runs), default=3)
    (configs / "orchestrator.toml").write_text(_orchestrator_file(teams, rounds), encoding="utf-8")
    target = configs / "prompt_builder.toml"
    if prompt_file is None and (target.exists() or not runs):
        return
    templates = runs[-1].templates if prompt_file is None else prompt_file
    target.write_bytes(
        prompt_file_of(templates, max((run.started_at for run in runs), default=datetime.min).date())
    )


def _orchestrator_file(teams: Mapping[str, Team], rounds: int) -> str:
    head = f"[orchestrator]\ntimeout_per_team_seconds = 600\nmin_rounds = 1\nmax_rounds = {rounds}\n"
    entries = [
        f"\n[[orchestrator.teams]]\nconfig = {_quoted(f'configs/agents/{team_id}.toml')}\n"
        for team_id in teams
    ]
    return head + "".join(entries)


def _team_file(team: Team) -> str:
    return f"""[team]
team_id = {_quoted(team.team_id)}
team_name = {_quoted(team.team_name)}
max_concurrent_members = 3

[team.leader]
model = "google-gla:gemini-2.5-pro"
system_instruction = "必要に応じてメンバーに任せ、根拠のある提案にまとめてください。"

[[team.members]]
name = "analyst"
type = "plain"
tool_name = "delegate_to_analyst"
tool_description = "調査と分析を任せる"
model = "google-gla:gemini-2.5-flash"
system_instruction = "出典を確かめ、短く答えてください。"
temperature = 0.2
max_tokens = 2048
"""


def _quoted(text: str) -> str:
    # A JSON string is a TOML basic string.
    return json.dumps(text, ensure_ascii=False)
