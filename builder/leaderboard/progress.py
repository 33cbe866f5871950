"""The live progress files that MixSeek keeps beside its database, one for each team of an execution."""

import json
import os
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_SUFFIX = ".progress.json"
_MAX_BYTES = 64 * 1024


@dataclass(frozen=True)
class Progress:
    """What a team is doing, by its own account."""

    execution_id: str
    team_id: str
    team_name: str
    status: str
    current_round: int | None
    total_rounds: int | None
    current_agent: str | None
    updated_at: datetime | None
    error: str | None = None

    def shows_life(self, since: datetime) -> bool:
        return self.updated_at is not None and self.updated_at >= since


def read_progress(logs: Path, executions: Collection[str] | None = None) -> list[Progress]:
    """The progress of some executions, or of all. A file that is being rewritten is left out."""
    try:
        names = sorted(os.listdir(logs))
    except OSError:
        return []
    found = []
    for name in names:
        # Execution ids hold no dot; team ids may.
        execution, dot, _ = name.partition(".")
        if dot and name.endswith(_SUFFIX) and (executions is None or execution in executions):
            progress = _read(logs / name)
            if progress is not None:
                found.append(progress)
    return found


def _read(path: Path) -> Progress | None:
    try:
        with path.open("rb") as file:
            data = json.loads(file.read(_MAX_BYTES))
        return Progress(
            execution_id=str(data["execution_id"]),
            team_id=str(data["team_id"]),
            team_name=str(data.get("team_name") or data["team_id"]),
            status=str(data["status"]),
            current_round=_number(data.get("current_round")),
            total_rounds=_number(data.get("total_rounds")),
            current_agent=_text(data.get("current_agent")),
            updated_at=_moment(data.get("updated_at")),
            error=_text(data.get("error_message")),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _moment(value: Any) -> datetime | None:
    if not isinstance(value, str):
        return None
    moment = datetime.fromisoformat(value)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
