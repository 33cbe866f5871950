"""A built system prompt: its text, and for each part of it what it costs and why it is there or not."""

import hashlib
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Self

from builder.cache.tokens import TokenCount, count
from builder.messages import Language, say
from builder.problems import Problem
from builder.system.input import PromptMode, SectionId

SEPARATOR = "\n\n"
"""What stands between two sections: one blank line."""

COUNTED_AS = "o200k_base"
"""The vocabulary that counts where no model is named."""

ChangesWith = Literal["static", "workspace", "session"]
"""What makes a section change: our own wording, an edit of the workspace's files, or the next session."""


@dataclass(frozen=True)
class Reason:
    """Why a section or a skill is not in the text."""

    code: str
    params: dict[str, str | int] = field(default_factory=dict)

    def text(self, language: Language = "en") -> str:
        return say(self.code, self.params, language)


@dataclass(frozen=True)
class Section:
    """One of the fixed sections; of an omitted one only the reason is known.

    ``number`` is the contract's; the injected files, which it lists apart, have none.
    """

    id: SectionId
    number: int | None
    title: str
    stability: ChangesWith
    text: str = field(default="", repr=False)
    start_byte: int | None = None
    reason: Reason | None = None
    model: str = COUNTED_AS

    @property
    def status(self) -> Literal["included", "omitted"]:
        return "omitted" if self.reason else "included"

    @property
    def chars(self) -> int:
        return len(self.text)

    @cached_property
    def bytes(self) -> int:
        return len(self.text.encode())

    @cached_property
    def tokens(self) -> TokenCount:
        """Counted when first asked for: the vocabularies are large, and not every build is looked at."""
        return count(self.text, self.model)


@dataclass(frozen=True)
class FileUse:
    """A bootstrap file: what it has and what of it went into the prompt.

    ``chars`` is None where the file was too long to be read whole for a limit that cuts it anyway.
    """

    name: str
    status: Literal["whole", "truncated", "missing", "refused"]
    size: int | None
    chars: int | None
    injected: str = field(repr=False)
    model: str = COUNTED_AS

    @property
    def injected_chars(self) -> int:
        return len(self.injected)

    @cached_property
    def tokens(self) -> TokenCount:
        return count(self.injected, self.model)


@dataclass(frozen=True)
class SkillUse:
    """A skill: how it stands in the prompt, or why it does not."""

    name: str
    description: str
    location: str
    status: Literal["listed", "without_description", "left_out", "disabled"]
    reference: str = field(default="", repr=False)
    model: str = COUNTED_AS

    @cached_property
    def tokens(self) -> TokenCount:
        """What the reference costs."""
        return count(self.reference, self.model)


@dataclass(frozen=True, eq=False, repr=False)
class BuiltPrompt(str):
    """The prompt, a ``str``, and its parts beside it. The included sections, joined by ``SEPARATOR``, are
    the text exactly."""

    def __new__(cls, mode: PromptMode, text: str, *parts: object, **named: object) -> Self:
        return super().__new__(cls, text)

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        return self.mode, self.text

    mode: PromptMode
    text: str = field(repr=False)
    sections: tuple[Section, ...]
    files: tuple[FileUse, ...] = ()
    skills: tuple[SkillUse, ...] = ()
    diagnostics: tuple[Problem, ...] = ()
    """What a person should know about the workspace; the prompt is built nevertheless."""
    model: str = COUNTED_AS

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<BuiltPrompt {self.mode}: {self.chars} characters, {len(self.included)} sections>"

    @property
    def chars(self) -> int:
        return len(self.text)

    @cached_property
    def bytes(self) -> int:
        return len(self.text.encode())

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    @cached_property
    def tokens(self) -> TokenCount:
        """Of the whole text; its sections by themselves may add up to a few more."""
        return count(self.text, self.model)

    @property
    def included(self) -> tuple[Section, ...]:
        return tuple(section for section in self.sections if section.status == "included")

    def as_json(self) -> dict[str, Any]:
        """For a snapshot that outlives the folder and our wording; ``from_json`` reads it back."""
        kept = ("severity", "code", "file", "line", "params")
        diagnostics = tuple({name: getattr(problem, name) for name in kept} for problem in self.diagnostics)
        return {**asdict(replace(self, diagnostics=())), "diagnostics": diagnostics}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "BuiltPrompt":
        return cls(
            data["mode"],
            data["text"],
            tuple(
                Section(**{**section, "reason": Reason(**section["reason"]) if section["reason"] else None})
                for section in data["sections"]
            ),
            tuple(FileUse(**use) for use in data["files"]),
            tuple(SkillUse(**use) for use in data["skills"]),
            tuple(Problem(**problem) for problem in data["diagnostics"]),
            data["model"],
        )

    def section(self, wanted: SectionId) -> Section:
        return next(section for section in self.sections if section.id == wanted)
