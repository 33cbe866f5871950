"""The builder of a workspace's system prompt: its settings, a look at its folder, the text. The documents'
API; used by the studio and by ``python -m builder system``."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from builder.cache.tokens import TokenCount, count
from builder.errors import WORKSPACE_MISSING, BuilderError, WorkspaceMissing
from builder.files.reading import workspace_of
from builder.files.text_parts import read_part
from builder.invalid_input import SettingsError
from builder.messages import message
from builder.system.built_prompt import BuiltPrompt, SkillUse
from builder.system.config import SystemPromptConfig
from builder.system.file import load_system_config, system_config
from builder.system.front_matter import FrontMatterReader, read_front_matters
from builder.system.input import MODES, PromptMode
from builder.system.prompt import render_system_prompt
from builder.system.sections import MISSING
from builder.system.workspace_scan import USUAL_LIMITS, Machine, Scan, ScanLimits, scan

NO_MODE = message(
    "system-no-mode",
    "{mode} is not a mode: choose one of {modes}",
    "{mode} というモードはありません：{modes}",
)
NO_WORKSPACE = message(
    "system-no-workspace",
    "No workspace given: pass one, or set MIXSEEK_WORKSPACE",
    "ワークスペースが指定されていません。引数か MIXSEEK_WORKSPACE で指定してください",
)

MOST_INLINED = 1024 * 1024
"""Bytes of a SKILL.md that are counted."""


@dataclass(frozen=True)
class SkillCost:
    """What a skill costs in every prompt: as a reference, and if its whole text stood there."""

    name: str
    reference: TokenCount
    inlined: TokenCount

    @property
    def saving(self) -> float:
        """The share of the tokens that the reference saves."""
        return 1 - self.reference.tokens / self.inlined.tokens if self.inlined.tokens else 0.0


class SystemPromptBuilder:
    """Builds the prompt of a workspace in any mode.

    ``config`` is what ``configs/system_prompt.toml`` says where none is given; ``machine`` is this one.
    A server hands in a config and ``front_matters`` of its jail: then nothing of the folder is parsed here.
    ``skill_roots`` are folders of the operator's below which ``skills.dirs`` may name some.

    Raises ``WorkspaceMissing`` (a ``FileNotFoundError``), ``SettingsError`` for a config that breaks a rule,
    and ``PromptFileInvalid`` for a file that does.

    >>> SystemPromptBuilder(Path("workspace")).build("minimal").text  # doctest: +SKIP
    """

    def __init__(
        self,
        workspace: Path | str,
        config: SystemPromptConfig | Mapping[str, Any] | None = None,
        machine: Machine | None = None,
        front_matters: FrontMatterReader = read_front_matters,
        *,
        skill_roots: Sequence[Path] = (),
        limits: ScanLimits = USUAL_LIMITS,
    ) -> None:
        self.workspace = Path(workspace)
        if not self.workspace.is_dir():
            raise WorkspaceMissing(WORKSPACE_MISSING, path=str(workspace))
        self.config = load_system_config(self.workspace) if config is None else system_config(config)
        self.machine = Machine.here() if machine is None else machine
        self.skill_roots = tuple(Path(os.path.realpath(root)) for root in skill_roots)
        self._front_matters = front_matters
        self._limits = limits

    def __repr__(self) -> str:
        return f"SystemPromptBuilder({str(self.workspace)!r}, mode={self.config.mode!r})"

    @property
    def bootstrap_max_chars(self) -> int:
        """How many characters of each bootstrap file go into the prompt."""
        return self.config.bootstrap.bootstrap_max_chars

    def build(self, mode: PromptMode | None = None) -> BuiltPrompt:
        """The prompt as the folder is now; without a mode, in the one that the settings name.

        Raises ``SettingsError`` (a ``ValueError``) for a mode that there is not. What is wrong in the folder
        stands in ``diagnostics``.
        """
        mode = mode or self.config.mode
        if mode not in MODES:
            raise SettingsError.of(
                type(self).__name__, NO_MODE, field="mode", mode=str(mode), modes=", ".join(MODES)
            )
        scanned = scan(
            self.workspace,
            self.config,
            mode,
            self.machine,
            self._front_matters,
            self.skill_roots,
            self._limits,
        )
        return _with_findings(render_system_prompt(scanned.given), scanned)

    def skill_costs(self, built: BuiltPrompt) -> list[SkillCost]:
        """What each listed skill costs and saves; the only thing that reads whole SKILL.md files."""
        roots = (Path(os.path.realpath(self.workspace)), *self.skill_roots)
        costs = []
        for use in built.skills:
            path = self._path(use.location)
            root = next((root for root in roots if path.is_relative_to(root)), roots[0])
            text = _whole_text(path, root) if use.reference else None
            if text is not None:
                costs.append(SkillCost(use.name, use.tokens, count(text, built.model)))
        return costs

    def _path(self, location: str) -> Path:
        home, there = self.machine.home, self.machine.workspace
        path = home / location[2:] if home is not None and location.startswith("~/") else Path(location)
        if there is not None and path.is_relative_to(there):
            path = Path(os.path.realpath(self.workspace)) / path.relative_to(there)
        return path


def build_system_prompt(mode: PromptMode = "full", workspace: Path | str | None = None) -> BuiltPrompt:
    """A workspace's prompt in one call; without a workspace, that of ``MIXSEEK_WORKSPACE``.

    Raises what ``SystemPromptBuilder`` and its ``build`` raise.
    """
    found = workspace or workspace_of(os.environ)
    if found is None:
        raise WorkspaceMissing(NO_WORKSPACE)
    return SystemPromptBuilder(found).build(mode)


def _with_findings(built: BuiltPrompt, scanned: Scan) -> BuiltPrompt:
    """The renderer knows only that a file has no text; the scan knows why."""
    files = tuple(
        replace(use, status="refused") if use.name in scanned.refused else use for use in built.files
    )
    rendered = tuple(
        problem
        for problem in built.diagnostics
        if not (problem.code == MISSING and problem.file in scanned.refused)
    )
    disabled = tuple(
        SkillUse(skill.name, skill.description, skill.location, "disabled", model=built.model)
        for skill in scanned.disabled
    )
    return replace(
        built,
        files=files,
        skills=built.skills + disabled,
        diagnostics=(*scanned.diagnostics, *rendered),
    )


def _whole_text(path: Path, root: Path) -> str | None:
    try:
        part = read_part(path, root, MOST_INLINED)
    except BuilderError:
        # It was readable when the prompt was built; what is gone since then costs nothing.
        return None
    return part.head if part else None
