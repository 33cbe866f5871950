"""The files of a workspace that its agent shares: prompt files whole, other configuration by an allow-list.

Orchestrator, evaluator, judgment, team and member files may hold keys and tokens: only what the studio shows
and scores depend on leaves the machine.
"""

import os
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from builder.errors import BuilderError
from builder.files.new_prompt_file import dumped
from builder.files.reading import peek, sha256
from builder.orchestrators.tables import SHARED_KEYS

CONFIGS = "configs"
MOST_FILES = 500
_DEEPEST = 8
_WHOLE = frozenset({"prompt_builder"})
"""A file with one of these tables is sent as it is: what the studio exports must be the same to the byte."""


@dataclass(frozen=True)
class SharedFile:
    """A file as it is sent."""

    name: str
    data: bytes = field(repr=False)
    modified_at: datetime
    sha256: str
    """Of the file itself, which may hold more."""


def shared_files(workspace: Path) -> Iterator[SharedFile]:
    """Every `configs/**/*.toml`; no link is followed, and what is no TOML is sent only where it looks like a
    prompt file."""
    root = workspace.resolve()
    for path in _toml_files(root / CONFIGS, 0):
        try:
            state = peek(path, root)[0]
        except BuilderError:
            continue
        if state.data is not None:
            moment = datetime.fromtimestamp(path.stat().st_mtime, UTC)
            yield SharedFile(str(path.relative_to(root)), _shared(state.data), moment, sha256(state.data))


def _toml_files(folder: Path, depth: int) -> Iterator[Path]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries[:MOST_FILES]:
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False) and depth < _DEEPEST:
            yield from _toml_files(Path(entry.path), depth + 1)
        elif entry.is_file(follow_symlinks=False) and entry.name.endswith(".toml"):
            yield Path(entry.path)


def _shared(data: bytes) -> bytes:
    try:
        document = tomllib.loads(data.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError):
        # The studio says what is wrong with a prompt file; anything else stays here.
        return data if b"prompt_builder" in data else b""
    if _WHOLE & document.keys():
        return data
    return dumped(_allowed(document))


def _allowed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _allowed(inner) for key, inner in value.items() if key in SHARED_KEYS}
    if isinstance(value, list):
        return [_allowed(inner) for inner in value]
    return value
