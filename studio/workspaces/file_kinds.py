"""The file of a workspace that a set's versions are: where it lies, how it is read and written."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from builder.files.reading import PROMPT_FILE
from builder.jail import PromptFile
from builder.problems import Problem
from builder.system.file import SYSTEM_PROMPT_FILE
from builder.template.variables import FIELDS, field_name
from studio.models import Label, Workspace
from studio.prompts.file_kinds import FileKind
from studio.prompts.texts import SystemText, Templates, Texts, unix_line_ends, user_prompts
from studio.shell.jail import pool
from studio.workspaces.files import Location, ReadFile, locate, problems_of, read, read_system


class HeldFile(ABC):
    """One of a workspace's files; everything else about states and exports is the same for all."""

    holds: FileKind
    usual: Path
    """Where it lies, unless something in the workspace says otherwise."""
    overridable = False
    """Whether variables of the environment win over it."""

    @abstractmethod
    def label_of(self, workspace: Workspace) -> Label | None:
        """The label that the workspace follows with this file."""

    @abstractmethod
    def locate(self, folder: Path) -> Location:
        """Where it lies. Raises what the jail or the builder says about a file that names it."""

    @abstractmethod
    def read(self, path: Path, folder: Path) -> ReadFile:
        """The file as it stands. Raises ``PromptFileError`` for what is not read at all."""

    @abstractmethod
    def problems(self, file: ReadFile) -> Sequence[Problem]:
        """Everything that is wrong with a file that was read."""

    @abstractmethod
    def texts(self, file: ReadFile) -> Texts | None:
        """What a file that was read says, where it is a version's whole text."""

    @abstractmethod
    def texts_in(self, data: bytes, name: str, owner: str) -> Texts | None:
        """The same of bytes. Raises ``PromptFileError`` and the jail's errors."""

    @abstractmethod
    def written(self, old: bytes | None, texts: Texts, today: date, name: str, owner: str) -> bytes:
        """The file with these texts. Raises ``PromptFileInvalid`` where the old one cannot take them."""


class PromptsFile(HeldFile):
    """Three templates among whatever else stands in MixSeek's prompt file."""

    holds, usual, overridable = FileKind.PROMPTS, PROMPT_FILE, True

    def label_of(self, workspace: Workspace) -> Label | None:
        return workspace.label

    def locate(self, folder: Path) -> Location:
        return locate(folder)

    def read(self, path: Path, folder: Path) -> ReadFile:
        return read(path, folder)

    def problems(self, file: ReadFile) -> Sequence[Problem]:
        return problems_of(file)

    def texts(self, file: ReadFile) -> Texts | None:
        return templates_in(file.content) if file.content else None

    def texts_in(self, data: bytes, name: str, owner: str) -> Texts | None:
        return templates_in(pool().read(data, name, owner=owner))

    def written(self, old: bytes | None, texts: Texts, today: date, name: str, owner: str) -> bytes:
        values = {field_name(kind): text for kind, text in user_prompts(texts).by_kind.items()}
        return pool().merge(old, values, today, name, owner=owner)


class SystemPromptFile(HeldFile):
    """The settings of a system prompt: the file is the text, to the byte."""

    holds, usual = FileKind.SYSTEM, SYSTEM_PROMPT_FILE

    def label_of(self, workspace: Workspace) -> Label | None:
        return workspace.system_label

    def locate(self, folder: Path) -> Location:
        return Location(folder / self.usual)

    def read(self, path: Path, folder: Path) -> ReadFile:
        return read_system(path, folder)

    def problems(self, file: ReadFile) -> Sequence[Problem]:
        return file.problems

    def texts(self, file: ReadFile) -> Texts | None:
        # What the jail could read as TOML is UTF-8.
        return system_text_in(file.state.data) if file.state.data is not None and not file.error else None

    def texts_in(self, data: bytes, name: str, owner: str) -> Texts | None:
        pool().system_table(data, name, owner=owner)
        return system_text_in(data)

    def written(self, old: bytes | None, texts: Texts, today: date, name: str, owner: str) -> bytes:
        assert isinstance(texts, SystemText), "templates have a file of their own"
        return texts.system_prompt.encode()


def templates_in(content: PromptFile) -> Templates | None:
    """The three texts of a file, where all three are there, with the line ends that Jinja makes of them."""
    if any(name not in content.values for name in FIELDS):
        return None
    return Templates(*(unix_line_ends(content.values[name]) for name in FIELDS))


def system_text_in(data: bytes) -> SystemText:
    """The text of a file, with the line ends that an editor's page keeps."""
    return SystemText(unix_line_ends(data.decode()))


_FILES: dict[str, HeldFile] = {each.holds: each for each in (PromptsFile(), SystemPromptFile())}


def held_file(holds: str) -> HeldFile:
    """The file that sets of this kind are written to."""
    return _FILES[holds]
