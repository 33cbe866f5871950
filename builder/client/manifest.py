"""Manifests of pinned runs: which version a run was started with, in `logs/ID.studio.json` of its workspace.

Written by ``prompt-studio exec``; read by the studio when it attributes runs. Whoever can write into a
workspace can write one, so it is a claim that attribution verifies against the prompts that were sent.
"""

import os
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from builder.errors import BuilderError
from builder.files.reading import peek
from builder.files.writing import replace

LOGS = "logs"
ENDING = ".studio.json"
MOST_MANIFESTS = 5_000
_MOST_BYTES = 200_000

ScoredBy = Literal["evaluator", "judgment", "teams"]
Link = Literal["one", "several", "none", "unknown"]

_Word = Field(max_length=300)


class Manifest(BaseModel):
    """What a pinned run says of itself. Hashes are SHA-256, hexadecimal."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    format: Literal[1] = 1
    id: str = Field(pattern=r"^[0-9a-f]{32}$")
    studio: str = _Word
    prompt_set: str = _Word
    version: int = Field(ge=1, le=2**31 - 1)
    label: str | None = Field(default=None, max_length=300)
    hash: str = _Word
    """Of the version's templates, as the studio names it."""
    by: str = _Word
    program: str = _Word
    """Without its arguments: the task may be confidential, and MixSeek stores it anyway."""
    started_at: AwareDatetime
    ended_at: AwareDatetime | None = None
    exit_code: int | None = None
    mixseek: str = Field(default="", max_length=60)
    """MixSeek's version, where it could be seen."""
    orchestrator: str = Field(default="", max_length=1_000)
    """The orchestrator file of the run, as seen from the workspace."""
    settings: dict[ScoredBy, str] = Field(default_factory=dict)
    """Hashes of what the run was scored with."""
    models: list[str] = Field(default_factory=list, max_length=500)
    executions: list[str] = Field(default_factory=list, max_length=500)
    """Those that are new in the database, lie within the run's time and hold its prompts."""
    link: Link = "unknown"
    """How many of them there are; with several, which of them this run was cannot be told."""

    @property
    def reference(self) -> str:
        return f"{self.prompt_set}@{self.version}"

    @property
    def name(self) -> str:
        return f"{LOGS}/{self.id}{ENDING}"


def write(workspace: Path, manifest: Manifest, before: bytes | None) -> bytes:
    """Put it into the workspace, in the place of ``before``; gives back what was written."""
    data = (manifest.model_dump_json(indent=2) + "\n").encode()
    path = workspace / manifest.name
    state = peek(path, workspace)[0] if before is not None else None
    replace(path, data, state.sha256 if state else None, workspace)
    return data


def read_manifests(workspace: Path, since: datetime | None = None) -> list[Manifest]:
    """The manifests of a workspace, the newest first; what is no manifest is passed over."""
    manifests = []
    for name in islice(_names(workspace / LOGS, since), MOST_MANIFESTS):
        try:
            data = peek(workspace / LOGS / name, workspace)[0].data or b""
            manifest = Manifest.model_validate_json(data[: _MOST_BYTES + 1])
        except (BuilderError, ValidationError):
            continue
        if name == manifest.id + ENDING:
            manifests.append(manifest)
    return sorted(manifests, key=lambda manifest: manifest.started_at, reverse=True)


def _names(folder: Path, since: datetime | None) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(ENDING) and (
                    since is None or entry.stat(follow_symlinks=False).st_mtime >= since.timestamp()
                ):
                    yield entry.name
    except OSError:
        return
