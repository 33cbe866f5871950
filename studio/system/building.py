"""A workspace's system prompt as its folder gives it now, in each mode; what is odd is told, not raised."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from django.utils.translation import gettext as _

from builder.errors import BuilderError, PromptFileInvalid
from builder.files.reading import peek
from builder.problems import Problem, errors_in
from builder.system.builder import SkillCost, SystemPromptBuilder
from builder.system.built_prompt import BuiltPrompt
from builder.system.config import SystemPromptConfig
from builder.system.file import SYSTEM_PROMPT_FILE, unreadable
from builder.system.input import MODES, PromptMode
from studio.models import Workspace
from studio.shell.jail import pool
from studio.shell.language import reader_language
from studio.workspaces.health import Health, of_error, of_refusal
from studio.workspaces.roots import FolderRefused, require_allowed, root_of

MOST_SKILLS = 200
"""Skills of which a page says what they cost: for that each SKILL.md is read whole."""
MOST_TOKENS = 1_000_000
"""Tokens of skills after which none is counted any more: about a second's work."""


@dataclass(frozen=True)
class SettingsFile:
    """``configs/system_prompt.toml``: its settings, or what keeps them from being used."""

    path: Path
    present: bool = True
    config: SystemPromptConfig | None = None
    problems: tuple[Problem, ...] = ()
    """By line; hints do not keep the file from being used."""
    error: BuilderError | None = None
    """Why it is not read at all."""

    @property
    def name(self) -> str:
        return str(SYSTEM_PROMPT_FILE)

    @property
    def mode(self) -> PromptMode:
        """The one that it names."""
        return self.config.mode if self.config else "full"


@dataclass(frozen=True)
class BuiltNow:
    """The prompt in several modes; none where the settings or the folder cannot be used."""

    workspace: Workspace
    file: SettingsFile
    builds: Mapping[PromptMode, BuiltPrompt] = field(default_factory=dict)
    folder: Path | None = None
    refusal: FolderRefused | None = None
    error: BuilderError | None = None
    """Why nothing could be built from settings that are in order."""
    builder: SystemPromptBuilder | None = field(default=None, repr=False)

    @cached_property
    def obstacles(self) -> list[Health]:
        """Why there is no build; empty where there is one."""
        if self.refusal is not None:
            return [of_refusal(self.workspace, self.refusal)]
        if self.builds:
            return []
        told = [of_error(each, self.file.name) for each in (self.file.error, self.error) if each]
        return [*told, *(_of_problem(each, self.file) for each in errors_in(self.file.problems))]

    @cached_property
    def remarks(self) -> list[Health]:
        """What else is odd: of the settings, then of the files and skills of the longest build."""
        hints = [_of_problem(each, self.file) for each in self.file.problems if each.severity != "error"]
        longest = max(self.builds.values(), key=lambda built: built.chars, default=None)
        return [*hints, *(map(of_diagnostic, longest.diagnostics) if longest else ())]

    def skill_costs(self, built: BuiltPrompt) -> dict[str, SkillCost]:
        """What each of the first skills costs, by name; very long ones leave the others uncounted."""
        found: dict[str, SkillCost] = {}
        left = MOST_TOKENS
        for use in built.skills[:MOST_SKILLS]:
            if self.builder is None or left <= 0:
                break
            for cost in self.builder.skill_costs(replace(built, skills=(use,))):
                found[cost.name] = cost
                left -= cost.inlined.tokens
        return found


def build_now(
    workspace: Workspace,
    modes: Sequence[PromptMode] | None = MODES,
    *,
    config: SystemPromptConfig | None = None,
) -> BuiltNow:
    """Look at the folder and build; nothing of it is parsed in this process.

    Without modes it is the one that the settings name; ``config`` takes the place of the folder's own.
    """
    try:
        folder = require_allowed(workspace)
    except FolderRefused as refusal:
        return BuiltNow(workspace, SettingsFile(workspace.folder / SYSTEM_PROMPT_FILE), refusal=refusal)
    file = (
        SettingsFile(folder / SYSTEM_PROMPT_FILE, config=config)
        if config is not None
        else read_settings(folder)
    )
    if file.config is None:
        return BuiltNow(workspace, file, folder=folder)
    try:
        builder = SystemPromptBuilder(folder, file.config, front_matters=pool().front_matters)
        wanted = (file.mode,) if modes is None else modes
        builds = {mode: builder.build(mode) for mode in wanted}
    except BuilderError as error:
        return BuiltNow(workspace, file, folder=folder, error=error)
    return BuiltNow(workspace, file, builds, folder, builder=builder)


def read_settings(folder: Path) -> SettingsFile:
    """The settings of an allowed folder, read by the jail; the builder's defaults where there is no file."""
    path = folder / SYSTEM_PROMPT_FILE
    try:
        # From the allowed root down, so that no folder on the way can be swapped for a link in between.
        data = peek(path, root_of(folder))[0].data
        if data is None:
            return SettingsFile(path, present=False, config=SystemPromptConfig())
        settings = pool().system_settings(data, str(SYSTEM_PROMPT_FILE))
    except PromptFileInvalid as error:
        return SettingsFile(path, problems=(unreadable(error),))
    except BuilderError as error:
        return SettingsFile(path, error=error)
    return SettingsFile(path, config=settings.config, problems=settings.problems)


def of_diagnostic(found: Problem) -> Health:
    """What the builder noticed about a file or a skill."""
    language = reader_language()
    severity = "note" if found.severity == "hint" else found.severity
    file = found.file or str(SYSTEM_PROMPT_FILE)
    return Health(severity, file, found.text(language), found.advice(language), found.line)


def _of_problem(problem: Problem, file: SettingsFile) -> Health:
    language = reader_language()
    severity = "note" if problem.severity == "hint" else problem.severity
    line = problem.line or 1
    what = _("Line %(line)d: %(what)s") % {"line": line, "what": problem.text(language)}
    return Health(severity, file.name, what, problem.advice(language), line)
