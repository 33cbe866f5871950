"""What a template would give: rendered in the jail, counted, and held against the last saved version."""

import json
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from django.urls import reverse

from builder.cache import tokens
from builder.cache.tokens import TokenCount
from builder.diff.lines import Diff, Section, compare, with_line_end
from builder.errors import CoolingDown, DiffTooLarge, JailError, Superseded
from builder.jail import Examination
from builder.template.dialect import Dialect
from builder.template.formatters import Values
from builder.template.variables import CURRENT_DATETIME, PromptKind
from studio.contexts.at_round import ContextAtRound, dialect_of
from studio.models import PromptSet
from studio.preview.budgets import BudgetView, budget_view, counter_of
from studio.preview.examinations import examine, findings_of
from studio.preview.source import SavedText
from studio.prompts.findings import Finding
from studio.shell.jail import status_of

MOST_SHOWN = 200_000
"""Characters of a prompt that a page shows; a browser that lays out a million stops answering."""
MOST_COMPARED = 200_000
MOST_LINES = 6_000
"""Both prompts together; beyond it, a comparison would hold up everybody else's preview."""

State = Literal["text", "problems", "wait", "unavailable"]


@dataclass(frozen=True)
class Change:
    """How the prompt differs from that of the last saved version."""

    version: int
    template_changed: bool
    diff: Diff | None
    """None where there is nothing to compare with, or too much of it."""

    @property
    def prompt_changed(self) -> bool:
        return self.diff is not None and not self.diff.is_same

    @property
    def added(self) -> int:
        """Lines of the prompt that the saved version's does not have."""
        return self.diff.added if self.diff else 0

    @property
    def removed(self) -> int:
        return self.diff.removed if self.diff else 0

    @property
    def sections(self) -> tuple[Section, ...]:
        return self.diff.sections(context=2) if self.diff else ()


class Answer:
    """What every preview says beside what it shows: findings, or why there are none."""

    findings: tuple[Finding, ...]
    refusal: JailError | None
    """Why the jail did not take the text: nothing is said about the text itself then."""

    @property
    def errors(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.severity == "error"]

    @property
    def remarks(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.severity != "error"]

    @property
    def state(self) -> State:
        if self.refusal is not None:
            return "wait" if isinstance(self.refusal, CoolingDown) else "unavailable"
        return "problems" if self.errors else "text"

    @property
    def status(self) -> int:
        """The answer's status: an error in a text is no error of the request."""
        return status_of(self.refusal)

    @property
    def seconds(self) -> int:
        """How long to wait."""
        return self.refusal.seconds if isinstance(self.refusal, CoolingDown) else 0

    @property
    def problems_json(self) -> str:
        """For the editor's gutter."""
        return json.dumps([finding.as_json for finding in self.findings], ensure_ascii=False)


@dataclass(frozen=True)
class Preview(Answer):
    """One template in one context at one round."""

    prompt_set: PromptSet
    kind: PromptKind
    at_round: ContextAtRound
    dialect: Dialect
    findings: tuple[Finding, ...] = ()
    text: str | None = None
    change: Change | None = None
    refusal: JailError | None = None
    template: str = ""

    @property
    def state(self) -> State:
        found = super().state
        return "problems" if found == "text" and self.text is None else found

    @property
    def shown(self) -> str:
        return (self.text or "")[:MOST_SHOWN]

    @property
    def is_cut(self) -> bool:
        return len(self.text or "") > MOST_SHOWN

    @property
    def characters(self) -> int:
        return len(self.text or "")

    @cached_property
    def tokens(self) -> TokenCount:
        return tokens.recount(self.text or "", counter_of(self.prompt_set))

    @cached_property
    def budget(self) -> BudgetView:
        """The prompt against what it may have."""
        return budget_view(
            self.prompt_set,
            self.kind,
            self.at_round,
            template=self.template,
            prompt=self.text or "",
            values=self.at_round.values(self.kind, self.dialect),
            counted=self.tokens,
        )

    @property
    def shows_sample_time(self) -> bool:
        return CURRENT_DATETIME.name in self.template

    @property
    def url(self) -> str:
        return reverse("prompt-preview", args=[self.prompt_set.slug])


def preview(
    prompt_set: PromptSet,
    saved: SavedText | None,
    kind: PromptKind,
    text: str,
    at_round: ContextAtRound,
    *,
    owner: str,
    topic: str,
) -> Preview:
    """The template in the context. Nothing is stored. Raises ``Superseded`` for a newer one's sake."""
    dialect = dialect_of(prompt_set)
    values = at_round.values(kind, dialect)
    blank = Preview(prompt_set, kind, at_round, dialect, template=text)
    try:
        examined = examine(kind, text, values, dialect, owner=owner, topic=topic)
        before = _saved_prompt(saved, kind, text, examined, values, dialect, owner)
    except Superseded:
        raise
    except JailError as refusal:
        return replace(blank, refusal=refusal)
    change = None
    if saved is not None and examined.text is not None:
        changed = saved.templates.by_kind[kind] != text
        change = Change(saved.number, changed, compare_prompts(before, examined.text))
    return replace(blank, findings=findings_of(kind, examined), text=examined.text, change=change)


def _saved_prompt(
    saved: SavedText | None,
    kind: PromptKind,
    text: str,
    examined: Examination,
    values: Values,
    dialect: Dialect,
    owner: str,
) -> str | None:
    """What the saved version gives in the same context; None where it gives nothing."""
    if saved is None or examined.text is None:
        return None
    template = saved.templates.by_kind[kind]
    if template == text:
        return examined.text
    return examine(kind, template, values, dialect, owner=owner).text


def compare_prompts(before: str | None, after: str) -> Diff | None:
    """How two prompts differ; ``None`` where there is too much to compare for a page."""
    if before is None or len(before) + len(after) > MOST_COMPARED:
        return None
    if before.count("\n") + after.count("\n") > MOST_LINES:
        return None
    try:
        return compare(with_line_end(before), with_line_end(after))
    except DiffTooLarge:
        return None
