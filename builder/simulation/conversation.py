"""The stored conversation with a simulated team's leader: messages in pydantic-ai's shape, and MixSeek's
record of the part that a member had in them. Used by ``play``."""

import json
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from typing import Any

from builder.leaderboard.writer import RoundKey
from builder.simulation.texts import Voice


def stamp(moment: datetime) -> str:
    """UTC as pydantic writes it."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def converse(
    key: RoundKey,
    prompt: str,
    answer: str,
    started: datetime,
    answered: datetime,
    voice: Voice,
    rng: Random,
    *,
    system_prompt: bool,
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The leader reads the prompt, asks a member once, and answers: messages, and the member's record."""
    half = started + (answered - started) / 2
    task, finding = voice.delegation(), voice.finding()
    call = f"pyd_ai_{rng.getrandbits(128):032x}"
    leader = _Exchange(str(uuid.UUID(int=rng.getrandbits(128))), voice.leader_instructions)
    asked: dict[str, Any] = {"tool_name": "delegate_to_analyst", "args": {"task": task}, "tool_call_id": call}
    returned: dict[str, Any] = {
        "tool_name": "delegate_to_analyst",
        "content": finding,
        "tool_call_id": call,
        "metadata": None,
        "timestamp": stamp(half),
        "part_kind": "tool-return",
    }
    messages = [
        leader.request(_opening(prompt, started, voice if system_prompt else None)),
        leader.response({**asked, "part_kind": "tool-call"}, started + (half - started) / 2, len(prompt)),
        leader.request([returned]),
        leader.response({"content": answer, "part_kind": "text"}, answered, len(prompt) + len(finding)),
    ]
    return messages, _members(key, task, finding, started, half)


def in_steps(messages: list[dict[str, Any]], prompt: str) -> list[dict[str, Any]]:
    """The conversation as a workflow of two steps has it: each agent is sent the prompt and what was answered
    before, as one JSON text."""
    opening, asked, returned, answer = messages
    finding = returned["parts"][0]["content"]
    told = [{}, {"gather": finding}]
    requests = [
        opening
        | {
            "parts": [
                part
                | {
                    "content": json.dumps(
                        {"user_prompt": prompt, "previous_steps": steps}, ensure_ascii=False
                    )
                }
                if part["part_kind"] == "user-prompt"
                else part
                for part in opening["parts"]
            ]
        }
        for steps in told
    ]
    found = asked | {"parts": [{"content": finding, "part_kind": "text"}]}
    return [requests[0], found, requests[1], answer]


def _opening(prompt: str, at: datetime, voice: Voice | None) -> list[dict[str, Any]]:
    # A system prompt, where there is one, comes first: the user's part is not always parts[0].
    user = {"content": prompt, "timestamp": stamp(at), "part_kind": "user-prompt"}
    if voice is None:
        return [user]
    system = {
        "content": voice.leader_instructions,
        "timestamp": stamp(at),
        "dynamic_ref": None,
        "part_kind": "system-prompt",
    }
    return [system, user]


def _members(key: RoundKey, task: str, finding: str, started: datetime, at: datetime) -> dict[str, Any]:
    submission = {
        "agent_name": "analyst",
        "agent_type": "plain",
        "content": finding,
        "status": "SUCCESS",
        "error_message": None,
        "usage": _usage(len(task), len(finding)),
        "timestamp": stamp(at),
        "execution_time_ms": round((at - started).total_seconds() * 500, 3),
    }
    return {
        "execution_id": key.execution_id,
        "team_id": key.team_id,
        "team_name": key.team_name,
        "round_number": key.round_number,
        "submissions": [submission],
        "successful_submissions": [submission],
        "failed_submissions": [],
        "total_count": 1,
        "success_count": 1,
        "failure_count": 0,
        "total_usage": submission["usage"],
    }


@dataclass(frozen=True)
class _Exchange:
    """The frame around the messages of one agent run."""

    run_id: str
    instructions: str

    def request(self, parts: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "parts": parts,
            "instructions": self.instructions,
            "kind": "request",
            "run_id": self.run_id,
            "metadata": None,
        }

    def response(self, part: dict[str, Any], at: datetime, read: int) -> dict[str, Any]:
        return {
            "parts": [{**part, "id": None, "provider_details": None}],
            "usage": _usage(read, len(json.dumps(part))),
            "model_name": "gemini-2.5-pro",
            "timestamp": stamp(at),
            "kind": "response",
            "provider_name": "google-gla",
            "provider_details": None,
            "provider_response_id": None,
            "finish_reason": "stop",
            "run_id": self.run_id,
            "metadata": None,
        }


def _usage(read: int, written: int) -> dict[str, Any]:
    return {
        "input_tokens": read // 2,
        "cache_write_tokens": 0,
        "cache_read_tokens": 0,
        "output_tokens": written // 2,
        "input_audio_tokens": 0,
        "cache_audio_read_tokens": 0,
        "output_audio_tokens": 0,
        "details": {},
        "requests": 1,
        "tool_calls": 0,
    }
