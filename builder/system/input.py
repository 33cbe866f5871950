"""The input of a system prompt: plain values, nothing that would have to be looked up. Gathered by
``workspace_scan``, or by a program itself; taken by ``prompt``."""

from typing import Annotated, Literal, get_args

from pydantic import ConfigDict, Field, StrictBool, field_validator
from pydantic_core import PydanticCustomError

from builder.errors import TimezoneError
from builder.template.formatters import timezone
from builder.template.models import Record

PromptMode = Literal["full", "minimal", "none"]
MODES: tuple[PromptMode, ...] = get_args(PromptMode)

SectionId = Literal[
    "identity",
    "tooling",
    "skills",
    "self_update",
    "workspace",
    "documentation",
    "workspace_files",
    "project_context",
    "sandbox",
    "time",
    "reply_tags",
    "heartbeats",
    "runtime",
    "reasoning",
]
SECTION_IDS: tuple[SectionId, ...] = get_args(SectionId)
"""In the order in which they stand; it is the same in every prompt."""

IN_MODE: dict[PromptMode, frozenset[SectionId]] = {
    "full": frozenset(SECTION_IDS),
    "minimal": frozenset(
        {"identity", "tooling", "workspace", "project_context", "sandbox", "time", "runtime"}
    ),
    "none": frozenset({"identity"}),
}

Truncation = Literal["head", "head_tail"]
TimeFormat = Literal["auto", "12", "24"]
SandboxAccess = Literal["none", "ro", "rw"]
ElevatedLevel = Literal["off", "on", "ask", "full"]
ReasoningLevel = Literal["off", "on", "stream"]

IDENTITY_LINE = "You are an agent at work in a workspace."
BOOTSTRAP_MAX_CHARS = 20_000
SKILLS_MAX_CHARS = 18_000

NOT_A_TIMEZONE: Literal["not_a_timezone"] = "not_a_timezone"
NOT_ONE_LINE: Literal["not_one_line"] = "not_one_line"


class Part(Record):
    """What all of these have in common: they do not change, and know no other fields."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True, from_attributes=False)


def one_line(text: str) -> str:
    """Refuse what would break out of its line, and what is nothing at all."""
    if not text.strip() or text.splitlines() != [text]:
        raise PydanticCustomError(NOT_ONE_LINE, "Input should be one line of text")
    return text


def known_timezone(name: str | None) -> str | None:
    try:
        timezone(name)
    except TimezoneError:
        raise PydanticCustomError(NOT_A_TIMEZONE, "Input should be a time zone") from None
    return name


class Tool(Part):
    """A tool that the agent may call."""

    name: str
    summary: str = ""

    _one_line = field_validator("name")(one_line)

    @field_validator("summary")
    @classmethod
    def _in_its_line(cls, summary: str) -> str:
        return " ".join(summary.split())


class Skill(Part):
    """A skill by reference: where its SKILL.md lies, not what it says."""

    name: str
    description: str
    location: str


class BootstrapFile(Part):
    """A file whose text goes into the prompt; ``content`` is None where there is none to show.

    Of a file that is much longer than its limit, ``content`` may hold only what the limit can let
    through: ``abridged`` says so, and ``size`` how many bytes the file has.
    """

    name: str
    content: str | None
    size: int | None = None
    abridged: bool = False

    _one_line = field_validator("name")(one_line)


class Sandbox(Part):
    """Where the agent's tools run when they are fenced in."""

    enabled: StrictBool = False
    workspace_dir: str | None = None
    access: SandboxAccess = "none"
    elevated_allowed: StrictBool = False
    elevated_level: ElevatedLevel = "off"


class Runtime(Part):
    """The machine and the model; what is empty is not mentioned."""

    host: str = ""
    os: str = ""
    python: str = ""
    node: str = ""
    workspace: str = ""
    model: str = ""
    repo_root: str = ""
    thinking: str = "off"


class SystemPromptInput(Part):
    """All that the renderer knows. Two equal inputs give the same prompt, to the byte.

    >>> SystemPromptInput(workspace_dir="/srv/agent").mode
    'full'
    """

    identity_line: str = IDENTITY_LINE
    mode: PromptMode = "full"
    workspace_dir: str
    docs_path: str | None = None
    extra_context: str | None = None
    disabled_sections: frozenset[SectionId] = frozenset()
    tools: tuple[Tool, ...] = ()
    skills: tuple[Skill, ...] = ()
    skills_max_chars: Annotated[int, Field(gt=0)] = SKILLS_MAX_CHARS
    self_update: bool = False
    bootstrap: tuple[BootstrapFile, ...] = ()
    bootstrap_max_chars: Annotated[int, Field(gt=0, alias="bootstrapMaxChars")] = BOOTSTRAP_MAX_CHARS
    bootstrap_total_max_chars: Annotated[int | None, Field(gt=0, alias="bootstrapTotalMaxChars")] = None
    truncation: Truncation = "head"
    sandbox: Sandbox | None = None
    timezone: Annotated[str | None, Field(alias="userTimezone")] = None
    time_format: Annotated[TimeFormat, Field(alias="timeFormat")] = "auto"
    reply_tags: bool = False
    heartbeat_prompt: str | None = None
    runtime: Runtime = Runtime()
    reasoning_level: ReasoningLevel = "off"

    _one_line = field_validator("identity_line")(one_line)
    _known_timezone = field_validator("timezone")(known_timezone)
