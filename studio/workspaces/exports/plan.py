"""What an export would do: the file that each workspace would get, and what speaks against it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Literal

from django.contrib.auth.models import User

from builder.errors import (
    BuilderError,
    LimitExceeded,
    PromptFileConflict,
    PromptFileError,
    PromptFileInvalid,
    PromptFileRefused,
    WorkspaceMissing,
)
from builder.files.reading import FileState, inspect, sha256
from builder.files.writing import CHANGED
from builder.messages import message
from builder.template.dialect import Dialect
from builder.template.variables import FIELDS
from studio.compare.versions import TextDiff, text_diff
from studio.contexts.at_round import dialect_of
from studio.models import PromptSet, PromptVersion, Workspace
from studio.preview.saving import shortcomings
from studio.prompts.findings import Finding
from studio.prompts.system_text import read_text
from studio.prompts.texts import SystemText, Texts
from studio.shell.jail import pool
from studio.shell.language import reader_language
from studio.workspaces.file_kinds import held_file
from studio.workspaces.roots import FolderRefused, require_allowed, root_of
from studio.workspaces.state import PromptFileState, state_of

Standing = Literal["new", "ready", "same", "edited", "refused"]
"""What is to be done at a workspace: make the file, change it, nothing, ask first, or nothing can be done."""

NOT_TOML = message(
    "export-not-toml",
    "`prompt_builder_config` names {file}, which is no TOML file",
    "`prompt_builder_config` が指す {file} はTOMLファイルではありません",
    fix_en="Let it name a file that ends in `.toml`.",
    fix_ja="`.toml` で終わるファイルを指定してください。",
)
SAME_FILE = message(
    "export-same-file",
    "{file} is the file of {workspace}, too, which this export writes",
    "{file} は、このエクスポートで書き込む {workspace} のファイルでもあります",
    fix_en="Export to one of the two, or let `prompt_builder_config` name a file of its own.",
    fix_ja="どちらか一方にエクスポートするか、`prompt_builder_config` で別のファイルを指定してください。",
)


@dataclass(frozen=True)
class Target:
    """One workspace of a plan, with its file as it is and as it would be."""

    workspace: Workspace
    state: PromptFileState
    root: Path | None = None
    """The folder as it really lies; None where it is not to be used."""
    before: bytes | None = field(default=None, repr=False)
    after: bytes | None = field(default=None, repr=False)
    refusal: BuilderError | FolderRefused | None = None
    """Why nothing can be written here."""
    unmergeable: PromptFileInvalid | None = None
    """Why the file cannot take templates as it is, so that all of it would be replaced."""
    opened: tuple[range, ...] = ()
    """Rows of the comparison that a person asked to see."""
    leaves_label: bool = False
    """Whether the workspace follows a label that points at another version."""

    @property
    def kind(self) -> str:
        """What the comparison's rows are called by in addresses."""
        return self.workspace.slug

    @property
    def hash_before(self) -> str:
        return hash_of(self.before)

    @property
    def hash_after(self) -> str:
        return hash_of(self.after)

    @property
    def standing(self) -> Standing:
        if self.refusal is not None:
            return "refused"
        if self.before is None:
            return "new"
        if self.before == self.after:
            return "same"
        return "edited" if self.holds_an_edit else "ready"

    @property
    def holds_an_edit(self) -> bool:
        """Whether something would be lost that no version has: templates or, where the whole file would be
        replaced, what else stands in it."""
        if self.before is None:
            return False
        if self.unmergeable is not None:
            return True
        if self.state.version is not None:
            return False
        return self.state.kind == "broken" or set(self.state.missing_fields) != set(FIELDS)

    @property
    def reason(self) -> str:
        """Why nothing can be written here, in the reader's language."""
        if isinstance(self.refusal, FolderRefused):
            return self.refusal.what
        return self.refusal.text(reader_language()) if self.refusal else ""

    @property
    def advice(self) -> str:
        if isinstance(self.refusal, FolderRefused):
            return self.refusal.advice
        return self.refusal.advice(reader_language()) if self.refusal else ""

    @cached_property
    def diff(self) -> TextDiff:
        """The file as it is beside the file as it would be."""
        return text_diff(readable(self.before), readable(self.after), opened=self.opened)

    @property
    def new_text(self) -> str:
        """The whole file as it would be."""
        return readable(self.after)

    @cached_property
    def edit(self) -> TextDiff | None:
        """What was changed by hand since the studio's own last write, where there was one."""
        last = self.state.last_export
        if self.standing != "edited" or last is None or last.after is None:
            return None
        found = text_diff(readable(bytes(last.after)), readable(self.before))
        return found if found.state == "changed" else None

    @property
    def kept_in(self) -> PromptSet | None:
        """The set that an edit is kept in: the one that the workspace follows; None for the exported one."""
        return self.state.label.prompt_set if self.state.label else None


@dataclass(frozen=True)
class Plan:
    """A version and where it would go."""

    version: PromptVersion
    targets: Sequence[Target]
    errors: Sequence[Finding]
    """They make the export impossible; there are no targets then."""
    warnings: Sequence[Finding]


def plan(
    version: PromptVersion,
    workspaces: Iterable[Workspace],
    *,
    owner: User,
    today: date,
    opened: dict[str, list[range]] | None = None,
) -> Plan:
    """Look at each workspace and put the version's text into its file, in memory.

    Raises the jail's errors where nothing can be read or merged right now.
    """
    chosen = list(workspaces)
    if errors := shortfalls(version, {each.spoken for each in chosen}, owner):
        return Plan(version, [], errors, [])
    rows = opened or {}
    targets = [target_of(version, each, owner, today, tuple(rows.get(each.slug, ()))) for each in chosen]
    return Plan(version, _each_file_once(targets), [], _warnings(version.templates, owner))


def target_of(
    version: PromptVersion,
    workspace: Workspace,
    owner: User,
    today: date,
    opened: tuple[range, ...] = (),
) -> Target:
    """One workspace, looked at now."""
    held = held_file(version.prompt_set.holds)
    state = state_of(workspace, held.holds)
    try:
        root = require_allowed(workspace)
        found, state = _found(workspace, root, state)
    except (PromptFileError, WorkspaceMissing, FolderRefused) as error:
        return Target(workspace, state, before=state.data, refusal=error)
    texts, label = version.templates, state.label
    unmergeable = None
    try:
        after = held.written(found.data, texts, today, state.relative, str(owner.pk))
    except LimitExceeded as error:
        return Target(workspace, state, root, before=found.data, refusal=error)
    except PromptFileInvalid as error:
        unmergeable = error
        after = held.written(None, texts, today, state.relative, str(owner.pk))
    return Target(
        workspace,
        state,
        root,
        before=found.data,
        after=after,
        unmergeable=unmergeable,
        opened=opened,
        leaves_label=label is not None and label.version.content_hash != version.content_hash,
    )


def _each_file_once(targets: Sequence[Target]) -> list[Target]:
    """One workspace may lie within another, and both may name the same file."""
    first: dict[Path, Target] = {}
    for target in targets:
        if target.refusal is None:
            first.setdefault(target.state.path, target)
    return [
        target
        if target.refusal is not None or (known := first[target.state.path]) is target
        else replace(
            target,
            refusal=PromptFileRefused(SAME_FILE, file=str(target.state.path), workspace=known.workspace.name),
        )
        for target in targets
    ]


def shortfalls(version: PromptVersion, dialects: set[Dialect], owner: User) -> list[Finding]:
    """What keeps the version from being exported: contexts may be newer than it is."""
    for dialect in sorted(dialects or {dialect_of(version.prompt_set)}, key=lambda each: each.name):
        if found := shortcomings(version.prompt_set, version.templates, owner=owner, dialect=dialect):
            return found
    return []


def hash_of(data: bytes | None) -> str:
    """As exports store it: empty where there is no file."""
    return "" if data is None else sha256(data)


def readable(data: bytes | None) -> str:
    """A file's text; bytes that are no UTF-8 show as what they are."""
    return (data or b"").decode("utf-8", "backslashreplace")


def _found(workspace: Workspace, root: Path, state: PromptFileState) -> tuple[FileState, PromptFileState]:
    """The file as it is, and a state that is of the same bytes."""
    if state.path.suffix.lower() != ".toml":
        # By mistake it may name the database itself; that is nothing to overwrite, not even knowingly.
        raise PromptFileRefused(NOT_TOML, file=state.relative)
    for _attempt in range(3):
        if state.error is not None and state.data is None:
            # Where MixSeek looks is not known, or what stands there cannot be read.
            raise state.error
        found = inspect(state.path, root, start=root_of(root))
        if found.sha256 == state.sha256:
            return found, state
        state = state_of(workspace, state.holds)
    raise PromptFileConflict(CHANGED, file=str(state.path))


def _warnings(texts: Texts, owner: User) -> list[Finding]:
    if isinstance(texts, SystemText):
        found = read_text(texts.system_prompt, owner=str(owner.pk)).findings
        return [each for each in found if each.severity != "error"]
    return [
        Finding.of_problem(kind, problem)
        for kind, text in texts.by_kind.items()
        for problem in pool().check(kind, text, owner=str(owner.pk))
        if problem.severity != "error"
    ]
