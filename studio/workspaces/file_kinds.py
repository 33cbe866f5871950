"""The kinds of file that a set's versions can be: where each lies in a workspace, how it is read and written.

Used by the states of workspaces, by imports and by exports, which treat all kinds alike.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from builder.errors import BuilderError, PromptFileError, PromptFileInvalid, PromptFileRefused
from builder.files.reading import ORCHESTRATOR_FILE, PROMPT_FILE, FileState, peek
from builder.jail import NamedFile, PromptFile
from builder.problems import Problem
from builder.system.file import SYSTEM_PROMPT_FILE, unreadable
from builder.template.variables import FIELDS, KINDS, field_name
from studio.models import FollowedFile, Label, Workspace
from studio.prompts.file_kinds import FileKind
from studio.prompts.findings import Finding
from studio.prompts.texts import (
    SYSTEM_FIELD,
    SystemText,
    Templates,
    Texts,
    unix_line_ends,
    user_prompts,
)
from studio.shell.jail import pool
from studio.workspaces.jail_answers import once_per_file
from studio.workspaces.models import mark_of
from studio.workspaces.orchestrators import orchestrators_in
from studio.workspaces.roots import LONGEST_PATH, FolderRefused, require_allowed, root_of

DOTENV_FILE = Path(".env")

_OVERRIDE = re.compile(
    rb"\s*(?:export\s+)?(MIXSEEK_PROMPT_BUILDER_(?:CONFIG|_(?:" + "|".join(FIELDS).encode() + rb")))\s*=",
    re.IGNORECASE,
)

Content = tuple[PromptFile | None, Texts | None]
"""What a file says: all of a prompt file, and the texts where they make a whole version."""


@dataclass(frozen=True)
class FileReport:
    """What a file says and all that is wrong with it; no ``values`` where it is ``broken``."""

    values: Mapping[str, str] = field(default_factory=dict)
    """Texts by field name, with the line ends that templates have."""
    places: Mapping[str, int] = field(default_factory=dict)
    """The line of the file that each stands on."""
    broken: Finding | None = None
    outside: Sequence[Finding] = ()
    """Keys that are none of ours, the first of them."""
    more_outside: int = 0
    problems: Sequence[Finding] = ()
    """Of the texts, by the file's lines and their own."""
    returns: Sequence[str] = ()
    """Fields in which a carriage return is written out."""


class WorkspaceFile(ABC):
    """One kind of file that workspaces have."""

    holds: FileKind
    table: str
    """The table of TOML that such a file is known by."""
    usual: Path
    """Where it lies, unless something in the workspace says otherwise."""
    label_field: str
    """The field of a workspace with the label that it follows with this file."""
    overridable = False
    """Whether variables of the environment win over it."""
    is_missing: "str | Promise"
    is_unusable: "str | Promise"
    """The sentences of a state without the file, and with one that has errors."""

    @property
    def mark(self) -> str:
        """Behind a workspace's address, what tells this file from the main one of its kind."""
        return ""

    def label_of(self, workspace: Workspace) -> Label | None:
        label: Label | None = getattr(workspace, self.label_field)
        return label

    def locate(self, workspace: Workspace, folder: Path) -> tuple[Path, NamedFile | None]:
        """Where it lies, and the line that says so. Raises what the jail or the builder says about that."""
        return folder / self.usual, None

    @abstractmethod
    def parse(self, data: bytes, name: str, owner: str | None = None) -> Content:
        """What a file says. Raises ``PromptFileError`` and the jail's errors."""

    @abstractmethod
    def check(self, data: bytes, name: str) -> Sequence[Problem]:
        """Everything that is wrong with a file that can be parsed."""

    @abstractmethod
    def report(self, data: bytes, name: str, owner: str) -> FileReport:
        """What a file that somebody hands in says. Raises ``PromptFileError`` and the jail's errors."""

    @abstractmethod
    def written(self, old: bytes | None, texts: Texts, today: date, name: str, owner: str) -> bytes:
        """The file with these texts. Raises ``PromptFileInvalid`` where the old one cannot take them."""

    def read(self, data: bytes, name: str) -> Content | PromptFileError:
        """``parse`` for a file that is looked at again and again: the same bytes go to the jail once."""

        def parsed() -> Content | PromptFileError:
            try:
                return self.parse(data, name)
            except PromptFileError as error:
                return error

        return once_per_file(f"parse {self.holds}", data, name, parsed)

    def problems(self, data: bytes, name: str) -> tuple[Problem, ...]:
        """``check``, once for the same bytes."""
        return once_per_file(f"check {self.holds}", data, name, lambda: tuple(self.check(data, name)))


class PromptsFile(WorkspaceFile):
    """Three templates among whatever else stands in MixSeek's prompt file."""

    holds, table, usual, label_field = FileKind.PROMPTS, "prompt_builder", PROMPT_FILE, "label"
    overridable = True
    is_missing, is_unusable = _("There is no prompt file."), _("MixSeek could not use this file.")

    def locate(self, workspace: Workspace, folder: Path) -> tuple[Path, NamedFile | None]:
        data = peek_file(folder / ORCHESTRATOR_FILE, folder)[0].data
        if data is not None:
            named = _named(data)
            return folder / (named.name if named else self.usual), named
        usual = folder / self.usual
        read = [] if usual.exists() else [one.prompts.path for one in orchestrators_in(workspace, folder)]
        inside = [path for path in read if path.is_relative_to(folder)]
        return (usual if usual in read or not inside else inside[0]), None

    def parse(self, data: bytes, name: str, owner: str | None = None) -> Content:
        content = pool().read(data, name, owner=owner)
        if any(key not in content.values for key in FIELDS):
            return content, None
        # With the line ends that Jinja makes of them.
        return content, Templates(*(unix_line_ends(content.values[key]) for key in FIELDS))

    def check(self, data: bytes, name: str) -> Sequence[Problem]:
        return pool().check_file(data, name)

    def report(self, data: bytes, name: str, owner: str) -> FileReport:
        problems = pool().check_file(data, name, owner=owner)
        outside = [Finding.of(problem) for problem in problems if problem.field is None]
        if broken := next((finding for finding in outside if finding.severity == "error"), None):
            return FileReport(broken=broken)
        content = pool().read(data, name, owner=owner)
        kinds = {field_name(kind): kind for kind in KINDS}
        return FileReport(
            values={key: unix_line_ends(text) for key, text in content.values.items()},
            places={key: place.line for key, place in content.places.items()},
            # The last one may be a sentence about those that are not listed.
            outside=outside[: len(content.unknown)],
            more_outside=content.more_unknown,
            problems=[
                Finding.of(problem, kinds[problem.field])
                for problem in problems
                if problem.field and problem.template_line
            ],
            returns=[key for key, text in content.values.items() if "\r" in text],
        )

    def written(self, old: bytes | None, texts: Texts, today: date, name: str, owner: str) -> bytes:
        values = {field_name(kind): text for kind, text in user_prompts(texts).by_kind.items()}
        return pool().merge(old, values, today, name, owner=owner)


@dataclass(frozen=True)
class OtherPromptsFile(PromptsFile):
    """A prompt file beside the main one, which orchestrator files of their own name."""

    name: str
    """As seen from the workspace."""
    label: Label | None = None

    @property
    def mark(self) -> str:
        return mark_of(self.name)

    def label_of(self, workspace: Workspace) -> Label | None:
        return self.label

    def locate(self, workspace: Workspace, folder: Path) -> tuple[Path, NamedFile | None]:
        return folder / self.name, None


class SystemPromptFile(WorkspaceFile):
    """The settings of a system prompt: the file is the text, to the byte."""

    holds, table, usual, label_field = FileKind.SYSTEM, "system_prompt", SYSTEM_PROMPT_FILE, "system_label"
    is_missing, is_unusable = _("There is no system prompt file."), _("This file could not be used.")

    def parse(self, data: bytes, name: str, owner: str | None = None) -> Content:
        # What the jail could read as TOML is UTF-8.
        pool().system_settings(data, name, owner=owner)
        return None, SystemText(unix_line_ends(data.decode()))

    def check(self, data: bytes, name: str) -> Sequence[Problem]:
        return pool().system_settings(data, name).problems

    def report(self, data: bytes, name: str, owner: str) -> FileReport:
        try:
            settings = pool().system_settings(data, name, owner=owner)
        except PromptFileInvalid as error:
            return FileReport(broken=Finding.of(unreadable(error)))
        problems = [Finding.of(problem, "system") for problem in settings.problems]
        return FileReport({SYSTEM_FIELD: unix_line_ends(data.decode())}, {SYSTEM_FIELD: 1}, problems=problems)

    def written(self, old: bytes | None, texts: Texts, today: date, name: str, owner: str) -> bytes:
        assert isinstance(texts, SystemText), "templates have a file of their own"
        return texts.system_prompt.encode()


_KINDS: dict[str, WorkspaceFile] = {kind.holds: kind for kind in (PromptsFile(), SystemPromptFile())}


def kind_of_file(holds: str) -> WorkspaceFile:
    """The file that sets of this kind are written to."""
    return _KINDS[holds]


def followed_files(workspaces: Iterable[Workspace]) -> dict[int, dict[str, Label]]:
    """The labels that prompt files beside the main ones follow, by workspace and file."""
    keys = [workspace.pk for workspace in workspaces]
    rows = FollowedFile.objects.filter(workspace__in=keys)
    labels: dict[int, dict[str, Label]] = {key: {} for key in keys}
    for row in rows.select_related("label__prompt_set", "label__version"):
        labels[row.workspace_id][row.file] = row.label
    return labels


def prompt_files_of(workspace: Workspace, followed: Mapping[str, Label] | None = None) -> list[WorkspaceFile]:
    """The main prompt file, then those that other orchestrator files read or that follow a label."""
    main = _KINDS[FileKind.PROMPTS]
    labels = followed_files([workspace])[workspace.pk] if followed is None else followed
    try:
        folder = require_allowed(workspace)
        path = main.locate(workspace, folder)[0]
        read = [one.prompts for one in orchestrators_in(workspace, folder)]
    except (FolderRefused, BuilderError):
        return [main, *(OtherPromptsFile(name, label) for name, label in sorted(labels.items()))]
    # Where nobody names the usual file and it is not there, MixSeek has its own templates.
    named = {file.name for file in read if file.named_by != "default" or file.data is not None}
    inside = {name for name in named if not Path(name).is_absolute() and len(name) <= LONGEST_PATH}
    names = inside | labels.keys()
    return [
        main,
        *(OtherPromptsFile(name, labels.get(name)) for name in sorted(names) if folder / name != path),
    ]


def prompt_file_marked(workspace: Workspace, mark: str) -> WorkspaceFile | None:
    """One of these by its mark; None where the workspace has no such file."""
    return next((file for file in prompt_files_of(workspace) if file.mark == mark), None)


def peek_file(path: Path, folder: Path) -> tuple[FileState, PromptFileRefused | None]:
    """A file of a workspace, and what would keep an export from replacing it.

    Opened from the allowed root down, so that no folder on the way can be swapped for a link in between.
    """
    inside = folder in path.parents and ".." not in path.relative_to(folder).parts
    return peek(path, root_of(folder) if inside else folder)


def dotenv_variables(folder: Path) -> list[tuple[str, int]]:
    """Variables, with their lines, that the workspace's ``.env`` sets and MixSeek, started there, prefers to
    its prompt file. The file holds secrets: nothing of it is kept but names and lines."""
    try:
        data = peek_file(folder / DOTENV_FILE, folder)[0].data or b""
    except BuilderError:
        return []
    matches = ((_OVERRIDE.match(line), number) for number, line in enumerate(data.splitlines(), start=1))
    return [(match[1].decode(), number) for match, number in matches if match]


def _named(data: bytes) -> NamedFile | None:
    name = str(ORCHESTRATOR_FILE)
    return once_per_file("named", data, name, lambda: pool().named_prompt_file(data, name))
