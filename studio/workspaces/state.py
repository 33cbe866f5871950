"""The state of a workspace's file: which version it holds, and which one it should.

Used by the pages of workspaces, exports and runs, and by `manage.py drift`.
"""

import pwd
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from builder.errors import BuilderError, JailError, PromptFileError, PromptFileInvalid
from builder.files.reading import ORCHESTRATOR_FILE, FileState
from builder.jail import MISSING_FIELD, NamedFile, PromptFile
from builder.orchestrators.finder import Orchestrator
from builder.problems import Problem
from builder.template.variables import FIELDS
from studio.models import Export, Label, PromptVersion, Workspace
from studio.prompts.file_kinds import FileKind
from studio.prompts.findings import Finding
from studio.prompts.texts import Texts, unix_line_ends
from studio.workspaces.file_kinds import (
    WorkspaceFile,
    followed_files,
    kind_of_file,
    peek_file,
    prompt_files_of,
)
from studio.workspaces.health import health_of
from studio.workspaces.held_versions import candidates_for, held_version, last_exports, place_of
from studio.workspaces.models import mark_of
from studio.workspaces.orchestrators import orchestrators_in
from studio.workspaces.roots import FolderMissing, FolderRefused, require_allowed
from studio.workspaces.state_sentences import Kind, summary_of, title_of

FINDINGS_SHOWN = 20


@dataclass(frozen=True)
class PromptFileState:
    """One file of a workspace at this moment, beside the versions that the studio has."""

    workspace: Workspace
    file: WorkspaceFile
    path: Path
    """The file that MixSeek reads; it need not exist."""
    folder: Path | None = None
    """The workspace's folder as it really lies; None where the studio may not use it."""
    refusal: FolderRefused | None = None
    """Why it may not."""
    named: NamedFile | None = None
    """The line of `orchestrator.toml` that says where the prompt file is."""
    on_disk: FileState | None = None
    """What stands at the path; None where that could not be read."""
    obstacle: PromptFileError | None = None
    """What would keep an export from replacing the file."""
    content: PromptFile | None = field(default=None, repr=False)
    """What a prompt file says, where it can be understood at all."""
    templates: Texts | None = field(default=None, repr=False)
    """What a version would hold, where all of it is there."""
    error: BuilderError | None = None
    """Why nothing is known about the templates: unreadable, refused, or the jail has stopped."""
    version: PromptVersion | None = None
    """The version whose text this is: of the set that is followed, else of any."""
    problems: tuple[Problem, ...] = ()
    """Of a file that no version equals: errors and warnings by line."""
    last_export: Export | None = None
    """The newest one that has reached the file."""

    # --- the file ------------------------------------------------------------------------

    @property
    def file_kind(self) -> FileKind:
        """Which of the workspace's files it is."""
        return FileKind(self.file.holds)

    @property
    def key(self) -> str:
        """What the file is called by in addresses and forms; the main one like its workspace."""
        return f"{self.workspace.slug}{self.file.mark}"

    @property
    def alias(self) -> str:
        """The key that the file would have beside another main one: what names the file for good."""
        return f"{self.workspace.slug}{mark_of(self.relative)}"

    @cached_property
    def orchestrators(self) -> list[Orchestrator]:
        """All orchestrator files of the workspace, for a prompt file; none where they cannot be read."""
        if self.folder is None or not self.file_kind.has_templates:
            return []
        try:
            return orchestrators_in(self.workspace, self.folder)
        except JailError:
            return []

    @property
    def readers(self) -> tuple[Orchestrator, ...]:
        """The orchestrator files whose runs read this prompt file; none where that cannot be told."""
        return tuple(one for one in self.orchestrators if one.prompts.path == self.path)

    @property
    def relative(self) -> str:
        """The path as seen from the workspace."""
        folder = self.folder or self.workspace.folder
        return str(self.path.relative_to(folder)) if self.path.is_relative_to(folder) else str(self.path)

    @property
    def named_by(self) -> str:
        """`configs/orchestrator.toml:4` where that file says where the prompt file is."""
        return f"{ORCHESTRATOR_FILE}:{self.named.line}" if self.named else ""

    @property
    def data(self) -> bytes | None:
        return self.on_disk.data if self.on_disk else None

    @cached_property
    def sha256(self) -> str | None:
        return self.on_disk.sha256 if self.on_disk else None

    @property
    def shown_path(self) -> str:
        """The path on the machine of the workspace."""
        return self.workspace.shown_path(self.path)

    @property
    def size(self) -> int | None:
        return None if self.data is None else len(self.data)

    @property
    def modified_at(self) -> datetime | None:
        if self.on_disk is None or self.data is None:
            return None
        return datetime.fromtimestamp(self.on_disk.modified_ns / 1e9, UTC)

    @property
    def owner(self) -> str:
        """Empty where there is no file, or it is on another machine."""
        if self.on_disk is None or self.data is None or self.workspace.is_remote:
            return ""
        try:
            return pwd.getpwuid(self.on_disk.uid).pw_name
        except KeyError:
            return str(self.on_disk.uid)

    @property
    def missing_fields(self) -> tuple[str, ...]:
        """Those that MixSeek fills in with its own default."""
        values = self.content.values if self.content else FIELDS
        return tuple(name for name in FIELDS if name not in values)

    @property
    def errors(self) -> tuple[Problem, ...]:
        """What keeps MixSeek from using the templates; that one is missing does not, for it has defaults."""
        return tuple(
            problem
            for problem in self.problems
            if problem.severity == "error" and problem.code != MISSING_FIELD
        )

    @property
    def findings(self) -> list[Finding]:
        """The first of these errors, as pages show them."""
        return [Finding.of(problem) for problem in self.errors[:FINDINGS_SHOWN]]

    @cached_property
    def health(self) -> tuple[Finding, ...]:
        """What else is to know about the file, the worst first."""
        return tuple(health_of(self))

    @property
    def worst(self) -> Finding | None:
        """What the list says beside the state, because MixSeek or the studio cannot go on."""
        return next((finding for finding in self.health if finding.severity == "error"), None)

    # --- beside the versions -------------------------------------------------------------

    @property
    def label(self) -> Label | None:
        """The one that the workspace follows with this file."""
        return self.file.label_of(self.workspace)

    @property
    def labels(self) -> tuple[Label, ...]:
        """Those that point at the version in the file."""
        return tuple(self.version.labels.all()) if self.version else ()

    @property
    def expected(self) -> PromptVersion | None:
        """Where the label points that the workspace follows."""
        return self.label.version if self.label else None

    @property
    def kind(self) -> Kind:
        if self.refusal is not None:
            return "missing" if isinstance(self.refusal, FolderMissing) else "unchecked"
        if self.error is not None:
            return "broken" if isinstance(self.error, PromptFileInvalid) else "unchecked"
        if self.data is None:
            return "missing"
        if self.version is not None:
            return "in_sync" if self.label is None or self.version.pk == self.label.version_id else "behind"
        if self.errors:
            return "broken"
        return "edited" if self.last_export is not None else "unknown"

    @property
    def in_step(self) -> bool:
        """Whether there is nothing to do: what is followed is there, or nothing is followed at all."""
        return self.kind == "in_sync" or (
            self.label is None and self.kind in ("unknown", "missing") and self.last_export is None
        )

    @property
    def is_of_use(self) -> bool:
        """Whether there is anything to say: a file, one that was written, or a label that is followed."""
        return self.data is not None or self.label is not None or self.last_export is not None

    @property
    def changed_fields(self) -> tuple[str, ...]:
        """The templates that differ from those of the expected version, or of the last export."""
        wanted = self.expected or (self.last_export and self.last_export.version)
        if self.content is None or wanted is None:
            return ()
        texts = {name: unix_line_ends(text) for name, text in self.content.values.items()}
        return tuple(name for name in FIELDS if texts.get(name) != getattr(wanted, name))

    @property
    def is_elsewhere(self) -> bool:
        """The file holds a version of another set than the one that it should."""
        held, expected = self.version, self.expected
        return bool(held and expected and held.prompt_set_id != expected.prompt_set_id)

    @property
    def is_ahead(self) -> bool:
        """The file holds a newer version than the label points at."""
        held, expected = self.version, self.expected
        return bool(held and expected and not self.is_elsewhere and held.number > expected.number)

    @property
    def awaits_label(self) -> bool:
        """The file holds a version that was made after the label moved last: a hand edit that was adopted, or
        what was exported before its label. To bring back what the label says would undo it."""
        return self.is_ahead and self.version.created_at > self.label.moved_at  # type: ignore[union-attr]

    @property
    def title(self) -> str:
        """The state in one or two words."""
        return title_of(self)

    @property
    def summary(self) -> str:
        """The state in one sentence."""
        return summary_of(self)


def state_of(workspace: Workspace, holds: str = FileKind.PROMPTS) -> PromptFileState:
    """The state of one file; whatever is found on disk is told, not raised."""
    return states_of([workspace], holds)[0]


def states_of(workspaces: Iterable[Workspace], holds: str = FileKind.PROMPTS) -> list[PromptFileState]:
    """The states of one file of each workspace, its main one, for the price of a few queries."""
    return states_of_files([(workspace, kind_of_file(holds)) for workspace in workspaces])


def states_of_files(files: Iterable[tuple[Workspace, WorkspaceFile]]) -> list[PromptFileState]:
    """The states of these files."""
    states = [_looked_at(workspace, file) for workspace, file in files]
    candidates = candidates_for(states)
    exports = last_exports(states)
    return [_beside(state, held_version(state, candidates), exports.get(place_of(state))) for state in states]


def prompt_states_of(workspaces: Sequence[Workspace], holds: str = FileKind.PROMPTS) -> list[PromptFileState]:
    """Of each workspace its main file, and after it the other prompt files that its orchestrators read."""
    if not FileKind(holds).has_templates:
        return states_of(workspaces, holds)
    labels = followed_files(workspaces)
    return states_of_files((one, file) for one in workspaces for file in prompt_files_of(one, labels[one.pk]))


def every_state_of(workspaces: Sequence[Workspace]) -> list[PromptFileState]:
    """The prompt files', and after them the system prompt's where the workspace has to do with one."""
    system = {state.workspace.pk: state for state in states_of(workspaces, FileKind.SYSTEM)}
    states = []
    for workspace in workspaces:
        own = system[workspace.pk]
        states += [*prompt_states_of([workspace]), *([own] if own.is_of_use else [])]
    return states


def _looked_at(workspace: Workspace, file_kind: WorkspaceFile) -> PromptFileState:
    """What is on disk."""
    state = PromptFileState(workspace, file_kind, workspace.folder / file_kind.usual)
    try:
        folder = require_allowed(workspace)
    except FolderRefused as refusal:
        return replace(state, refusal=refusal)
    state = replace(state, folder=folder)
    try:
        path, named = file_kind.locate(workspace, folder)
        state = replace(state, path=path, named=named)
        on_disk, obstacle = peek_file(path, folder)
        content = (None, None) if on_disk.data is None else file_kind.read(on_disk.data, state.relative)
    except BuilderError as error:
        return replace(state, error=error)
    if isinstance(content, PromptFileError):
        return replace(state, on_disk=on_disk, obstacle=obstacle, error=content)
    return replace(state, on_disk=on_disk, obstacle=obstacle, content=content[0], templates=content[1])


def _beside(
    state: PromptFileState, version: PromptVersion | None, last_export: Export | None
) -> PromptFileState:
    """The same beside what the studio has."""
    state = replace(state, version=version, last_export=last_export)
    if version is not None or state.error is not None or state.data is None:
        return state
    try:
        return replace(state, problems=state.file.problems(state.data, state.relative))
    except JailError as stopped:
        return replace(state, error=stopped)
