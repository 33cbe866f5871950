"""The files of a workspace that its agent shares: prompt files whole, other configuration by an allow-list,
and what its system prompt is made of.

Orchestrator, evaluator, judgment, team and member files may hold keys and tokens: only what the studio shows
and scores depend on leaves the machine.
"""

import os
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from builder.client.file_names import is_shared_name
from builder.errors import BuilderError
from builder.files.new_prompt_file import dumped
from builder.files.reading import peek, sha256
from builder.files.text_parts import list_folder
from builder.orchestrators.tables import CONFIG_KEYS, SHARED_KEYS
from builder.system.config import SystemPromptConfig, is_outside
from builder.system.file import SYSTEM_PROMPT_FILE, load_system_config
from builder.system.skill_scan import MOST_SKILLS, SKILL_FILE

CONFIGS = "configs"
_MOST_IN_A_FOLDER = 500
_DEEPEST = 8
SYSTEM_ENDINGS = (".md", ".txt")
"""Of bootstrap files: settings that name others must not bring keys and tokens to the studio."""
_PROMPTS = "prompt_builder"
"""A file with this table is sent as it is: what the studio exports must be the same to the byte."""


@dataclass(frozen=True)
class SharedFile:
    """A file as it is sent."""

    name: str
    data: bytes = field(repr=False)
    modified_at: datetime
    sha256: str
    """Of the file itself, which may hold more."""


def is_prompt_file(name: str, data: bytes) -> bool:
    """Whether the studio may write this: a prompt file of MixSeek, or the settings of a system prompt."""
    if not (is_shared_name(name) and name.endswith(".toml")):
        return False
    if name == str(SYSTEM_PROMPT_FILE):
        return True
    try:
        return _PROMPTS in tomllib.loads(data.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError):
        return _PROMPTS.encode() in data


def shared_files(workspace: Path, *, texts: bool) -> Iterator[SharedFile]:
    """Every `configs/**/*.toml`, what those name elsewhere in the workspace and, with ``texts``, the files of
    the system prompt. No link is followed."""
    root = workspace.resolve()
    listed = [str(path.relative_to(root)) for path in _toml_files(root / CONFIGS, 0)]
    named: dict[str, None] = {}
    for name in listed:
        if file := _read(root, name):
            named |= dict.fromkeys(_named_in(file.data))
            yield file
    for name in [name for name in named if name.endswith(".toml") and name not in listed]:
        if file := _read(root, name):
            yield file
    for name in _system_files(root) if texts else ():
        if name.endswith(SYSTEM_ENDINGS) and (file := _read(root, name, whole=True)):
            yield file


def moment_of(seconds: float) -> datetime:
    """When a file was changed; a clock may have been wrong by any number of years."""
    return datetime.fromtimestamp(min(max(seconds, 0.0), 4e9), UTC)


def _read(root: Path, name: str, *, whole: bool = False) -> SharedFile | None:
    path = root / name
    if whole:  # a link to another file inside is what it leads to, as for the builder of system prompts
        path = Path(os.path.realpath(path))
    if not (
        is_shared_name(name) and path.is_relative_to(root) and is_shared_name(str(path.relative_to(root)))
    ):
        return None
    try:
        state = peek(path, root)[0]
    except BuilderError:
        return None
    if state.data is None:
        return None
    moment = moment_of(state.modified_ns / 1e9)
    data = state.data if whole or is_prompt_file(name, state.data) else _allowed_part(state.data)
    return SharedFile(name, data, moment, sha256(state.data))


def _toml_files(folder: Path, depth: int) -> Iterator[Path]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries[:_MOST_IN_A_FOLDER]:
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False) and depth < _DEEPEST:
            yield from _toml_files(Path(entry.path), depth + 1)
        elif entry.is_file(follow_symlinks=False) and entry.name.endswith(".toml"):
            yield Path(entry.path)


def _named_in(data: bytes) -> Iterator[str]:
    """Files that an orchestrator or team file names: prompts, evaluator, judgment, teams and members."""
    try:
        waiting: list[Any] = [tomllib.loads(data.decode())]
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError):
        return
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            named = (value.get(key) for key in (*CONFIG_KEYS, "config"))
            yield from (os.path.normpath(name) for name in named if isinstance(name, str) and name)
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


def _system_files(root: Path) -> Iterator[str]:
    """The bootstrap files and skills that the system prompt of the workspace is made of."""
    try:
        config = load_system_config(root)
    except BuilderError:
        config = SystemPromptConfig()
    yield from config.bootstrap.files
    for folder in config.skills.dirs:
        if not is_outside(folder):
            with suppress(BuilderError):
                names, _more = list_folder(root / folder, root, MOST_SKILLS) or ((), False)
                yield from (f"{folder}/{name}/{SKILL_FILE}" for name in names)


def _allowed_part(data: bytes) -> bytes:
    try:
        document = tomllib.loads(data.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError):
        return b""  # the studio says that it has nothing to read; the text stays here
    return dumped(_allowed(document))


def _allowed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _allowed(inner) for key, inner in value.items() if key in SHARED_KEYS}
    if isinstance(value, list):
        return [_allowed(inner) for inner in value]
    return value
