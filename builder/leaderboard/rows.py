"""The rows of MixSeek's tables as typed values: zones, digits and JSON are put right here, once. Used by
``queries`` and ``story``."""

import json
import math
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from builder.leaderboard.records import DeliveredPrompt, Metric

_QUARTER = 15 * 60


@dataclass(frozen=True)
class BoardRow:
    """A leaderboard row without its text."""

    team_id: str
    round_number: int
    team_name: str
    score: float
    created_at: datetime | None
    """In the writer's local zone, as stored."""


@dataclass(frozen=True)
class StatusRow:
    """When a round ran and what the judgment made of it."""

    should_continue: bool | None
    reasoning: str | None
    confidence: float | None
    started_at: datetime | None
    ended_at: datetime | None
    created_at: datetime | None
    """In the writer's local zone, as stored; the other two are UTC."""


@dataclass(frozen=True)
class SubmissionRow:
    """A leaderboard row with its text."""

    team_name: str
    score: float | None
    details: dict[str, Any] | None
    created_at: datetime | None
    content: str | None
    format: str | None
    final: bool
    exit_reason: str | None


@dataclass(frozen=True)
class HistoryRow:
    """A round's row in the history; ``conversation`` is JSON, where it was asked for."""

    team_name: str
    created_at: datetime | None
    conversation: str | None = None


def offset_of(pairs: Iterable[tuple[datetime | None, datetime | None]]) -> timedelta:
    """How far the writer's clock was ahead of UTC, from pairs of (local, UTC) times of the same moment.

    The UTC side may be a little later, never much earlier, so the largest difference is the closest;
    zones differ by whole quarters of an hour.
    """
    differences = [
        (local - utc).total_seconds() for local, utc in pairs if local is not None and utc is not None
    ]
    if not differences:
        return timedelta(0)
    return timedelta(seconds=round(max(differences) / _QUARTER) * _QUARTER)


def as_utc(stored: datetime | None, ahead: timedelta = timedelta(0)) -> datetime | None:
    """A stored time with its zone; ``ahead`` is the writer's offset where the column is in local time."""
    return None if stored is None else (stored - ahead).replace(tzinfo=UTC)


def details_of(stored: str | None) -> dict[str, Any] | None:
    """``score_details``; ``None`` where it is absent or not an object."""
    value = _json(stored)
    return value if isinstance(value, dict) else None


def _json(stored: Any) -> Any:
    """Stored JSON; ``None`` where there is none that could be read."""
    if not stored or not isinstance(stored, str):
        return None
    try:
        value = json.loads(stored, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return None
    if "\\ud" in stored.lower():
        # Half of a surrogate pair can hide behind an escape; no page, file or prompt could take it.
        value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    return value


def score_of(details: Mapping[str, Any] | None, stored: float | None) -> float | None:
    """The evaluator's own number: the column is 32 bits wide and keeps seven digits of it. Where somebody
    changed the column by hand, it is the column that rankings go by."""
    overall, kept = _finite(details.get("overall_score")) if details else None, _finite(stored)
    if overall is None or (kept is not None and _in_32_bits(overall) != _in_32_bits(kept)):
        return kept
    return overall


def _in_32_bits(number: float) -> float:
    try:
        (kept,) = struct.unpack("f", struct.pack("f", number))
    except OverflowError:
        return math.inf
    return float(kept)


def _finite(value: Any) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def metrics_of(details: Mapping[str, Any] | None) -> tuple[Metric, ...]:
    listed = details.get("metrics") if details else None
    return tuple(
        Metric(
            name=str(entry.get("metric_name") or ""),
            score=_finite(entry.get("score")),
            comment=str(entry.get("evaluator_comment") or ""),
        )
        for entry in (listed if isinstance(listed, list) else ())
        if isinstance(entry, dict)
    )


def feedback_of(metrics: Iterable[Metric]) -> str:
    """The evaluator's comments, a line for each metric that has one."""
    return "\n".join(f"{metric.name}: {metric.comment}" for metric in metrics if metric.comment)


def delivered_of(stored: str | None) -> DeliveredPrompt | None:
    """The user's part of the first message of a stored conversation."""
    messages = _json(stored)
    if not isinstance(messages, list):
        return None
    for place, part in enumerate(_parts(messages[0] if messages else None)):
        if (text := _user_text(part)) is not None:
            delivered = DeliveredPrompt(text, _moment_of(part.get("timestamp")), place)
            if (step := _step_of(text)) is not None:
                delivered = replace(delivered, text=step[0], previous_steps=_last_steps(messages, step[1]))
            return delivered
    return None


def is_without_agents(stored: str | None) -> bool:
    """Whether a conversation is stored and has no messages: a workflow of functions alone asks no model."""
    return stored is not None and _json(stored) == []


def _parts(message: Any) -> list[Any]:
    parts = message.get("parts") if isinstance(message, dict) else None
    return parts if isinstance(parts, list) else []


def _user_text(part: Any) -> str | None:
    if isinstance(part, dict) and part.get("part_kind") == "user-prompt":
        return _text_of(part.get("content"))
    return None


def _step_of(text: str) -> tuple[str, dict[str, Any]] | None:
    """The team prompt and the previous steps that the agent of a workflow was sent as JSON."""
    if not text.startswith("{"):
        return None
    told = _json(text)
    if not isinstance(told, dict) or told.keys() != {"user_prompt", "previous_steps"}:
        return None
    prompt, steps = told["user_prompt"], told["previous_steps"]
    return (prompt, steps) if isinstance(prompt, str) and isinstance(steps, dict) else None


def _last_steps(messages: list[Any], first: dict[str, Any]) -> dict[str, Any]:
    steps = first
    for message in messages[1:]:
        for part in _parts(message):
            text = _user_text(part)
            if text is not None and (step := _step_of(text)) is not None:
                steps = step[1]
    return steps


def _text_of(content: Any) -> str | None:
    if isinstance(content, str):
        return content
    # A prompt with attachments is a list; the text is what stands between them.
    if isinstance(content, list):
        return "".join(item for item in content if isinstance(item, str))
    return None


def _moment_of(stamp: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(stamp)
    except (TypeError, ValueError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
