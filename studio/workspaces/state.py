"""The state of a workspace's file: which version it holds, and which one it should.

Used by the pages of workspaces, exports and runs, and by `manage.py drift`.
"""

import pwd
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Literal

from django.db.models import Max, Q
from django.utils.translation import gettext as _

from builder.errors import BuilderError, JailError, PromptFileError, PromptFileInvalid
from builder.files.reading import ORCHESTRATOR_FILE, FileState
from builder.jail import MISSING_FIELD, NamedFile, PromptFile
from builder.problems import Problem
from builder.template.variables import FIELDS
from studio.models import Export, Label, PromptVersion, Workspace
from studio.prompts.file_kinds import FileKind
from studio.prompts.findings import Finding
from studio.prompts.texts import Texts, unix_line_ends
from studio.workspaces.exports.models import Outcome
from studio.workspaces.file_kinds import WorkspaceFile, kind_of_file, peek_file
from studio.workspaces.health import health_of
from studio.workspaces.roots import FolderMissing, FolderRefused, require_allowed

Kind = Literal["in_sync", "behind", "edited", "unknown", "missing", "broken", "unchecked"]


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
    def size(self) -> int | None:
        return None if self.data is None else len(self.data)

    @property
    def modified_at(self) -> datetime | None:
        if self.on_disk is None or self.data is None:
            return None
        return datetime.fromtimestamp(self.on_disk.modified_ns / 1e9, UTC)

    @property
    def owner(self) -> str:
        if self.on_disk is None or self.data is None:
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
    def title(self) -> str:
        """The state in one or two words."""
        if self.is_elsewhere:
            return _("Another set")
        if self.is_ahead:
            return _("Ahead")
        titles: dict[Kind, str] = {
            "in_sync": _("In sync"),
            "behind": _("Behind"),
            "edited": _("Edited by hand"),
            "unknown": _("Unknown"),
            "missing": _("Missing"),
            "broken": _("Broken"),
            "unchecked": _("Not checked"),
        }
        return titles[self.kind]

    @property
    def summary(self) -> str:
        """The state in one sentence."""
        if self.version is not None:
            return self._held_version(self.version)
        if self.kind == "edited" and self.last_export and self.last_export.hash_after == self.sha256:
            return _("The file is as the last undo left it: no version has this text.")
        sentences: dict[Kind, str] = {
            "edited": _("Somebody has edited the file since the last export: no version has this text."),
            "unknown": _("No version has this text, and the studio has never written here."),
            "missing": str(self.file.is_missing),
            "broken": str(self.file.is_unusable),
            "unchecked": _("The studio has not read the file."),
        }
        return sentences.get(self.kind, "")

    def _held_version(self, version: PromptVersion) -> str:
        label, names = self.label, {"set": version.prompt_set.name, "number": version.number}
        if label is None:
            return _("The file holds v%(number)d of «%(set)s».") % names
        names |= {"label": label.name, "wanted": label.version.number, "followed": label.prompt_set.name}
        if self.kind == "in_sync":
            return _("The file holds v%(number)d of «%(set)s», where %(label)s points.") % names
        if version.prompt_set_id == label.version.prompt_set_id:
            return _("The file holds v%(number)d; %(label)s points at v%(wanted)d.") % names
        return (
            _("The file holds v%(number)d of «%(set)s»; %(label)s of «%(followed)s» points at v%(wanted)d.")
            % names
        )


def state_of(workspace: Workspace, holds: str = FileKind.PROMPTS) -> PromptFileState:
    """The state of one file; whatever is found on disk is told, not raised."""
    return states_of([workspace], holds)[0]


def states_of(workspaces: Iterable[Workspace], holds: str = FileKind.PROMPTS) -> list[PromptFileState]:
    """The states of many, for the price of a few queries."""
    file_kind = kind_of_file(holds)
    states = [_looked_at(workspace, file_kind) for workspace in workspaces]
    candidates = _candidates(states)
    exports = _last_exports(states, file_kind)
    return [_beside(state, _held(state, candidates), exports.get(state.workspace.pk)) for state in states]


def every_state_of(workspaces: Sequence[Workspace]) -> list[PromptFileState]:
    """Each prompt file's, and after it the system prompt's where the workspace has to do with one."""
    pairs = zip(states_of(workspaces), states_of(workspaces, FileKind.SYSTEM), strict=True)
    return [state for pair in pairs for state in pair if state is pair[0] or state.is_of_use]


def _looked_at(workspace: Workspace, file_kind: WorkspaceFile) -> PromptFileState:
    """What is on disk."""
    state = PromptFileState(workspace, file_kind, workspace.folder / file_kind.usual)
    try:
        folder = require_allowed(workspace)
    except FolderRefused as refusal:
        return replace(state, refusal=refusal)
    state = replace(state, folder=folder)
    try:
        path, named = file_kind.locate(folder)
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


def _candidates(states: Sequence[PromptFileState]) -> list[PromptVersion]:
    """The versions that the files may hold, looked up together."""
    read = [state for state in states if state.templates]
    if not read:
        return []
    hashes = {state.templates.content_hash for state in read if state.templates}
    labels = [label for state in read if (label := state.label)]
    matching = PromptVersion.objects.filter(content_hash__in=hashes)
    # The default templates may be version 1 of a thousand sets: the newest will do.
    newest = matching.values("content_hash").annotate(newest=Max("pk")).values_list("newest", flat=True)
    of_followed = (
        matching.filter(prompt_set__in={label.prompt_set_id for label in labels})
        .values("content_hash", "prompt_set")
        .annotate(newest=Max("pk"))
        .values_list("newest", flat=True)
    )
    pointed_at = Q(pk__in={label.version_id for label in labels}, content_hash__in=hashes)
    return list(
        PromptVersion.objects.filter(Q(pk__in=newest) | Q(pk__in=of_followed) | pointed_at)
        .select_related("prompt_set")
        .prefetch_related("labels")
        .order_by("pk")
    )


def _held(state: PromptFileState, candidates: Sequence[PromptVersion]) -> PromptVersion | None:
    """Of equal versions the one that the label points at, else of its set, else the newest."""
    if state.templates is None:
        return None
    content_hash, label = state.templates.content_hash, state.label
    equal = [version for version in candidates if version.content_hash == content_hash]
    if label is not None:
        of_set = [version for version in equal if version.prompt_set_id == label.prompt_set_id]
        equal = [version for version in of_set if version.pk == label.version_id] or of_set or equal
    return equal[-1] if equal else None


def _last_exports(states: Sequence[PromptFileState], file_kind: WorkspaceFile) -> dict[int, Export]:
    reached = Export.objects.filter(
        workspace__in=[state.workspace.pk for state in states],
        holds=file_kind.holds,
        receipt__outcome__in=(Outcome.WRITTEN, Outcome.UNCHANGED),
    )
    newest = reached.values("workspace").annotate(newest=Max("pk")).values_list("newest", flat=True)
    exports = (
        Export.objects.filter(pk__in=newest)
        .select_related("version__prompt_set", "receipt", "by")
        .defer("before", "after")
    )
    return {export.workspace_id: export for export in exports}
