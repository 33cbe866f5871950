"""The settings of a workspace's system prompt, as the table ``[system_prompt]`` names them. Read by ``file``,
used by the scan of a workspace."""

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StrictBool, StrictInt, field_validator, model_validator
from pydantic_core import PydanticCustomError

from builder.system.input import (
    BOOTSTRAP_MAX_CHARS,
    IDENTITY_LINE,
    SKILLS_MAX_CHARS,
    Part,
    PromptMode,
    ReasoningLevel,
    Sandbox,
    SectionId,
    TimeFormat,
    Tool,
    Truncation,
    known_timezone,
    one_line,
)

BOOTSTRAP_FILES = ("IDENTITY.md", "SOUL.md", "AGENTS.md", "USER.md", "HEARTBEAT.md")
TOOLS = (
    Tool(name="read", summary="Read files from the workspace"),
    Tool(name="write", summary="Write files to the workspace"),
    Tool(name="exec", summary="Execute shell commands"),
    Tool(name="session_status", summary="Get current time and session info"),
)
"""The contract's, for a workspace that declares none of its own."""

MOST_CHARS = 10_000_000
"""A limit above any model's context; it bounds what one file can make us read."""

NOT_INSIDE: Literal["not_inside"] = "not_inside"

# Of the contract's examples, flat or below agents.defaults: where these keys have their place in the file.
_FLAT = {
    "bootstrapMaxChars": "bootstrap",
    "bootstrapTotalMaxChars": "bootstrap",
    "userTimezone": "time",
    "timeFormat": "time",
}
_DEFAULTS = {"workspace": "workspace_dir"}


def _inside(name: str) -> str:
    """A path that begins in the workspace and does not leave it; links are looked at when it is read."""
    path = PurePosixPath(one_line(name))
    if path.is_absolute() or ".." in path.parts or not path.parts or name.startswith("~") or "\0" in name:
        raise PydanticCustomError(NOT_INSIDE, "Input should be a path inside the workspace")
    return str(path)


def is_outside(name: str) -> bool:
    """Whether a folder is named from the home folder or the root of the disk."""
    return name.startswith(("~/", "/"))


def _folder(name: str) -> str:
    """One inside, or one outside; of those the scan reads what the operator allows."""
    if not is_outside(name):
        return _inside(name)
    start = name[: name.index("/") + 1]
    return start + _inside(name.removeprefix(start))


Inside = Annotated[str, AfterValidator(_inside)]
Folder = Annotated[str, AfterValidator(_folder)]
Chars = Annotated[StrictInt, Field(gt=0, le=MOST_CHARS)]


class BootstrapConfig(Part):
    """Which files are injected, and how much of them."""

    files: Annotated[tuple[Inside, ...], Field(max_length=64)] = BOOTSTRAP_FILES
    bootstrap_max_chars: Annotated[Chars, Field(alias="bootstrapMaxChars")] = BOOTSTRAP_MAX_CHARS
    bootstrap_total_max_chars: Annotated[Chars | None, Field(alias="bootstrapTotalMaxChars")] = None
    truncation: Truncation = "head"

    @field_validator("files")
    @classmethod
    def _once(cls, files: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(files))


class SkillsConfig(Part):
    """Where skills lie, which are not offered, and how long their list may be.

    A folder outside of the workspace (``~/.clawdbot/skills``) is read where the operator allows it.
    """

    dirs: Annotated[tuple[Folder, ...], Field(max_length=16)] = ("skills",)
    disabled: frozenset[str] = frozenset()
    max_chars: Chars = SKILLS_MAX_CHARS


class TimeConfig(Part):
    """The user's zone and clock; the time itself is no setting."""

    timezone: Annotated[str | None, Field(alias="userTimezone")] = None
    time_format: Annotated[TimeFormat, Field(alias="timeFormat")] = "auto"

    _known_timezone = field_validator("timezone")(known_timezone)

    @field_validator("time_format", mode="before")
    @classmethod
    def _as_text(cls, value: object) -> object:
        return str(value) if value in (12, 24) else value


class RuntimeConfig(Part):
    """What the agent's machine is; None is looked up, an empty text keeps a fact out of the prompt."""

    host: str | None = None
    os: str | None = None
    python: str | None = None
    node: str = ""
    workspace: str | None = None
    model: str = ""
    repo_root: str | None = None
    thinking: str = "off"

    @field_validator("*")
    @classmethod
    def _one_line(cls, value: str | None) -> str | None:
        return one_line(value) if value else value


class SystemPromptConfig(Part):
    """The whole table; its defaults are a workspace without the file."""

    mode: PromptMode = "full"
    identity_line: str = IDENTITY_LINE
    workspace_dir: str = "."
    docs_path: str | None = None
    extra_context: str | None = None
    disabled_sections: frozenset[SectionId] = frozenset()
    self_update: StrictBool = False
    reply_tags: StrictBool = False
    heartbeat_prompt: str | None = None
    reasoning_level: ReasoningLevel = "off"
    bootstrap: BootstrapConfig = BootstrapConfig()
    skills: SkillsConfig = SkillsConfig()
    time: TimeConfig = TimeConfig()
    sandbox: Sandbox | None = None
    runtime: RuntimeConfig = RuntimeConfig()
    tools: Annotated[tuple[Tool, ...], Field(max_length=500)] = TOOLS

    @field_validator("identity_line", "workspace_dir", "docs_path")
    @classmethod
    def _one_line(cls, value: str | None) -> str | None:
        return value if value is None else one_line(value)

    @model_validator(mode="before")
    @classmethod
    def _from_flat(cls, values: Any) -> Any:
        """The contract's own examples hand in ``{"bootstrapMaxChars": …}`` without tables, or below
        ``{"agents": {"defaults": …}}``."""
        if not isinstance(values, Mapping):
            return values
        match values.get("agents"):
            case {"defaults": Mapping() as defaults, **others} if not others:
                renamed = {_DEFAULTS.get(key, key): value for key, value in defaults.items()}
                values = {**renamed, **{key: value for key, value in values.items() if key != "agents"}}
        if not _FLAT.keys() & values.keys():
            return values
        nested = {key: value for key, value in values.items() if key not in _FLAT}
        for key in _FLAT.keys() & values.keys():
            table = nested.get(_FLAT[key], {})
            if not isinstance(table, Mapping):
                return values
            nested[_FLAT[key]] = {key: values[key], **table}
        return nested
