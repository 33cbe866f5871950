"""What orchestrator, evaluator, judgment, team and member files say, by an allow-list of keys.

Read inside the jail, so that nothing else of such a file (keys, tokens, headers) ever leaves it.
"""

import hashlib
import math
from collections.abc import Mapping
from typing import Any, Literal, get_args

from builder.files.toml_file import TomlFile

Part = Literal["orchestrator", "evaluator", "judgment", "team", "member"]
PARTS: tuple[Part, ...] = get_args(Part)
Table = dict[str, Any]

CONFIG_KEYS = ("prompt_builder_config", "evaluator_config", "judgment_config")
"""The keys of an orchestrator file that name other files."""

MOST_ENTRIES = 200
"""Teams, members or metrics of one file; MixSeek's own files have a handful."""
LONGEST_TEXT = 20_000

_SAMPLING = (
    "temperature", "max_tokens", "top_p", "seed", "stop_sequences", "max_retries", "timeout_seconds",
)  # fmt: skip
# pydantic-ai's settings; those that carry headers, bodies or users are left out.
_MODEL_SETTINGS = (
    *_SAMPLING, "timeout", "top_k", "presence_penalty", "frequency_penalty", "parallel_tool_calls",
    "thinking_budget", "thinking_level", "include_thoughts", "google_thinking_config", "thinking",
    "anthropic_thinking", "openai_reasoning_effort", "openai_reasoning_summary", "openai_text_verbosity",
    "type", "budget_tokens",
)  # fmt: skip
_MODEL = ("model", *_SAMPLING, "system_instruction", "system_prompt")
_AGENT = ("name", "agent_name", "type", "agent_type", "tool_name", "tool_description", "description", *_MODEL)
_ROUNDS = (
    "min_rounds", "max_rounds", "timeout_per_team_seconds", "submission_timeout_seconds",
    "judgment_timeout_seconds", "max_retries_per_team",
)  # fmt: skip


SHARED_KEYS = frozenset(
    {
        *CONFIG_KEYS, *_AGENT, *_MODEL_SETTINGS, *_ROUNDS,
        "orchestrator", "teams", "config", "evaluator", "metrics", "weight", "default_model", "llm_default",
        "judgment", "judge_on_final_round", "team", "workflow", "team_id", "team_name", "workflow_id",
        "workflow_name", "leader", "members", "steps", "executors", "id", "agent", "text",
        "max_concurrent_members", "member_dispatch", "model_settings", "google_model_settings",
    }
)  # fmt: skip
"""Every key that is read below, at any depth: what of such a file may be sent to another machine."""


def read_table(data: bytes, name: str, part: Part) -> Table | None:
    """The allowed keys of a file; None where it has no such table. Raises ``PromptFileInvalid``."""
    file = TomlFile(data, name)
    return _READERS[part](file)


def _orchestrator(file: TomlFile) -> Table | None:
    table = file.document.get("orchestrator")
    if not isinstance(table, dict):
        return None
    named = {key: table[key] for key in CONFIG_KEYS if isinstance(table.get(key), str)}
    odd = [key for key in CONFIG_KEYS if key in table and key not in named]
    return {
        "named": named,
        "lines": {key: file.line_of(("orchestrator", key)) for key in (*named, *odd)},
        "odd": odd,
        "rounds": _pick(table, _ROUNDS),
        "teams": [
            entry["config"] for entry in _entries(table, "teams") if isinstance(entry.get("config"), str)
        ],
    }


def _evaluator(file: TomlFile) -> Table:
    table = _inner(file, "evaluator")
    metrics = [
        metric | _settings(entry)
        for entry in _entries(table, "metrics")
        if (metric := _pick(entry, ("name", "weight", *_MODEL)))
    ]
    defaults = table.get("llm_default")
    return {
        **_pick(table, ("default_model", "model", *_SAMPLING)),
        **_settings(table),
        "llm_default": _agent(defaults, _MODEL) if isinstance(defaults, dict) else {},
        "metrics": sorted(metrics, key=lambda metric: str(metric.get("name"))),
    }


def _judgment(file: TomlFile) -> Table:
    return _agent(_inner(file, "judgment"), (*_MODEL, "judge_on_final_round"))


def _team(file: TomlFile) -> Table | None:
    for kind in ("team", "workflow"):
        table = file.document.get(kind)
        if isinstance(table, dict):
            leader = table.get("leader")
            return {
                "id": _text(table.get(f"{kind}_id")),
                "name": _text(table.get(f"{kind}_name")),
                **_pick(table, ("max_concurrent_members", "member_dispatch")),
                "leader": _agent(leader, _AGENT) if isinstance(leader, dict) else {},
                "members": [_member(entry) for entry in _entries(table, "members")],
                "steps": [_step(entry) for entry in _entries(table, "steps")],
            }
    return None


def _step(entry: Mapping[str, Any]) -> Table:
    executors = [_member(executor) for executor in _entries(entry, "executors")]
    return {**_pick(entry, ("id", "name")), "executors": executors}


def _member(entry: Mapping[str, Any]) -> Table:
    config = entry.get("config")
    return {**_agent(entry, _AGENT), **({"config": _text(config)} if isinstance(config, str) else {})}


def _agent_file(file: TomlFile) -> Table:
    return _agent(_inner(file, "agent"), _AGENT)


_READERS = {
    "orchestrator": _orchestrator,
    "evaluator": _evaluator,
    "judgment": _judgment,
    "team": _team,
    "member": _agent_file,
}


def _inner(file: TomlFile, name: str) -> Mapping[str, Any]:
    """The table of that name, or the whole document where the keys stand at its top."""
    table = file.document.get(name)
    return table if isinstance(table, dict) else file.document


def _entries(table: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    entries = table.get(key)
    listed = entries if isinstance(entries, list) else []
    return [entry for entry in listed[:MOST_ENTRIES] if isinstance(entry, dict)]


def _agent(table: Mapping[str, Any], keys: tuple[str, ...]) -> Table:
    return _pick(table, keys) | _settings(table)


def _settings(table: Mapping[str, Any]) -> Table:
    return {
        key: _pick(table[key], _MODEL_SETTINGS) | _by_model(table[key])
        for key in ("model_settings", "google_model_settings")
        if isinstance(table.get(key), dict)
    }


def _by_model(settings: Mapping[str, Any]) -> Table:
    """Settings that are given per model: tables by the models' names."""
    tables = list(settings.items())[:MOST_ENTRIES]
    picked = {
        _text(name): _pick(table, _MODEL_SETTINGS)
        for name, table in tables
        if isinstance(table, dict) and name not in _MODEL_SETTINGS
    }
    return {name: table for name, table in picked.items() if table}


def _pick(table: Mapping[str, Any], keys: tuple[str, ...]) -> Table:
    found = {}
    for key in keys:
        value = table.get(key)
        if key in ("system_instruction", "system_prompt") and isinstance(value, dict):
            value = value.get("text")
        if isinstance(value, dict):
            # Of a table, too, only what is known gets out.
            plain = _pick(value, _MODEL_SETTINGS) if key in _MODEL_SETTINGS else None
        else:
            plain = _plain(value)
        if plain not in (None, {}):
            found[key] = plain
    return found


def _plain(value: object) -> Any:
    """A value that JSON has; None for what is left out."""
    if isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        return [_text(item) for item in value[:MOST_ENTRIES] if isinstance(item, str)]
    return None


def _text(value: object) -> str:
    """A text that every database takes; one that is cut still differs where anything in it does."""
    text = value.replace("\0", "\N{SYMBOL FOR NULL}") if isinstance(value, str) else ""
    if len(text) <= LONGEST_TEXT:
        return text
    return f"{text[:LONGEST_TEXT]}\n… (sha256 {hashlib.sha256(text.encode()).hexdigest()})"
