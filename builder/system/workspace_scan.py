"""The scan of a workspace: its bootstrap files, skills and runtime facts, gathered into the renderer's input.
Used by ``builder``.

Whatever stands in the folder was written by others: each thing that cannot be used becomes a diagnostic,
and how much is read does not depend on how much there is.
"""

import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from builder.errors import BuilderError
from builder.files.text_parts import TextPart, read_part
from builder.messages import message
from builder.problems import Problem
from builder.system.config import BootstrapConfig, RuntimeConfig, SystemPromptConfig
from builder.system.front_matter import FrontMatterReader, read_front_matters
from builder.system.input import (
    IN_MODE,
    BootstrapFile,
    PromptMode,
    Runtime,
    Skill,
    SystemPromptInput,
)
from builder.system.skill_scan import MOST_SKILLS, FoundSkills, find_skills, refused

_BYTES_PER_CHARACTER = 4

TOO_MUCH = message(
    "system-files-too-large",
    "{file} is not read: the files before it reach the limit of {limit} bytes",
    "{file} は読み込みません。ここまでのファイルで上限の{limit}バイトに達しました",
    fix_en="Lower `bootstrapMaxChars`, or name fewer files.",
    fix_ja="`bootstrapMaxChars` を小さくするか、ファイルを減らしてください。",
)


@dataclass(frozen=True)
class ScanLimits:
    """How much of a workspace is read; a server that builds for many people has lower ones."""

    bytes: int = 64 * 1024 * 1024
    """Of all bootstrap files together; settings that ask for more find the rest refused."""
    skills: int = MOST_SKILLS
    """Folders that are looked into, in each folder of skills."""
    between: Callable[[], None] = lambda: None
    """Called before each skill: there a server may let shorter work go first."""


USUAL_LIMITS = ScanLimits()


@dataclass(frozen=True)
class Machine:
    """What the system says of itself; read at the edge, handed in everywhere else."""

    host: str
    os: str
    python: str
    home: Path | None
    workspace: Path | None = None
    """Where the workspace lies there, if the folder that is read is a copy of it; None: it is the folder."""
    repository: bool | None = None
    """Whether it is a Git repository there; None: the folder tells."""

    @classmethod
    def here(cls) -> "Machine":
        try:
            home = Path(os.path.realpath(Path.home()))
        except RuntimeError:
            home = None
        system = f"{platform.system()} {platform.release()}".strip()
        return cls(platform.node(), system, platform.python_version(), home)


@dataclass(frozen=True)
class Scan:
    """What was found; ``refused`` are bootstrap files that exist but cannot be used."""

    given: SystemPromptInput
    diagnostics: tuple[Problem, ...] = ()
    disabled: tuple[Skill, ...] = ()
    refused: frozenset[str] = frozenset()


def scan(
    workspace: Path,
    config: SystemPromptConfig,
    mode: PromptMode,
    machine: Machine,
    read: FrontMatterReader = read_front_matters,
    skill_roots: Sequence[Path] = (),
    limits: ScanLimits = USUAL_LIMITS,
) -> Scan:
    """What a prompt in this mode needs of the workspace, and nothing else of it; of folders outside, only
    skills below ``skill_roots``."""
    root = Path(os.path.realpath(workspace))
    wanted = IN_MODE[mode] - config.disabled_sections
    files, diagnostics = (
        _bootstrap(root, config.bootstrap, limits.bytes) if "project_context" in wanted else ((), ())
    )
    skills = (
        find_skills(root, config.skills, machine.home, read, skill_roots, limits.skills, limits.between)
        if "skills" in wanted
        else FoundSkills()
    )
    at = machine.workspace or root
    if machine.workspace is not None:
        skills = skills.as_seen_from(root, at, machine.home)
    given = SystemPromptInput(
        identity_line=config.identity_line,
        mode=mode,
        workspace_dir=_working_dir(at, config.workspace_dir),
        docs_path=config.docs_path,
        extra_context=config.extra_context,
        disabled_sections=config.disabled_sections,
        tools=config.tools,
        skills=skills.offered,
        skills_max_chars=config.skills.max_chars,
        self_update=config.self_update,
        bootstrap=files,
        bootstrap_max_chars=config.bootstrap.bootstrap_max_chars,
        bootstrap_total_max_chars=config.bootstrap.bootstrap_total_max_chars,
        truncation=config.bootstrap.truncation,
        sandbox=config.sandbox,
        timezone=config.time.timezone,
        time_format=config.time.time_format,
        reply_tags=config.reply_tags,
        heartbeat_prompt=config.heartbeat_prompt,
        runtime=_runtime(at, config.runtime, machine),
        reasoning_level=config.reasoning_level,
    )
    return Scan(
        given,
        (*diagnostics, *skills.diagnostics),
        skills.disabled,
        frozenset(problem.file for problem in diagnostics if problem.file),
    )


def shown(path: Path) -> str:
    """A path as text, without `.` and `..`; bytes that are no UTF-8 become the replacement character."""
    return os.fsencode(os.path.normpath(path)).decode("utf-8", "replace")


def _working_dir(root: Path, said: str) -> str:
    """As an absolute path; a home folder is left to the machine on which the agent runs."""
    return said if said.startswith("~") else shown(root / said)


# --- bootstrap files ---------------------------------------------------------------------


def _bootstrap(
    root: Path, config: BootstrapConfig, most: int
) -> tuple[tuple[BootstrapFile, ...], tuple[Problem, ...]]:
    files: list[BootstrapFile] = []
    diagnostics: list[Problem] = []
    left = most
    # A few bytes more than the limit's characters can have: the renderer has to see that there are more.
    head = (config.bootstrap_max_chars + 2) * _BYTES_PER_CHARACTER
    tail = head if config.truncation == "head_tail" else 0
    for name in config.files:
        try:
            part = _part(root / name, root, head, tail, left, most)
        except BuilderError as error:
            diagnostics.append(refused(error, name))
            part = None
        if part is None:
            files.append(BootstrapFile(name=name, content=None))
        else:
            left -= part.size if part.whole else head + tail
            content = part.head + part.tail
            files.append(BootstrapFile(name=name, content=content, size=part.size, abridged=not part.whole))
    return tuple(files), tuple(diagnostics)


def _part(path: Path, root: Path, head: int, tail: int, left: int, most: int) -> TextPart | None:
    if head + tail <= left:
        return read_part(path, root, head, tail)
    part = read_part(path, root, left)
    if part is not None and not part.whole:
        raise BuilderError(TOO_MUCH, file=str(path), limit=most)
    return part


# --- the machine -------------------------------------------------------------------------


def _runtime(root: Path, config: RuntimeConfig, machine: Machine) -> Runtime:
    repository = os.path.lexists(root / ".git") if machine.repository is None else machine.repository
    return Runtime(
        host=_known(config.host, machine.host),
        os=_known(config.os, machine.os),
        python=_known(config.python, machine.python),
        node=config.node,
        workspace=_known(config.workspace, shown(root)),
        model=config.model,
        repo_root=_known(config.repo_root, shown(root) if repository else ""),
        thinking=config.thinking,
    )


def _known(said: str | None, looked_up: str) -> str:
    return looked_up if said is None else said
