"""The text of `system_prompt.toml` as the jail reads it: its findings and its settings.

Used by saves, exports and the preview of a system prompt.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from builder.errors import LimitExceeded, PromptFileInvalid
from builder.problems import Problem
from builder.system.config import SystemPromptConfig
from builder.system.file import SYSTEM_PROMPT_FILE, unreadable
from studio.prompts.findings import Finding, in_order
from studio.shell.jail import pool


@dataclass(frozen=True)
class Setting:
    """One setting as it was read."""

    name: str
    value: str
    given: bool
    """Whether the text says so; else it is the usual value."""


@dataclass(frozen=True)
class ReadText:
    """What the jail and the check make of a text."""

    findings: tuple[Finding, ...]
    settings: tuple[Setting, ...] = ()
    config: SystemPromptConfig | None = None
    """What the settings are to the builder; none where the text has errors."""

    @property
    def errors(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.severity == "error"]


def read_text(text: str, *, owner: str) -> ReadText:
    """Read the text in the jail, whose errors are raised; what the text itself has is told."""
    try:
        settings = pool().system_settings(text.encode(), str(SYSTEM_PROMPT_FILE), owner=owner)
    except PromptFileInvalid as error:
        return ReadText((_finding(unreadable(error), text),))
    except LimitExceeded as stop:
        return ReadText((Finding.of(stop, "system"),))
    read = ReadText(tuple(in_order(_finding(problem, text) for problem in settings.problems)))
    if settings.config is None:
        return read
    return replace(read, settings=tuple(_settings(settings.config, settings.values)), config=settings.config)


def _finding(problem: Problem, text: str) -> Finding:
    """With what to write instead, where the file's own line has the word that was meant otherwise."""
    finding = Finding.of(problem, "system")
    meant, word = problem.params.get("meant"), str(problem.params.get("field", "")).rpartition(".")[2]
    lines, line = text.split("\n"), problem.line or 1
    if not meant or not word or line > len(lines) or word not in lines[line - 1]:
        return finding
    column = lines[line - 1].index(word) + 1
    return replace(finding, column=column, replaces=word, replacement=str(meant))


def _settings(config: SystemPromptConfig, given: Mapping[str, Any]) -> Iterator[Setting]:
    for name, value in config.model_dump(by_alias=True).items():
        if isinstance(value, Mapping):
            inner = given.get(name)
            inside = inner if isinstance(inner, Mapping) else {}
            for key, inner_value in value.items():
                yield Setting(f"{name}.{key}", _shown(inner_value), key in inside or key in given)
        else:
            yield Setting(name, _shown(value), name in given)


def _shown(value: object) -> str:
    if value is None or value == "":
        return "–"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return str(value.get("name", value))
    if isinstance(value, list | tuple | frozenset | set):
        several = sorted(value) if isinstance(value, frozenset | set) else value
        return ", ".join(map(_shown, several)) or "–"
    return str(value)
