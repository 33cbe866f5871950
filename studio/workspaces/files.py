"""A workspace's files as they stand: found, read and understood once for each state of a file."""

import os
import re
import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from builder.errors import BuilderError, PromptFileError, PromptFileRefused
from builder.files.reading import ORCHESTRATOR_FILE, PROMPT_FILE, FileState
from builder.files.reading import peek as peek_below
from builder.jail import NamedFile, PromptFile
from builder.problems import Problem
from builder.system.file import problems_of as system_problems
from studio.shell.environment import overriding_variables
from studio.shell.jail import pool
from studio.workspaces.roots import root_of

DOTENV_FILE = Path(".env")

_UNSETTLED_NS = 2_000_000_000
"""A file that changed less long ago may change again within one tick of its clock, unseen."""
_MOST_KEPT = 256
_LARGEST_KEPT = 256 * 1024

_Identity = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Location:
    """Where MixSeek looks for its prompt file; ``named`` where ``orchestrator.toml`` says so."""

    path: Path
    named: NamedFile | None = None


@dataclass(frozen=True)
class ReadFile:
    """A file: its bytes and, where it can be understood, what it says; else ``error`` says why not."""

    name: str
    """How sentences call it: its path inside the workspace."""
    state: FileState
    obstacle: PromptFileError | None = None
    """What would keep an export from replacing the file."""
    content: PromptFile | None = None
    """Of a prompt file alone."""
    error: BuilderError | None = None
    problems: tuple[Problem, ...] = ()
    """Of a system prompt's file alone."""


@dataclass(frozen=True)
class SetVariable:
    """A line of a workspace's ``.env`` that wins over the prompt file."""

    name: str
    line: int


def locate(folder: Path) -> Location:
    """Where MixSeek looks. Raises what the jail or the builder says about ``orchestrator.toml``."""
    path = folder / ORCHESTRATOR_FILE
    identity = _identity(path, folder)
    if identity is None:
        return Location(folder / PROMPT_FILE)
    named = (
        _named(path, folder, identity) if _settled(identity) else _named.__wrapped__(path, folder, identity)
    )
    return Location(folder / PROMPT_FILE) if named is None else Location(folder / named.name, named)


def read(path: Path, folder: Path) -> ReadFile:
    """The prompt file. Raises ``PromptFileError`` for what is not read at all, and what the jail raises."""
    identity = _identity(path, folder)
    if identity is None:
        return ReadFile(_shown(path, folder), *_peek(path, folder))
    keep = _settled(identity) and identity[-1][2] <= _LARGEST_KEPT
    return (_read if keep else _read.__wrapped__)(path, folder, identity)


def read_system(path: Path, folder: Path) -> ReadFile:
    """The same for the file of a system prompt, with all that is wrong with it."""
    identity = _identity(path, folder)
    if identity is None:
        return ReadFile(_shown(path, folder), *_peek(path, folder))
    keep = _settled(identity) and identity[-1][2] <= _LARGEST_KEPT
    return (_read_system if keep else _read_system.__wrapped__)(path, folder, identity)


def problems_of(file: ReadFile) -> tuple[Problem, ...]:
    """Everything that is wrong with a file, by line."""
    data, sha256 = file.state.data, file.state.sha256
    if data is None or sha256 is None:
        return ()
    keep = len(data) <= _LARGEST_KEPT
    return (_problems if keep else _problems.__wrapped__)(data, file.name)


def variables_in_dotenv(folder: Path) -> tuple[SetVariable, ...]:
    """What the workspace's ``.env`` sets that MixSeek, started there, prefers to its prompt file.

    The file holds secrets: nothing of it is kept but names and lines.
    """
    if _identity(folder / DOTENV_FILE, folder) is None:
        return ()
    try:
        data = _peek(folder / DOTENV_FILE, folder)[0].data
    except PromptFileError:
        return ()
    found = []
    for number, line in enumerate((data or b"").splitlines(), start=1):
        if (match := _ASSIGNMENT.match(line)) and (name := match[1].decode()) in overriding_variables():
            found.append(SetVariable(name, number))
    return tuple(found)


_ASSIGNMENT = re.compile(rb"\s*(?:export\s+)?(MIXSEEK_[A-Z_]+)\s*=")


@lru_cache(maxsize=_MOST_KEPT)
def _named(path: Path, folder: Path, identity: _Identity) -> NamedFile | None:
    data = _peek(path, folder)[0].data
    return None if data is None else pool().named_prompt_file(data, str(path.relative_to(folder)))


@lru_cache(maxsize=_MOST_KEPT)
def _read(path: Path, folder: Path, identity: _Identity) -> ReadFile:
    name = _shown(path, folder)
    state, obstacle = _peek(path, folder)
    if state.data is None:
        return ReadFile(name, state, obstacle)
    try:
        return ReadFile(name, state, obstacle, pool().read(state.data, name))
    except PromptFileError as error:
        return ReadFile(name, state, obstacle, error=error)


@lru_cache(maxsize=_MOST_KEPT)
def _read_system(path: Path, folder: Path, identity: _Identity) -> ReadFile:
    name = _shown(path, folder)
    state, obstacle = _peek(path, folder)
    if state.data is None:
        return ReadFile(name, state, obstacle)
    try:
        found = system_problems(pool().system_table(state.data, name))
    except PromptFileError as error:
        return ReadFile(name, state, obstacle, error=error)
    return ReadFile(name, state, obstacle, problems=tuple(found))


@lru_cache(maxsize=_MOST_KEPT)
def _problems(data: bytes, name: str) -> tuple[Problem, ...]:
    return tuple(pool().check_file(data, name))


def _peek(path: Path, folder: Path) -> tuple[FileState, PromptFileRefused | None]:
    """From the allowed root down, so that no folder on the way can be swapped for a link in between."""
    inside = folder in path.parents and ".." not in path.relative_to(folder).parts
    return peek_below(path, root_of(folder) if inside else folder)


def _shown(path: Path, folder: Path) -> str:
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)


def _identity(path: Path, folder: Path) -> _Identity | None:
    """What changes whenever the file or a folder on the way to it does; None where there is no file."""
    try:
        at = os.fspath(folder)
        steps = [os.lstat(at)]
        for part in path.relative_to(folder).parts:
            at = f"{at}/{part}"
            steps.append(os.lstat(at))
    except (OSError, ValueError):  # gone, outside, or a name that no file can have
        return None
    on_the_way = [(step.st_dev, step.st_ino, step.st_mode) for step in steps[:-1]]
    last = steps[-1]
    changed = (last.st_mtime_ns, last.st_ctime_ns)
    owned = (last.st_mode, last.st_nlink, last.st_uid, last.st_gid)
    return (*on_the_way, (last.st_dev, last.st_ino, last.st_size, *changed, *owned))


def _settled(identity: _Identity) -> bool:
    return time.time_ns() - max(identity[-1][3:5]) > _UNSETTLED_NS
