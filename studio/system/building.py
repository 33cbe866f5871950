"""Building a workspace's system prompt from its folder as it is now; what is odd is told, not raised.

Used by the pages of system prompts and by the editor's preview of settings.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext as _

from builder.errors import BuilderError, PromptFileInvalid
from builder.problems import Problem, errors_in
from builder.system.builder import SkillCost, SystemPromptBuilder
from builder.system.built_prompt import BuiltPrompt
from builder.system.config import SystemPromptConfig
from builder.system.file import SYSTEM_PROMPT_FILE, unreadable
from builder.system.input import MODES, PromptMode
from builder.system.workspace_scan import Machine, ScanLimits
from studio.machines.models import RemoteWorkspace
from studio.models import Workspace
from studio.prompts.findings import Finding
from studio.shell.jail import pool
from studio.shell.precedence import give_way
from studio.workspaces.file_kinds import peek_file
from studio.workspaces.health import of_refusal
from studio.workspaces.roots import FolderRefused, require_allowed

MOST_SKILLS = 200
"""Skills of which a page says what they cost: for that each SKILL.md is read whole."""
MOST_TOKENS = 200_000
"""Tokens of skills after which none is counted any more: about a fifth of a second's work."""
WEB_LIMITS = ScanLimits(bytes=1024 * 1024, skills=500, between=give_way)
"""What a page reads of a folder; `python -m builder system` reads more."""


@dataclass(frozen=True)
class BuiltNow:
    """The settings of a workspace, and the prompt that they give in several modes; none where the settings or
    the folder cannot be used."""

    workspace: Workspace
    path: Path
    """Of ``configs/system_prompt.toml``."""
    present: bool = True
    """Whether there is such a file; else the builder's defaults apply."""
    config: SystemPromptConfig | None = None
    problems: tuple[Problem, ...] = ()
    """Of the settings, by line; hints do not keep them from being used."""
    folder: Path | None = None
    refusal: FolderRefused | None = None
    error: BuilderError | None = None
    """Why the settings are not read at all, or nothing could be built from them."""
    builds: Mapping[PromptMode, BuiltPrompt] = field(default_factory=dict)
    builder: SystemPromptBuilder | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """Of the file, as seen from the workspace."""
        return str(SYSTEM_PROMPT_FILE)

    @property
    def shown_path(self) -> str:
        """Its path on the machine of the workspace."""
        return self.workspace.shown_path(self.path)

    @property
    def mode(self) -> PromptMode:
        """The one that the settings name."""
        return self.config.mode if self.config else "full"

    @cached_property
    def obstacles(self) -> list[Finding]:
        """Why there is no build; empty where there is one."""
        if self.refusal is not None:
            return [of_refusal(self.workspace, self.refusal)]
        if self.builds:
            return []
        error = [Finding.of(self.error, file=self.name)] if self.error else []
        return [*error, *map(_of_setting, errors_in(self.problems))]

    @cached_property
    def remarks(self) -> list[Finding]:
        """What else is odd: of the settings, then of the files and skills of the longest build."""
        hints = [_of_setting(problem) for problem in self.problems if problem.severity != "error"]
        longest = max(self.builds.values(), key=lambda built: built.chars, default=None)
        return [*hints, *(map(_of_problem, longest.diagnostics) if longest else ())]

    def skill_costs(self, built: BuiltPrompt) -> dict[str, SkillCost]:
        """What each of the first skills costs, by name; very long ones leave the others uncounted."""
        costs: dict[str, SkillCost] = {}
        left = MOST_TOKENS
        for use in built.skills[:MOST_SKILLS]:
            if self.builder is None or left <= 0:
                break
            give_way()
            for cost in self.builder.skill_costs(replace(built, skills=(use,))):
                costs[cost.name] = cost
                left -= cost.inlined.tokens
        return costs


def build_now(
    workspace: Workspace,
    modes: Sequence[PromptMode] | None = MODES,
    *,
    config: SystemPromptConfig | None = None,
) -> BuiltNow:
    """Look at the folder and build; nothing of it is parsed in this process.

    Without modes it is the one that the settings name; ``config`` takes the place of the folder's own.
    """
    now = BuiltNow(workspace, workspace.folder / SYSTEM_PROMPT_FILE)
    try:
        folder = require_allowed(workspace)
    except FolderRefused as refusal:
        return replace(now, refusal=refusal)
    remote = RemoteWorkspace.objects.filter(workspace=workspace.pk).defer("digests").first()
    if remote is not None and not remote.texts:
        return replace(now, refusal=_texts_not_sent())
    now = replace(now, folder=folder, path=folder / SYSTEM_PROMPT_FILE)
    now = _with_settings(now, folder) if config is None else replace(now, config=config)
    if now.config is None:
        return now
    try:
        builder = SystemPromptBuilder(
            folder,
            now.config,
            machine_of(remote) if remote else None,
            front_matters=pool().front_matters,
            # Folders of this server are none of another machine's.
            skill_roots=() if remote else settings.STUDIO_SKILL_ROOTS,
            limits=WEB_LIMITS,
        )
        builds = {mode: builder.build(mode) for mode in (modes or (now.mode,))}
    except BuilderError as error:
        return replace(now, error=error)
    return replace(now, builds=builds, builder=builder)


def machine_of(remote: RemoteWorkspace) -> Machine:
    """The machine that a workspace lies on, as its agent described it."""
    facts: Mapping[str, str] = remote.facts
    return Machine(
        facts.get("host") or remote.machine,
        facts.get("os", ""),
        facts.get("python", ""),
        Path(facts["home"]) if facts.get("home") else None,
        Path(remote.folder),
        bool(facts.get("repository")),
    )


def _texts_not_sent() -> FolderRefused:
    return FolderRefused(
        _("Texts not sent: bootstrap files and skills stay on the machine."),
        _("The settings of this workspace let its machine send scores alone."),
    )


def _with_settings(now: BuiltNow, folder: Path) -> BuiltNow:
    """The settings of an allowed folder, read by the jail; the builder's defaults where there is no file."""
    try:
        data = peek_file(now.path, folder)[0].data
        if data is None:
            return replace(now, present=False, config=SystemPromptConfig())
        settings = pool().system_settings(data, now.name)
    except PromptFileInvalid as error:
        return replace(now, problems=(unreadable(error),))
    except BuilderError as error:
        return replace(now, error=error)
    return replace(now, config=settings.config, problems=settings.problems)


def _of_problem(problem: Problem) -> Finding:
    """What the builder noticed about the settings, a file or a skill."""
    return Finding.of(problem, file=problem.file or str(SYSTEM_PROMPT_FILE))


def _of_setting(problem: Problem) -> Finding:
    finding = _of_problem(problem)
    words = {"line": problem.line or 1, "what": finding.text}
    return replace(finding, text=_("Line %(line)d: %(what)s") % words)
