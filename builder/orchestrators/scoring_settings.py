"""Scoring settings: all that a score depends on besides templates, as lines that can be compared.

Made from the files that the finder found; stored by the studio with each run that it sees.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from builder.orchestrators.finder import ConfigFile, Orchestrator, agents_of

OWN_DEFAULTS = "(MixSeek's own defaults)"
NOT_READ = "(not read: {name})"

# The metrics that come with MixSeek; each asks a model, with the evaluator template.
_BUNDLED = frozenset({"ClarityCoherence", "Coverage", "Relevance", "LLMPlain"})
_OF_MODELS = ("model", "system_instruction", "temperature", "max_tokens")


@dataclass(frozen=True)
class ScoringSettings:
    """Lines such as `Coverage.weight = 0.3`: equal lines, equal settings."""

    evaluator: tuple[str, ...]
    judgment: tuple[str, ...]
    teams: tuple[str, ...]
    """Members, models and instructions."""
    rounds: tuple[str, ...]
    """How many, and how long."""
    uses_evaluator_template: bool = True
    """False where every metric is a custom one, which asks no model with that template."""
    release: str | None = None
    """Of MixSeek, where it is known."""

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "ScoringSettings":
        lists = {key: tuple(stored[key]) for key in ("evaluator", "judgment", "teams", "rounds")}
        return cls(
            **lists,
            uses_evaluator_template=stored["uses_evaluator_template"],
            release=stored["release"],
        )

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def sha256(self) -> str:
        text = json.dumps(self.as_json(), ensure_ascii=False, sort_keys=True)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def moving_models(self) -> list[str]:
        """Lines with a model whose name is an alias that moves on to the next one."""
        lines = (*self.evaluator, *self.judgment, *self.teams)
        return [line for line in lines if line.endswith('-latest"') and "model" in line.partition(" = ")[0]]


def scoring_settings(orchestrator: Orchestrator, release: str | None = None) -> ScoringSettings:
    """What a run of this orchestrator file is scored with, as its files are now."""
    metrics = orchestrator.evaluator.table.get("metrics", [])
    named = {str(metric.get("name")): _without_name(metric) for metric in metrics}
    evaluator = {**orchestrator.evaluator.table, "metrics": {}, **named}
    members = {
        f"members.{name}": file.table or _unread(file) for name, file in sorted(orchestrator.members.items())
    }
    teams: dict[str, Any] = {}
    for team in sorted(orchestrator.teams, key=lambda team: str(team.table.get("id") or team.name)):
        teams[str(team.table.get("id") or team.name)] = _team(team)
    return ScoringSettings(
        evaluator=_lines_of(orchestrator.evaluator, evaluator),
        judgment=_lines_of(orchestrator.judgment, orchestrator.judgment.table),
        teams=tuple(_lines("", teams | members)),
        rounds=tuple(_lines("", orchestrator.file.table.get("rounds", {}))),
        uses_evaluator_template=not metrics or any(map(_asks_a_model, metrics)),
        release=release,
    )


def _asks_a_model(metric: Mapping[str, Any]) -> bool:
    return metric.get("name") in _BUNDLED or any(key in metric for key in _OF_MODELS)


def _without_name(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if key != "name"} or {"weight": None}


def _team(team: ConfigFile) -> Any:
    if not team.table:
        return _unread(team)
    named = {
        str(agent.get("name") or agent.get("agent_name") or agent.get("config") or number): _without_name(
            agent
        )
        for number, agent in enumerate(agents_of(team.table), 1)
    }
    rest = {key: value for key, value in team.table.items() if key not in ("id", "members", "steps")}
    return {**rest, **named}


def _lines_of(file: ConfigFile, table: Mapping[str, Any]) -> tuple[str, ...]:
    if file.error is not None:
        return (_unread(file),)
    return tuple(_lines("", table)) if file.data is not None else (OWN_DEFAULTS,)


def _unread(file: ConfigFile) -> str:
    return NOT_READ.format(name=file.name)


def _lines(path: str, value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _lines(f"{path}.{key}" if path else str(key), inner)
    elif isinstance(value, str) and "\n" in value.strip("\n"):
        for line in value.strip("\n").split("\n"):
            yield f"{path} | {line.rstrip()}"
    else:
        text = value.strip("\n") if isinstance(value, str) else value
        yield f"{path} = {json.dumps(text, ensure_ascii=False)}"
