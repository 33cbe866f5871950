"""A file that somebody hands in: what it says, what is wrong with it, and how it had to be read."""

import codecs
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Literal

from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from builder.errors import BuilderError, LimitExceeded, PromptFileError, PromptFileInvalid
from builder.files.reading import peek
from builder.problems import Problem
from builder.system.file import unreadable
from builder.template.variables import FIELDS, KINDS, field_name
from studio.models import PromptSet, Workspace
from studio.prompts.file_kinds import FileKind
from studio.prompts.texts import SYSTEM_FIELD, TextKind, unix_line_ends
from studio.shell.jail import pool
from studio.shell.language import reader_language
from studio.workspaces.file_kinds import kind_of_file
from studio.workspaces.roots import require_allowed, root_of

Encoding = Literal["utf-8", "utf-8-bom", "utf-16"]
LINES_AROUND = 3
LONGEST_LINE = 300
_KINDS = {field_name(kind): kind for kind in KINDS}
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

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

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
class TemplateProblem:
    """A problem of one template, by the file's lines and its own."""

    kind: TextKind
    problem: Problem


@dataclass(frozen=True)
class FileContent:
    """What a file says. Without ``values`` where it cannot be read: ``error`` and ``broken`` say why."""

    values: Mapping[str, str] = field(default_factory=dict)
    """Templates by field name, with the line ends that templates have."""
    places: Mapping[str, int] = field(default_factory=dict)
    """The line of the file that each stands on."""
    broken: Problem | None = None
    error: BuilderError | None = None
    excerpt: Sequence[FileLine] = ()
    """The lines around the one that is broken."""
    outside: Sequence[Problem] = ()
    """Keys that are none of ours."""
    problems: Sequence[TemplateProblem] = ()
    encoding: Encoding = "utf-8"
    crlf: bool = False
    """Whether lines of the file end as on Windows."""
    returns: Sequence[str] = ()
    """Fields in which a carriage return is written out."""

    @property
    def is_readable(self) -> bool:
        return self.broken is None and self.error is None

    @property
    def missing(self) -> list[str]:
        """Templates that the file does not have; the file of a system prompt is always whole."""
        return [] if SYSTEM_FIELD in self.values else [name for name in FIELDS if name not in self.values]

    @property
    def has_errors(self) -> bool:
        return any(each.problem.severity == "error" for each in self.problems)


class NoFile(Exception):
    """A workspace has no prompt file, or none that may be read; the text says why."""


def uploaded_file(name: str, data: bytes, at: datetime, chosen: PromptSet | None) -> IncomingFile:
    """A file from a person's machine; its tables tell what it is, and in doubt the set that was chosen."""
    tables = {found[1] for found in _TABLE.finditer(_as_utf8(data)[0])}
    is_system = b"system_prompt" in tables or (
        chosen is not None and chosen.holds == FileKind.SYSTEM and b"prompt_builder" not in tables
    )
    return IncomingFile(name, data, at, holds=FileKind.SYSTEM if is_system else FileKind.PROMPTS)


def file_of(workspace: Workspace, holds: str = FileKind.PROMPTS) -> IncomingFile:
    """A file of a workspace as it is now: the one that MixSeek reads, or its system prompt's.

    Raises ``NoFile``, ``FolderRefused`` for a folder that is not to be looked into, or ``JailError``.
    """
    folder = require_allowed(workspace)
    try:
        path, _named = kind_of_file(holds).locate(folder)
        state, _obstacle = peek(path, folder, start=root_of(folder))
    except (LimitExceeded, PromptFileError) as error:
        language = reader_language()
        raise NoFile(f"{error.text(language)} {error.advice(language)}".strip()) from error
    name = str(path.relative_to(folder))
    if state.data is None:
        raise NoFile(_("There is no %(file)s in this workspace yet.") % {"file": name})
    at = datetime.fromtimestamp(state.modified_ns / 1e9, UTC)
    return IncomingFile(name, state.data, at, workspace, holds)


def read_incoming(file: IncomingFile, *, owner: User) -> FileContent:
    """Read the file in the jail. Raises ``JailError`` where that is not to be had right now."""
    data, encoding = _as_utf8(file.data)
    if file.holds == FileKind.SYSTEM:
        return _read_system(file.name, data, encoding, str(owner.pk))
    try:
        found = pool().check_file(data, file.name, owner=str(owner.pk))
        if broken := next((each for each in found if each.field is None and each.severity == "error"), None):
            return FileContent(broken=broken, excerpt=_excerpt(data, broken.line or 1), encoding=encoding)
        said = pool().read(data, file.name, owner=str(owner.pk))
    except (LimitExceeded, PromptFileError) as error:
        return FileContent(error=error, encoding=encoding)
    return FileContent(
        values={name: unix_line_ends(text) for name, text in said.values.items()},
        places={name: place.line for name, place in said.places.items()},
        outside=[each for each in found if each.field is None],
        problems=[
            TemplateProblem(_KINDS[each.field], each) for each in found if each.field and each.template_line
        ],
        encoding=encoding,
        crlf=b"\r\n" in data,
        returns=[name for name, text in said.values.items() if "\r" in text],
    )


def _read_system(name: str, data: bytes, encoding: Encoding, owner: str) -> FileContent:
    try:
        settings = pool().system_settings(data, name, owner=owner)
    except PromptFileInvalid as error:
        problem = unreadable(error)
        return FileContent(broken=problem, excerpt=_excerpt(data, problem.line or 1), encoding=encoding)
    except (LimitExceeded, PromptFileError) as error:
        return FileContent(error=error, encoding=encoding)
    return FileContent(
        values={SYSTEM_FIELD: unix_line_ends(data.decode())},
        places={SYSTEM_FIELD: 1},
        problems=[TemplateProblem("system", problem) for problem in settings.problems],
        encoding=encoding,
        crlf=b"\r\n" in data,
    )


def why_unreadable(content: FileContent) -> str:
    """The sentence for a file that cannot be read."""
    language = reader_language()
    if content.broken is not None:
        where = _("Line %(line)d") % {"line": content.broken.line}
        return f"{where}: {content.broken.text(language)} {content.broken.advice(language)}".strip()
    if content.error is not None:
        return f"{content.error.text(language)} {content.error.advice(language)}".strip()
    return ""


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
