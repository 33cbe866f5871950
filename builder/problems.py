"""What a check reports: where, how serious, what, and what to write instead."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from builder.messages import Language, advise, say

Severity = Literal["error", "warning", "hint"]


@dataclass(frozen=True)
class Problem:
    """One finding of a check. ``line`` and ``column`` count from 1.

    Where a mechanical mend exists, ``replacement`` takes the place of the source text
    ``replaces``, which stands at ``line``:``column``.
    """

    severity: Severity
    code: str
    line: int
    column: int | None = None
    params: dict[str, str | int] = field(default_factory=dict)
    replaces: str | None = None
    replacement: str | None = None

    @property
    def message(self) -> str:
        return self.text()

    @property
    def suggestion(self) -> str:
        return self.advice()

    def text(self, language: Language = "en") -> str:
        return say(self.code, self.params, language)

    def advice(self, language: Language = "en") -> str:
        return advise(self.code, self.params, language)

    def as_json(self) -> dict[str, Any]:
        """The wire format of the jail; ``from_json`` reads it back."""
        return {
            "severity": self.severity,
            "code": self.code,
            "line": self.line,
            "column": self.column,
            "params": self.params,
            "replaces": self.replaces,
            "replacement": self.replacement,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Problem":
        return cls(**data)


def errors_in(problems: Iterable[Problem]) -> list[Problem]:
    """Those that keep a template from being saved or delivered."""
    return [problem for problem in problems if problem.severity == "error"]
