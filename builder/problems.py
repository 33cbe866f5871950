"""``Problem``: what a check reports about a template, a file, a workspace, a field or a prompt's order.

Made by every check of the builder; printed by ``python -m builder check`` and ``system``, and shown by the
studio's pages in the reader's language. Crosses the jail's pipe as JSON.
"""

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from builder.messages import Language, advise, message, say

Severity = Literal["error", "warning", "hint"]
"""From what keeps a text from being used to what one may want to know."""

IN_TEMPLATE = message(
    "file-in-template",
    "{field}, line {template_line}: {sentence}",
    "{field} の{template_line}行目：{sentence}",
)

MOST_PROBLEMS = 100
"""Of one template or file. Nobody reads more, and whatever shows them must not have to."""
MORE = message(
    "problems-more",
    "And more: only the first {most} problems are listed.",
    "ほかにもあります。最初の{most}件だけを表示しています。",
    fix_en="Fix some of these, then check again.",
    fix_ja="いくつか直してから、もう一度確認してください。",
)


@dataclass(frozen=True)
class Problem:
    """One finding: how serious, what (``code`` and ``params`` make the sentences), and where.

    ``line`` and ``column`` count from 1 in the text that was checked, which is ``file`` where that is set.
    ``field`` is the key or the form's field that is wrong. For a template inside a file ``template_line``
    is its own line; where the file's line cannot be told, ``exact`` is false, ``line`` is that of the key,
    and the sentence names the template's line.
    """

    severity: Severity
    code: str
    line: int | None = None
    column: int | None = None
    params: dict[str, str | int] = dataclasses.field(default_factory=dict)
    replaces: str | None = None
    """The source text at ``line``:``column`` to be replaced; None for the whole text."""
    replacement: str | None = None
    """What to write instead, where a mechanical mend exists."""
    file: str | None = None
    field: str | None = None
    template_line: int | None = None
    exact: bool = True
    bytes_lost: int = 0
    """What a cache of prompts cannot keep because of it."""

    @property
    def message(self) -> str:
        return self.text()

    @property
    def suggestion(self) -> str:
        return self.advice()

    def text(self, language: Language = "en") -> str:
        sentence = say(self.code, self._values, language)
        if self.exact:
            return sentence
        return say(IN_TEMPLATE, {**self._place, "sentence": sentence}, language)

    def advice(self, language: Language = "en") -> str:
        return advise(self.code, self._values, language)

    @property
    def _place(self) -> dict[str, str | int]:
        named = {
            "file": self.file,
            "line": self.line,
            "field": self.field,
            "template_line": self.template_line,
        }
        return {name: value for name, value in named.items() if value is not None}

    @property
    def _values(self) -> dict[str, str | int]:
        return self._place | self.params

    def as_json(self) -> dict[str, Any]:
        """The wire format of the jail; ``from_json`` reads it back."""
        return dict(vars(self))

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Problem":
        return cls(**data)


def in_order(problems: Iterable[Problem]) -> list[Problem]:
    """By line and column, as a person reads the text."""
    return sorted(problems, key=lambda problem: (problem.line or 1, problem.column or 0))


def cut(problems: Sequence[Problem], most: int = MOST_PROBLEMS) -> list[Problem]:
    """At most so many in the order of lines, errors before warnings before hints, and a last one that says
    that there are more: as serious as the worst that was left out."""
    if len(problems) <= most:
        return in_order(problems)
    severities: tuple[Severity, ...] = get_args(Severity)
    ranked = sorted(in_order(problems), key=lambda problem: severities.index(problem.severity))
    kept = in_order(ranked[:most])
    last, worst = kept[-1], ranked[most]
    return [*kept, Problem(worst.severity, MORE, last.line, params={"most": most}, file=last.file)]


def errors_in(problems: Iterable[Problem]) -> list[Problem]:
    """Those that keep a template from being saved or delivered."""
    return [problem for problem in problems if problem.severity == "error"]
