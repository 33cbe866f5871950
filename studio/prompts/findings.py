"""Findings: what pages show as wrong or worth knowing, made from the builder's problems and errors here.

Used by the editor, previews, comparisons, imports and exports, and by the states of workspaces.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, get_args

from builder.errors import BuilderError
from builder.problems import Problem, Severity
from studio.prompts.texts import TEXT_KINDS, TextKind
from studio.shell.language import reader_language


@dataclass(frozen=True)
class Finding:
    """How serious, what and what to do about it in the reader's language, and where."""

    severity: Severity
    text: str
    advice: str = ""
    code: str = ""
    kind: TextKind | None = None
    """Which text of a version it is about."""
    file: str = ""
    """The file or folder that it is about, where that is no text of a version."""
    line: int | None = None
    column: int | None = None
    replaces: str | None = None
    replacement: str | None = None
    template_line: int | None = None
    """The line of the template that stands in a file, where ``line`` is the file's."""
    bytes_lost: int = 0
    """What a cache of prompts cannot keep because of it."""
    where: str = ""
    """The sample context and round that it shows in, where it does not show in all."""

    @classmethod
    def of(
        cls, problem: Problem | BuilderError, kind: TextKind | None = None, *, file: str = "", where: str = ""
    ) -> "Finding":
        """What a check reports; or an error, such as a rendering that failed or met a limit."""
        language = reader_language()
        text, advice = problem.text(language), problem.advice(language)
        if isinstance(problem, BuilderError):
            return cls("error", text, advice, problem.code, kind, file, problem.line, where=where)
        return cls(
            problem.severity,
            text,
            advice,
            problem.code,
            kind,
            file,
            problem.line,
            problem.column,
            problem.replaces,
            problem.replacement,
            problem.template_line,
            problem.bytes_lost,
            where,
        )

    @property
    def is_limit(self) -> bool:
        """Whether the text was stopped: it would be again."""
        return self.code.startswith("jail-")

    @property
    def as_json(self) -> dict[str, Any]:
        """What the editor's gutter reads; a finding without a line stands on the first."""
        return {
            "severity": self.severity,
            "code": self.code,
            "line": self.line or 1,
            "column": self.column,
            "message": f"{self.where}: {self.text}" if self.where else self.text,
            "suggestion": self.advice,
            "replaces": self.replaces,
            "replacement": self.replacement,
        }


def errors_of(findings: Iterable[Finding]) -> list[Finding]:
    """Those that keep a text from being used."""
    return [finding for finding in findings if finding.severity == "error"]


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Errors first, then line by line: no hint stands before what keeps one from saving."""
    severities: tuple[Severity, ...] = get_args(Severity)
    return sorted(
        findings,
        key=lambda finding: (
            severities.index(finding.severity),
            TEXT_KINDS.index(finding.kind) if finding.kind else 0,
            finding.line or 0,
            finding.column or 0,
        ),
    )
