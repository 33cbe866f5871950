"""A prompt file that somebody hands in: what it says, what is wrong with it, and how it had to be read."""

import codecs
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Literal

from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from builder.errors import BuilderError, LimitExceeded, PromptFileError
from builder.jail import FileProblem
from builder.variables import FIELDS, KINDS, PromptKind, field_name
from builder.workspace_look import peek
from studio.forms.editor import lines_of
from studio.jail import pool
from studio.language import reader_language
from studio.models import Workspace
from studio.workspace_files import locate
from studio.workspace_roots import require_allowed, root_of

Encoding = Literal["utf-8", "utf-8-bom", "utf-16"]
LINES_AROUND = 3
LONGEST_LINE = 300
_KINDS = {field_name(kind): kind for kind in KINDS}


@dataclass(frozen=True)
class IncomingFile:
    """A file before anybody has looked into it."""

    name: str
    data: bytes = field(repr=False)
    at: datetime | None
    """When it was last changed or, where nobody knows that, handed in."""
    workspace: Workspace | None = None

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

    kind: PromptKind
    problem: FileProblem


@dataclass(frozen=True)
class FileContent:
    """What a file says. Without ``values`` where it cannot be read: ``error`` and ``broken`` say why."""

    values: Mapping[str, str] = field(default_factory=dict)
    """Templates by field name, with the line ends that templates have."""
    places: Mapping[str, int] = field(default_factory=dict)
    """The line of the file that each stands on."""
    broken: FileProblem | None = None
    error: BuilderError | None = None
    excerpt: Sequence[FileLine] = ()
    """The lines around the one that is broken."""
    outside: Sequence[FileProblem] = ()
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
        return [name for name in FIELDS if name not in self.values]

    @property
    def has_errors(self) -> bool:
        return any(each.problem.severity == "error" for each in self.problems)


class NoFile(Exception):
    """A workspace has no prompt file, or none that may be read; the text says why."""


def file_of(workspace: Workspace) -> IncomingFile:
    """The prompt file that MixSeek reads in a workspace, as it is now.

    Raises ``NoFile``, ``FolderRefused`` for a folder that is not to be looked into, or ``JailError``.
    """
    folder = require_allowed(workspace)
    try:
        path = locate(folder).path
        state, _obstacle = peek(path, folder, start=root_of(folder))
    except (LimitExceeded, PromptFileError) as error:
        language = reader_language()
        raise NoFile(f"{error.text(language)} {error.advice(language)}".strip()) from error
    name = str(path.relative_to(folder))
    if state.data is None:
        raise NoFile(_("There is no %(file)s in this workspace yet.") % {"file": name})
    return IncomingFile(name, state.data, datetime.fromtimestamp(state.modified_ns / 1e9, UTC), workspace)


def read_incoming(file: IncomingFile, *, owner: User) -> FileContent:
    """Read the file in the jail. Raises ``JailError`` where that is not to be had right now."""
    data, encoding = _as_utf8(file.data)
    try:
        found = pool().check_file(data, file.name, owner=str(owner.pk))
        if broken := next((each for each in found if each.field is None and each.severity == "error"), None):
            return FileContent(broken=broken, excerpt=_excerpt(data, broken.line), encoding=encoding)
        said = pool().read(data, file.name, owner=str(owner.pk))
    except (LimitExceeded, PromptFileError) as error:
        return FileContent(error=error, encoding=encoding)
    return FileContent(
        values={name: lines_of(text) for name, text in said.values.items()},
        places={name: place.line for name, place in said.places.items()},
        outside=[each for each in found if each.field is None],
        problems=[
            TemplateProblem(_KINDS[each.field], each) for each in found if each.field and each.template_line
        ],
        encoding=encoding,
        crlf=b"\r\n" in data,
        returns=[name for name, text in said.values.items() if "\r" in text],
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
