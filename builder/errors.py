"""The exceptions of the builder, raised by its rooms and caught by the command line and the studio.

All of them are a ``BuilderError``: they carry a message code, its values, and a line where
one is known, so that a page can say the same thing in Japanese. Members also inherit the
type that the API contract names, so that callers written against it catch them.
Those for values that pydantic refuses stand in ``builder.invalid_input``.
"""

from typing import Any

import jinja2

from builder.messages import Language, advise, message, say

# --- texts fixed by the contract: the English is to the byte -----------------------------

SYNTAX = message(
    "template-syntax",
    "Jinja2 template syntax error at line {line}: {reason}",
    "Jinja2テンプレートの構文エラー（{line}行目）: {reason}",
)
TEMPLATE = message(
    "template-error",
    "Jinja2 template error: {reason}",
    "Jinja2テンプレートエラー: {reason}",
)
TIMEZONE = message(
    "timezone-invalid",
    "Invalid timezone in TZ environment variable: {value}."
    " Valid examples: 'UTC', 'Asia/Tokyo', 'America/New_York'",
    "環境変数TZのタイムゾーンが正しくありません: {value}。例: 'UTC', 'Asia/Tokyo', 'America/New_York'",
)
POSITION = message("position-invalid", "Invalid position", "順位の値が正しくありません")
TOTAL_TEAMS = message("total-teams-invalid", "Invalid total_teams", "チーム数の値が正しくありません")
WORKSPACE_MISSING = message(
    "workspace-missing",
    "Workspace does not exist: {path}",
    "ワークスペースがありません: {path}",
    fix_en="Check the path, or make the folder and run `python -m builder init {path}`.",
    fix_ja="パスを確認するか、フォルダーを作って `python -m builder init {path}` を実行してください。",
)


class BuilderError(Exception):
    """Whatever the builder refuses or cannot do; ``str()`` is the English sentence."""

    code: str
    params: dict[str, str | int]
    line: int | None

    def __init__(self, code: str, *, line: int | None = None, **params: str | int) -> None:
        super().__init__(say(code, with_line(line, params)))
        self._describe(code, line, params)

    def _describe(self, code: str, line: int | None, params: dict[str, str | int]) -> None:
        self.code, self.line, self.params = code, line, params

    def __str__(self) -> str:
        return self.text()

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions cross threads and processes; the default would lose the keyword values.
        return _rebuild, (type(self), self.code, self.line, self.params)

    def text(self, language: Language = "en") -> str:
        return say(self.code, with_line(self.line, self.params), language)

    def advice(self, language: Language = "en") -> str:
        return advise(self.code, with_line(self.line, self.params), language)


def with_line(line: int | None, params: dict[str, str | int]) -> dict[str, str | int]:
    """Sentences name the line like any other value."""
    return params if line is None else {"line": line, **params}


def _rebuild(
    kind: type[BuilderError], code: str, line: int | None, params: dict[str, str | int]
) -> BuilderError:
    return kind(code, line=line, **params)


# --- templates ---------------------------------------------------------------------------


class TemplateFailure(BuilderError, jinja2.TemplateError):
    """A template that does not parse, or fails while it renders."""

    def __init__(self, code: str, *, line: int | None = None, **params: str | int) -> None:
        jinja2.TemplateError.__init__(self, say(code, with_line(line, params)))
        self._describe(code, line, params)

    # Jinja2's own classes compute message and __str__ from other state; ours say their sentence.
    @property
    def message(self) -> str:
        return self.text()


class TemplateSyntaxFailure(TemplateFailure, jinja2.TemplateSyntaxError):
    """The template is not valid Jinja2."""

    def __init__(self, code: str, *, line: int | None = None, **params: str | int) -> None:
        jinja2.TemplateSyntaxError.__init__(self, say(code, with_line(line, params)), line or 1)
        self._describe(code, line, params)

    __str__ = BuilderError.__str__
    __reduce__ = BuilderError.__reduce__


class UndefinedFailure(TemplateFailure, jinja2.UndefinedError):
    """The template names something that has no value."""


class TimezoneError(BuilderError, ValueError):
    """The time zone is none that the zone database knows."""


class PositionError(BuilderError, ValueError):
    """A rank that cannot be."""


class WorkspaceMissing(BuilderError, FileNotFoundError):
    """The workspace folder does not exist."""


# --- the jail ----------------------------------------------------------------------------


class JailError(BuilderError):
    """A job that did not come back from its worker process."""


class LimitExceeded(JailError):
    """A job that was ended because it met a limit; ``limit`` is its name."""

    @property
    def limit(self) -> str:
        return str(self.params["limit"])


class JailUnavailable(JailError):
    """There is no worker to do the job: the pool is closed, busy beyond its wait, or cannot start."""


class CoolingDown(JailUnavailable):
    """The owner's jobs were stopped again and again; the next one is taken in ``seconds``."""

    @property
    def seconds(self) -> int:
        return int(self.params["seconds"])


class Superseded(JailError):
    """A newer job of the same owner and topic took this one's place before it began."""


# --- the leaderboard ---------------------------------------------------------------------


class LeaderboardError(BuilderError):
    """The workspace's database cannot be read."""


class DatabaseMissing(LeaderboardError, FileNotFoundError):
    """There is no database: nothing has run in this workspace yet."""


class NotADatabase(LeaderboardError):
    """The file is something else than a DuckDB database."""


class DatabaseTooNew(LeaderboardError):
    """A newer DuckDB wrote the file."""


class DatabaseTooLarge(LeaderboardError):
    """The file is larger than what is copied."""


class DatabaseRefused(LeaderboardError):
    """The file defines something of its own that reading it would evaluate."""


class DatabaseQuarantined(LeaderboardError):
    """No reader survived this state of the file: it is not read again before it changes or somebody asks."""


class ReaderBusy(LeaderboardError):
    """The machine had no time for the process that reads: that says nothing about the file."""


class DatabaseDamaged(LeaderboardError):
    """The file did not change while it was copied, and still the copy does not open."""


class TornCopy(LeaderboardError):
    """The file changed during every attempt to copy it."""


class CopyUnderWay(LeaderboardError):
    """The copy that would answer is still being made; ``done`` of ``total`` bytes are there."""

    @property
    def done(self) -> int:
        return int(self.params["done"])

    @property
    def total(self) -> int:
        return int(self.params["total"])


class MissingTable(LeaderboardError):
    """The database lacks a table that the answer needs."""


class MissingColumn(LeaderboardError):
    """The database lacks a column that the answer needs."""


class CacheFolderError(LeaderboardError):
    """The private folder for copies cannot be made, or is not private."""


class UnknownRun(LeaderboardError, LookupError):
    """What was asked for is not in the database."""


class UnknownExecution(UnknownRun):
    """No such execution."""


class UnknownTeam(UnknownRun):
    """No such team in this execution."""


class UnknownRound(UnknownRun):
    """The team has not played this round."""


class PromptNotStored(UnknownRun):
    """The round is known, but what was sent to the team is not."""


class TaskUnknown(UnknownRun):
    """The execution has no summary, and so its task is stored nowhere by itself."""


# --- the prompt file ---------------------------------------------------------------------


class PromptFileError(BuilderError):
    """The prompt file cannot be read, merged or written."""


class PromptFileInvalid(PromptFileError, ValueError):
    """The content is not one that a prompt file may have."""


class PromptFileMissing(PromptFileError, FileNotFoundError):
    """A file that something names does not exist."""


class PromptFileRefused(PromptFileError):
    """What stands at the path is not written to: a link, no regular file, outside the workspace."""


class PromptFileUnwritable(PromptFileError):
    """The system did not let the file be read or written; what was there is intact."""


class PromptFileConflict(PromptFileError):
    """The file on disk is not the one that was expected; nothing was written.

    ``found`` is what stands there now, None where there is no file.
    """

    found: bytes | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return (*super().__reduce__(), {"found": self.found})


# --- the client --------------------------------------------------------------------------


class ClientError(BuilderError):
    """What a command that talks to a studio cannot do."""


class StudioUnreachable(ClientError):
    """No answer: the studio is away, or the network is."""


class StudioRefused(ClientError):
    """The studio said no; ``problem`` is its whole answer."""

    problem: dict[str, Any]

    @property
    def status(self) -> int:
        return int(self.params["status"])


# --- diff --------------------------------------------------------------------------------


class DiffTooLarge(BuilderError):
    """The texts are larger than a person could compare."""
