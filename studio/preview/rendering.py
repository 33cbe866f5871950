"""The live preview: a template rendered in the jail, counted, and compared with the last saved version.

Used by the editor at every pause of somebody who types.
"""

import json
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal

from django.db import connection
from django.http import Http404
from django.urls import reverse

from builder.cache import tokens
from builder.cache.tokens import TokenCount
from builder.diff.lines import Diff, compare, with_line_end
from builder.errors import CoolingDown, DiffTooLarge, JailError, LimitExceeded, Superseded
from builder.template.dialect import Dialect
from builder.template.formatters import NeutralisedTag
from builder.template.models import RoundPromptContext
from builder.template.variables import CURRENT_DATETIME, PromptKind, field_name
from studio.contexts.at_round import ContextAtRound, context_at, dialect_of
from studio.models import LanguageModel, PromptSet, PromptVersion, SampleContext
from studio.preview.budgets import BudgetView, budget_view
from studio.preview.cacheable_prefix import counter_of
from studio.preview.examinations import examine, findings_of
from studio.prompts.findings import Finding
from studio.shell.jail import status_of

MOST_SHOWN = 200_000
"""Characters of a prompt that a page shows; a browser that lays out a million stops answering."""
MOST_COMPARED = 200_000
MOST_LINES = 6_000
"""Both prompts together; beyond it, a comparison would hold up everybody else's preview."""

State = Literal["text", "problems", "wait", "unavailable"]


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
    """One template in one context at one round, and how its prompt differs from the last saved version's."""

    prompt_set: PromptSet
    kind: PromptKind
    at_round: ContextAtRound
    template: str = ""
    findings: tuple[Finding, ...] = ()
    text: str | None = None
    saved: PromptVersion | None = None
    diff: Diff | None = None
    """None where there is nothing to compare with, or too much of it."""
    saved_text: str | None = None
    """The saved version's prompt, where this text gives none."""
    refusal: JailError | None = None

    @property
    def state(self) -> State:
        state = super().state
        return "problems" if state == "text" and self.text is None else state

    @property
    def dialect(self) -> Dialect:
        return dialect_of(self.prompt_set)

    @property
    def template_changed(self) -> bool:
        return self.saved is not None and _text_of(self.saved, self.kind) != self.template

    @property
    def shown(self) -> str:
        return (self.text or self.saved_text or "")[:MOST_SHOWN]

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
            values=self.at_round.values(self.kind, self.dialect, self.template),
            counted=self.tokens,
        )

    @property
    def neutralised(self) -> list[NeutralisedTag]:
        """Tags in the context that MixSeek spells differently in this prompt."""
        values = self.at_round.values(self.kind, self.dialect, self.template).values()
        if not any("&lt;" in value for value in values if isinstance(value, str)):
            return []
        return self.at_round.neutralised(self.kind, self.dialect, self.template)

    @property
    def shows_sample_time(self) -> bool:
        return CURRENT_DATETIME.name in self.template

    @property
    def url(self) -> str:
        return reverse("prompt-preview", args=[self.prompt_set.slug])


def preview(
    prompt_set: PromptSet,
    saved: PromptVersion | None,
    kind: PromptKind,
    text: str,
    at_round: ContextAtRound,
    *,
    owner: str,
    tab: str,
) -> Preview:
    """The template in the context. Nothing is stored.

    Raises ``Superseded`` where the same tab of a browser asks for a newer one.
    """
    dialect = dialect_of(prompt_set)
    values = at_round.values(kind, dialect, text)
    topic = preview_topic(prompt_set, kind, tab)
    shown = Preview(prompt_set, kind, at_round, text, saved=saved)
    try:
        examined = examine(kind, text, values, dialect, owner=owner, topic=topic)
        before = examined.text
        # Not after a limit: it took a worker, and the next one has still to start.
        is_stopped = isinstance(examined.failure, LimitExceeded)
        if saved is not None and shown.template_changed and not is_stopped:
            earlier = _text_of(saved, kind)
            values = at_round.values(kind, dialect, earlier)
            before = examine(kind, earlier, values, dialect, owner=owner).text
    except Superseded:
        raise
    except JailError as refusal:
        return replace(shown, refusal=refusal)
    shown = replace(shown, findings=findings_of(kind, examined), text=examined.text)
    if examined.text is None:
        return replace(shown, saved_text=before)
    return replace(shown, diff=compare_prompts(before, examined.text) if saved is not None else None)


def preview_topic(prompt_set: PromptSet, kind: PromptKind, tab: str) -> str:
    """What a newer preview takes the place of: an older one of the same tab of the browser."""
    return f"preview:{prompt_set.pk}:{kind}:{tab}"


def _text_of(version: PromptVersion, kind: PromptKind) -> str:
    return str(getattr(version, field_name(kind)))


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


# By hand: to build these joins out of querysets takes longer than to run them.
_SQL = """\
SELECT s.id, s.name, s.dialect, s.revision, v.content_hash, c.id, c.slug, c.name, c.submission, c.data,
  s.round_config, s.budgets, m.id, m.revision
FROM studio_promptset s
LEFT JOIN studio_languagemodel m ON m.id = s.language_model_id
LEFT JOIN studio_promptversion v ON v.prompt_set_id = s.id AND v.number = s.revision
LEFT JOIN studio_samplecontext c ON c.slug = %s AND (c.prompt_set_id = s.id OR c.prompt_set_id IS NULL)
WHERE s.slug = %s AND s.holds = 'prompts'
"""


def preview_source(
    slug: str, context_slug: str, number: int | None
) -> tuple[PromptSet, PromptVersion | None, ContextAtRound]:
    """What a preview is made from, in one query: it is asked for at every pause of somebody who types.

    The set of that address, its newest version, and the context at that round; a 404 where the set does not
    exist or the context is none of its own.
    """
    with connection.cursor() as cursor:
        cursor.execute(_SQL, [context_slug, slug])
        row = cursor.fetchone()
    if row is None or (context_slug and row[5] is None):
        raise Http404
    key, name, dialect, revision, content_hash, context_key, context_slug, title, submission, data = row[:10]
    prompt_set = PromptSet(pk=key, slug=slug, name=name, dialect=dialect, revision=revision)
    prompt_set.round_config, prompt_set.budgets = json.loads(row[10]), json.loads(row[11])
    if row[12] is not None:
        prompt_set.language_model = _model(row[12], row[13])
    saved = _version(key, revision, content_hash) if content_hash else None
    if context_key is None:
        return prompt_set, saved, ContextAtRound()
    context = SampleContext(pk=context_key, slug=context_slug, name=title, submission=submission)
    return prompt_set, saved, context_at(context, number, _context(data))


@lru_cache(maxsize=32)
def _model(key: int, revision: int) -> LanguageModel | None:
    """Its revision tells one state from the next."""
    return LanguageModel.objects.filter(pk=key, revision=revision).first()


@lru_cache(maxsize=32)
def _version(prompt_set: int, number: int, content_hash: str) -> PromptVersion:
    """Versions never change, and the hash tells them apart."""
    return PromptVersion.objects.get(prompt_set=prompt_set, number=number)


@lru_cache(maxsize=32)
def _context(data: str) -> RoundPromptContext:
    return RoundPromptContext.model_validate_json(data)
