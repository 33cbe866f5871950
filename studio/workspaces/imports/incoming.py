"""A file that is to become a version: what it says, what is wrong with it, and how it had to be read.

Used by imports, of uploaded files and of those that lie in workspaces.
"""

import codecs
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Literal

from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from builder.errors import LimitExceeded, PromptFileError
from builder.template.variables import FIELDS
from studio.models import PromptSet, Workspace
from studio.prompts.file_kinds import FileKind
from studio.prompts.findings import Finding
from studio.prompts.texts import SYSTEM_FIELD
from studio.shell.refusal import RequestRefused
from studio.workspaces.file_kinds import FileReport, kind_of_file, peek_file, prompt_file_marked
from studio.workspaces.file_kinds import WorkspaceFile as WorkspaceFile
from studio.workspaces.roots import require_allowed

Encoding = Literal["utf-8", "utf-8-bom", "utf-16"]
LINES_AROUND = 3
LONGEST_LINE = 300
_TABLE = re.compile(rb"^[ \t]*\[+[ \t]*(system_prompt|prompt_builder)\b", re.MULTILINE)


@dataclass(frozen=True)
class IncomingFile:
    """A file before anybody has looked into it."""

    name: str
    data: bytes = field(repr=False)
    at: datetime | None
    """When it was last changed or, where nobody knows that, handed in."""
    workspace: Workspace | None = None
    holds: str = FileKind.PROMPTS
    """Which kind of file it is: sets that hold the same can take it."""

    @property
    def file_kind(self) -> FileKind:
        """Which of the workspace's files it is."""
        return FileKind(self.holds)

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    @property
    def title(self) -> str:
        """What a set made from it is called, unless somebody says otherwise."""
        return self.workspace.name if self.workspace else self.name.rpartition(".")[0] or self.name

    @property
    def message(self) -> str:
        """The message of a version made from it, unless somebody writes another one."""
        if self.workspace is not None:
            return _("Import from %(workspace)s") % {"workspace": self.workspace.name}
        return _("Import of %(file)s") % {"file": self.name}

    @property
    def origin_note(self) -> str:
        """What a version made from it says about where it comes from."""
        where = f"{self.workspace.name}: {self.name}" if self.workspace else self.name
        at = f", {self.at:%Y-%m-%d %H:%M %Z}" if self.at else ""
        return f"{where[:400]} (sha256 {self.sha256[:12]}{at})"


@dataclass(frozen=True)
class FileLine:
    """A line of the file, for a reader who has to find it."""

    number: int
    text: str
    is_wrong: bool


@dataclass(frozen=True)
class FileContent(FileReport):
    """What a file says, how it had to be read, and why it could not be."""

    error: Finding | None = None
    """Why it is not read at all, where no line of it is to blame."""
    excerpt: Sequence[FileLine] = ()
    """The lines around the one that is broken."""
    encoding: Encoding = "utf-8"
    crlf: bool = False
    """Whether lines of the file end as on Windows."""

    @property
    def is_readable(self) -> bool:
        return self.broken is None and self.error is None

    @property
    def missing(self) -> list[str]:
        """Templates that the file does not have; the file of a system prompt is always whole."""
        return [] if SYSTEM_FIELD in self.values else [name for name in FIELDS if name not in self.values]

    @property
    def has_errors(self) -> bool:
        return any(finding.severity == "error" for finding in self.problems)

    @property
    def why_unreadable(self) -> str:
        """The sentence for a file that cannot be read."""
        wrong = self.broken or self.error
        if wrong is None:
            return ""
        said = f"{wrong.text} {wrong.advice}".strip()
        if self.broken is None:
            return said
        where = _("Line %(line)d") % {"line": self.broken.line}
        return f"{where}: {said}"


class NoFile(Exception):
    """A workspace has no prompt file, or none that may be read; the text says why."""


def uploaded_file(name: str, data: bytes, at: datetime, chosen: PromptSet | None) -> IncomingFile:
    """A file from a person's machine; its tables tell what it is, and in doubt the set that was chosen."""
    tables = {match[1].decode() for match in _TABLE.finditer(_as_utf8(data)[0])}
    told = [kind for kind in (FileKind.SYSTEM, FileKind.PROMPTS) if kind_of_file(kind).table in tables]
    in_doubt = chosen.file_kind if chosen else FileKind.PROMPTS
    return IncomingFile(name, data, at, holds=told[0] if told else in_doubt)


def file_of(workspace: Workspace, held: WorkspaceFile) -> IncomingFile:
    """A file of a workspace as it is now: one that MixSeek reads, or its system prompt's.

    Raises ``NoFile``, ``FolderRefused`` for a folder that is not to be looked into, or ``JailError``.
    """
    folder = require_allowed(workspace)
    try:
        path, _named = held.locate(workspace, folder)
        file, _obstacle = peek_file(path, folder)
    except (LimitExceeded, PromptFileError) as error:
        why = Finding.of(error)
        raise NoFile(f"{why.text} {why.advice}".strip()) from error
    name = str(path.relative_to(folder))
    if file.data is None:
        raise NoFile(_("There is no %(file)s in this workspace yet.") % {"file": name})
    at = datetime.fromtimestamp(file.modified_ns / 1e9, UTC)
    return IncomingFile(name, file.data, at, workspace, held.holds)


def other_file(workspace: Workspace, mark: str) -> WorkspaceFile:
    """A prompt file beside the workspace's main one, by its mark."""
    file = prompt_file_marked(workspace, mark)
    if file is None:
        raise RequestRefused(
            404,
            _("This workspace no longer has this prompt file."),
            _("The workspace's page lists the files that its orchestrator files use."),
        )
    return file


def read_incoming(file: IncomingFile, *, owner: User) -> FileContent:
    """Read the file in the jail. Raises ``JailError`` where that is not to be had right now."""
    data, encoding = _as_utf8(file.data)
    try:
        report = kind_of_file(file.holds).report(data, file.name, str(owner.pk))
    except (LimitExceeded, PromptFileError) as error:
        return FileContent(error=Finding.of(error), encoding=encoding)
    if report.broken is not None:
        excerpt = _excerpt(data, report.broken.line or 1)
        return FileContent(broken=report.broken, excerpt=excerpt, encoding=encoding)
    return FileContent(**vars(report), encoding=encoding, crlf=b"\r\n" in data)


def _as_utf8(data: bytes) -> tuple[bytes, Encoding]:
    """Files of Windows editors begin with a mark that says how they are written."""
    if data.startswith(codecs.BOM_UTF8):
        return data.removeprefix(codecs.BOM_UTF8), "utf-8-bom"
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            return data.decode("utf-16").encode(), "utf-16"
        except UnicodeError:
            return data, "utf-16"
    return data, "utf-8"


def _excerpt(data: bytes, line: int) -> list[FileLine]:
    lines = data.split(b"\n")
    first = max(line - 1 - LINES_AROUND, 0)
    return [
        FileLine(number, text.decode(errors="replace").rstrip("\r")[:LONGEST_LINE], number == line)
        for number, text in enumerate(lines[first : line + LINES_AROUND], first + 1)
    ]
