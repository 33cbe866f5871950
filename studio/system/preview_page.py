"""The editor's preview of `system_prompt.toml`: its settings, and the prompt that it gives a workspace.

Used by the editor and the preview.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePath
from typing import Literal

from builder.errors import JailError, JailUnavailable
from builder.jail.limits import BUSY
from builder.system.cache_report import CacheReport
from builder.system.config import SystemPromptConfig
from studio.models import PromptSet, Workspace
from studio.preview.rendering import Answer
from studio.prompts.findings import Finding
from studio.prompts.system_text import Setting, read_text
from studio.shell.turns import COME_BACK_SECONDS, PLACES, Busy
from studio.system.building import BuiltNow, build_now
from studio.system.page import Column, Sections
from studio.workspaces.roots import is_below_roots

PROSE = frozenset({".md", ".mdc", ".mdx", ".rst", ".txt"})
"""How files end that any draft may name."""


@dataclass(frozen=True)
class WorkspaceChoice:
    """The workspaces that a text can be built for, and the one that it is."""

    offered: Sequence[Workspace] = ()
    chosen: Workspace | None = None
    is_gone: bool = False
    """Whether the one that was asked for is not among them, so that another one is shown."""


@dataclass(frozen=True)
class DraftBuild(Sections):
    """What the text builds for a workspace; beside it, what the workspace's own file does."""

    choice: WorkspaceChoice
    on_disk: BuiltNow
    unread: Sequence[str] = ()
    """Files that the text names and no preview reads."""

    @property
    def workspace(self) -> Workspace:
        return self.now.workspace

    @cached_property
    def report(self) -> CacheReport | None:
        """What stays the same for a provider's cache once the text takes the file's place."""
        old = self.on_disk.builds.get(self.on_disk.mode)
        return CacheReport(old, self.chosen.built) if old and self.chosen else None


@dataclass(frozen=True)
class SystemPreview(Answer):
    """What the editor shows beside the text."""

    findings: tuple[Finding, ...] = ()
    settings: tuple[Setting, ...] = ()
    refusal: JailError | None = None
    build: DraftBuild | None = None

    @property
    def kind(self) -> Literal["system"]:
        return "system"


def workspace_choice(prompt_set: PromptSet, slug: str) -> WorkspaceChoice:
    """The workspace of that address; else the first that follows a label of the set, else the first."""
    known = Workspace.objects.filter(archived=False).select_related("system_label")
    offered = [workspace for workspace in known if is_below_roots(workspace.folder)]
    asked = next((workspace for workspace in offered if workspace.slug == slug), None)
    usual = min(offered, key=lambda workspace: not _follows(workspace, prompt_set), default=None)
    return WorkspaceChoice(offered, asked or usual, is_gone=bool(slug) and asked is None)


def preview_text(text: str, choice: WorkspaceChoice, *, owner: str) -> SystemPreview:
    """Read and build it; a jail that does not answer is shown, and nothing is stored."""
    try:
        read = read_text(text, owner=owner)
    except JailError as refusal:
        return SystemPreview(refusal=refusal)
    shown = SystemPreview(read.findings, read.settings)
    if read.config is None or choice.chosen is None:
        return shown
    try:
        with PLACES.taken(owner):
            return replace(shown, build=_build(read.config, choice, choice.chosen))
    except Busy:
        return replace(shown, refusal=JailUnavailable(BUSY, seconds=COME_BACK_SECONDS))


def _build(config: SystemPromptConfig, choice: WorkspaceChoice, workspace: Workspace) -> DraftBuild:
    # What an agent is told now: in the mode that the file itself names.
    on_disk = build_now(workspace, modes=None)
    unread = _unread(config, on_disk.config)
    files = tuple(name for name in config.bootstrap.files if name not in unread)
    bootstrap = config.bootstrap.model_copy(update={"files": files})
    now = build_now(workspace, modes=None, config=config.model_copy(update={"bootstrap": bootstrap}))
    columns = [Column(mode, built) for mode, built in now.builds.items()]
    return DraftBuild(now, config.mode, columns, choice, on_disk, unread)


def _unread(config: SystemPromptConfig, own: SystemPromptConfig | None) -> list[str]:
    """A draft leaves no trace: with it nobody is to look into a `.env` that the workspace tells no agent."""
    told = own.bootstrap.files if own else ()
    named = (name for name in config.bootstrap.files if name not in told)
    return [name for name in named if PurePath(name).suffix.lower() not in PROSE]


def _follows(workspace: Workspace, prompt_set: PromptSet) -> bool:
    label = workspace.system_label
    return label is not None and label.prompt_set_id == prompt_set.pk
