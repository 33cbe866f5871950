"""The finder: which prompt, evaluator, judgment and team files a run of an orchestrator file reads.

Used by the studio's workspaces. The order is MixSeek's own: a variable of the environment beats one in the
`.env` of the run's working directory, that beats the orchestrator file, and what nobody names lies in its
usual place or is MixSeek's own. Environment and working directory are the run's, so the caller states them.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Literal, Protocol

from builder.errors import (
    BuilderError,
    LimitExceeded,
    PromptFileInvalid,
    PromptFileMissing,
    PromptFileRefused,
)
from builder.files.folders import opened
from builder.files.prompt_file import PromptFile
from builder.files.prompt_file import read as read_prompt_file
from builder.files.reading import ORCHESTRATOR_FILE, closing, peek, peek_in
from builder.files.toml_file import located
from builder.messages import message
from builder.orchestrators.dotenv import PREFIX, mixseek_variables
from builder.orchestrators.tables import CONFIG_KEYS, Table, read_table
from builder.orchestrators.tables import Part as Part
from builder.template.variables import FIELDS

CONFIGS = Path("configs")
DOTENV = ".env"
MOST_FILES = 500
DEEPEST = 8
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MENTION = re.compile(rb"""^[ \t]*\[{0,2}[ \t]*["']?orchestrator["']?[ \t]*[\].=]""", re.MULTILINE)

NAMED_MISSING = message(
    "orchestrator-file-missing",
    "{by} refers to {file}, which does not exist: a run would fail to start",
    "{by} が指す {file} が存在しません。実行は開始時に失敗します",
    fix_en="Create the file, or correct its path (relative to the workspace folder).",
    fix_ja="ファイルを作るか、名前を直してください（ワークスペースのフォルダーから見たパスです）。",
)
OUTSIDE = message(
    "orchestrator-file-outside",
    "{by} refers to {file}, which is outside the workspace and is not read",
    "{by} が指す {file} はワークスペースの外にあるため、読み込みません",
)
NAME_NOT_A_STRING = located(
    "orchestrator-name-not-a-string", "{key} must be a string", "{key} は文字列でなければなりません"
)
BLANK = message(
    "orchestrator-blank",
    "{field} is empty in {by}: a run would fail to start",
    "{by} の {field} が空です。実行は開始時に失敗します",
    fix_en="Write a template, or remove the setting.",
    fix_ja="テンプレートを書くか、その設定を取り除いてください。",
)

Source = Literal["environment", "dotenv", "file", "default"]
"""What names a file or gives a template: ``file`` is a file of the workspace, ``default`` nobody."""
USUAL = {key: CONFIGS / f"{key.removesuffix('_config')}.toml" for key in CONFIG_KEYS}
"""Where a file lies that nobody names."""


class Reader(Protocol):
    """Who reads TOML: ``DIRECT`` in a process of one's own, the jail's pool for files of strangers."""

    def read(self, data: bytes, name: str) -> PromptFile:
        """What a prompt file says."""

    def config_table(self, data: bytes, name: str, part: Part) -> Table | None:
        """The allowed keys of another file."""


class _Direct:
    def read(self, data: bytes, name: str) -> PromptFile:
        return read_prompt_file(data, name)

    def config_table(self, data: bytes, name: str, part: Part) -> Table | None:
        return read_table(data, name, part)


DIRECT: Reader = _Direct()


@dataclass(frozen=True)
class RunSurroundings:
    """What a run is started with; without a working directory its `.env` is not known."""

    environ: Mapping[str, str] = field(default_factory=dict)
    working_directory: Path | None = None


@dataclass(frozen=True)
class ConfigFile:
    """A file that a run reads, or would."""

    path: Path
    name: str
    """The path as seen from the workspace."""
    named_by: Source = "default"
    line: int | None = None
    """Of the orchestrator file that names it."""
    data: bytes | None = field(default=None, repr=False)
    """None where it is not there or not read."""
    error: BuilderError | None = None
    """Why it is of no use: missing though it is named, outside, refused or no TOML."""
    table: Table = field(default_factory=dict, repr=False)
    """What an orchestrator's, evaluator's, judgment's, team's or member's file says."""


@dataclass(frozen=True)
class Orchestrator:
    """An orchestrator file and the files that a run of it reads."""

    file: ConfigFile
    prompts: ConfigFile
    """Where nobody has made it, MixSeek's own templates are used."""
    fields: Mapping[str, Source]
    """Where each template comes from; ``default`` for MixSeek's own."""
    templates: Mapping[str, str] = field(repr=False)
    """Those that are not MixSeek's own, by field name."""
    evaluator: ConfigFile
    judgment: ConfigFile
    teams: tuple[ConfigFile, ...]
    members: Mapping[str, ConfigFile]
    """Files that teams name for their members, by the name as it is written."""
    error: BuilderError | None = None
    """Why a run would fail to start."""

    @property
    def name(self) -> str:
        return self.file.name

    @property
    def is_one(self) -> bool:
        """Whether the file has the table of an orchestrator, as far as can be told."""
        return bool(self.file.table) or self.file.error is not None

    @property
    def team_ids(self) -> frozenset[str]:
        return frozenset(team.table["id"] for team in self.teams if team.table.get("id"))


def orchestrator_files(workspace: Path, *, roots: Sequence[Path] = ()) -> list[str]:
    """Every `configs/**/*.toml` that seems to have an `[orchestrator]` table, by name; no link is followed.

    Nothing is parsed, so that one with an error in it is found, too; what ``find`` gives no table for was
    only a text that looks like one.
    """
    root = _root(workspace / CONFIGS, workspace, roots) or workspace
    try:
        with opened(workspace / CONFIGS / "-", root) as folder:
            listed = islice(_toml_files(folder, CONFIGS, 0), MOST_FILES)
            found = [name for name, data in listed if _MENTION.search(data)]
    except BuilderError:
        return []
    return sorted(found, key=lambda name: (name != str(ORCHESTRATOR_FILE), name))


def _toml_files(folder: int, at: Path, depth: int) -> Iterator[tuple[str, bytes]]:
    with os.scandir(folder) as entries:
        listed = sorted(entries, key=lambda entry: entry.name)
    for entry in listed:
        path = at / entry.name
        try:
            entry.name.encode()
            if entry.is_dir(follow_symlinks=False):
                if depth < DEEPEST:
                    inner = os.open(entry.name, _FOLDER, dir_fd=folder)
                    with closing(inner):
                        yield from _toml_files(inner, path, depth + 1)
            elif entry.name.endswith(".toml"):
                yield str(path), peek_in(folder, path)[0].data or b""
        except (OSError, UnicodeError, BuilderError):
            continue


def find(
    workspace: Path,
    orchestrator: str,
    surroundings: RunSurroundings,
    *,
    reader: Reader = DIRECT,
    roots: Sequence[Path] = (),
) -> Orchestrator:
    """The files that a run of this orchestrator file reads; whatever is wrong with them is told, not raised.

    Files outside the workspace are read only below one of ``roots``. Raises ``JailError`` from the reader.
    """
    return _Finder(workspace, surroundings, reader, tuple(roots)).find(orchestrator)


@dataclass(frozen=True)
class _Finder:
    workspace: Path
    surroundings: RunSurroundings
    reader: Reader
    roots: tuple[Path, ...]

    def find(self, orchestrator: str) -> Orchestrator:
        file = self._read(
            self._opened(ConfigFile(self.workspace / orchestrator, orchestrator)), "orchestrator"
        )
        variables = self._variables()
        prompts, evaluator, judgment = (self._named(key, file, variables) for key in CONFIG_KEYS)
        fields, templates, error = self._fields(prompts, variables)
        if odd := next(iter(file.table.get("odd", ())), None):
            line = file.table["lines"][odd]
            error = PromptFileInvalid(NAME_NOT_A_STRING, line=line, file=orchestrator, key=odd)
        teams = tuple(
            self._read(self._placed(name, orchestrator), "team") for name in file.table.get("teams", ())
        )
        return Orchestrator(
            file,
            prompts,
            fields,
            templates,
            self._read(evaluator, "evaluator"),
            self._read(judgment, "judgment"),
            teams,
            self._members(teams),
            file.error or error,
        )

    # --- what is set around the run ------------------------------------------------------

    def _variables(self) -> list[tuple[Source, Mapping[str, str]]]:
        """Those of the environment, then those of the working directory's `.env`, by lower-case names."""
        given = self.surroundings.environ.items()
        environ = {name.lower(): value for name, value in given if name.lower().startswith(PREFIX)}
        return [("environment", environ), ("dotenv", self._dotenv())]

    def _dotenv(self) -> Mapping[str, str]:
        folder = self.surroundings.working_directory
        if folder is None:
            return {}
        return mixseek_variables(self._opened(ConfigFile(folder / DOTENV, DOTENV)).data or b"")

    # --- files ---------------------------------------------------------------------------

    def _named(
        self, key: str, orchestrator: ConfigFile, variables: Sequence[tuple[Source, Mapping[str, str]]]
    ) -> ConfigFile:
        """The file that a key of the orchestrator file, or a variable of that name, names; else the usual."""
        for source, values in variables:
            if (name := values.get(PREFIX + key)) is not None:
                by = DOTENV if source == "dotenv" else f"${(PREFIX + key).upper()}"
                return self._placed(name, by, source) if name else self._usual(key)
        if not (name := orchestrator.table.get("named", {}).get(key, "")):
            return self._usual(key)
        line = orchestrator.table["lines"][key]
        return self._placed(name, f"{orchestrator.name}:{line}", line=line)

    def _usual(self, key: str) -> ConfigFile:
        return self._opened(ConfigFile(self.workspace / USUAL[key], str(USUAL[key])))

    def _placed(self, name: str, by: str, source: Source = "file", line: int | None = None) -> ConfigFile:
        """A file that must be there, for somebody names it; a relative name counts from the workspace."""
        path = Path(os.path.normpath(self.workspace / name.replace("\0", "\N{SYMBOL FOR NULL}")))
        inside = path.is_relative_to(self.workspace)
        shown = str(path.relative_to(self.workspace)) if inside else str(path)
        file = self._opened(ConfigFile(path, shown, source, line), by)
        if file.data is None and file.error is None:
            return replace(file, error=PromptFileMissing(NAMED_MISSING, line=line, by=by, file=shown))
        return file

    def _opened(self, file: ConfigFile, by: str = "") -> ConfigFile:
        root = _root(file.path, self.workspace, self.roots)
        if root is None:
            return replace(file, error=PromptFileRefused(OUTSIDE, line=file.line, by=by, file=file.name))
        try:
            return replace(file, data=peek(file.path, root)[0].data)
        except BuilderError as error:
            return replace(file, error=error)

    def _read(self, file: ConfigFile, part: Part) -> ConfigFile:
        if file.data is None:
            return file
        try:
            return replace(file, table=self.reader.config_table(file.data, file.name, part) or {})
        except (PromptFileInvalid, LimitExceeded) as error:
            return replace(file, error=error)

    def _members(self, teams: Sequence[ConfigFile]) -> dict[str, ConfigFile]:
        members: dict[str, ConfigFile] = {}
        for team in teams:
            for member in agents_of(team.table):
                if (name := member.get("config")) and name not in members:
                    members[name] = self._read(self._placed(name, team.name), "member")
        return members

    # --- templates -----------------------------------------------------------------------

    def _fields(
        self, prompts: ConfigFile, variables: Sequence[tuple[Source, Mapping[str, str]]]
    ) -> tuple[dict[str, Source], dict[str, str], BuilderError | None]:
        """Where each template comes from, its text, and what would keep a run from starting."""
        values: Mapping[str, str] = {}
        error = prompts.error
        if prompts.data is not None:
            try:
                values = self.reader.read(prompts.data, prompts.name).values
            except (PromptFileInvalid, LimitExceeded) as invalid:
                error = invalid
        fields: dict[str, Source] = {}
        templates: dict[str, str] = {}
        for name in FIELDS:
            key = f"{PREFIX}prompt_builder__{name}"
            given = [(source, known[key]) for source, known in variables if key in known]
            given += [("file", values[name])] if name in values else []
            fields[name] = given[0][0] if given else "default"
            if given:
                templates[name] = given[0][1]
                if not templates[name].strip() and error is None:
                    by = {"file": prompts.name, "dotenv": DOTENV}.get(fields[name], "environment")
                    error = PromptFileInvalid(BLANK, field=name, by=by)
        return fields, templates, error


def agents_of(team: Table) -> list[Table]:
    """The members of a team, or of a workflow's steps."""
    return [*team.get("members", ()), *(one for step in team.get("steps", ()) for one in step["executors"])]


def _root(path: Path, workspace: Path, roots: Sequence[Path]) -> Path | None:
    """The folder from which the path is opened step by step; None where it may not be read."""
    return next((root for root in (*roots, workspace) if path.is_relative_to(root) and path != root), None)
