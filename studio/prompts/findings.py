"""What is wrong with a text, as pages and the editor show it: where, what, and what to write instead."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, get_args

from builder.errors import BuilderError
from builder.problems import Problem, Severity
from studio.prompts.texts import TEXT_KINDS, TextKind
from studio.shell.language import reader_language


@dataclass(frozen=True)
class Finding:
    """A problem of one text in the reader's language."""

    kind: TextKind
    severity: Severity
    code: str
    message: str
    suggestion: str = ""
    line: int | None = None
    column: int | None = None
    replaces: str | None = None
    replacement: str | None = None
    where: str = ""
    """The sample context and round that it shows in, where it does not show in all."""

    @property
    def as_json(self) -> dict[str, Any]:
        """What the editor's gutter reads; a problem without a line stands on the first."""
        return {
            "severity": self.severity,
            "code": self.code,
            "line": self.line or 1,
            "column": self.column,
            "message": f"{self.where}: {self.message}" if self.where else self.message,
            "suggestion": self.suggestion,
            "replaces": self.replaces,
            "replacement": self.replacement,
        }

    @classmethod
    def of_problem(cls, kind: TextKind, problem: Problem) -> "Finding":
        """A finding of the check."""
        language = reader_language()
        return cls(
            kind,
            problem.severity,
            problem.code,
            problem.text(language),
            problem.advice(language),
            problem.line,
            problem.column,
            problem.replaces,
            problem.replacement,
        )

    @classmethod
    def of_error(cls, kind: TextKind, error: BuilderError, where: str = "") -> "Finding":
        """A rendering that failed or met a limit."""
        language = reader_language()
        return cls(
            kind, "error", error.code, error.text(language), error.advice(language), error.line, where=where
        )


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Line by line, of one line the errors first: no hint stands before what keeps one from saving."""
    severities: tuple[Severity, ...] = get_args(Severity)
    return sorted(
        findings,
        key=lambda each: (
            TEXT_KINDS.index(each.kind),
            each.line or 0,
            severities.index(each.severity),
            each.column or 0,
        ),
    )
