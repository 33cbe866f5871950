"""The cacheable prefix of a prompt: how much of its beginning stays the same, so that a cache can keep it.

Used by the editor's preview, by pages of versions and comparisons, and by costs.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Literal

from builder.cache import tokens
from builder.cache.cacheable_prefix import DEFAULT_MODEL, PrefixAnalysis, shared_prefix
from builder.cache.tokens import TokenCount
from builder.diff.lines import Diff, Section, compare
from builder.errors import DiffTooLarge
from builder.template.dialect import Dialect
from builder.template.formatters import Values, variables
from builder.template.rounds import seen_at
from builder.template.variables import KINDS, PromptKind, field_name
from studio.contexts.at_round import SAMPLE_TIME, ContextAtRound, dialect_of
from studio.models import Draft, PromptSet
from studio.preview.examinations import examine
from studio.prompts.drafts import CopyReason
from studio.prompts.findings import Finding
from studio.prompts.texts import Templates, user_prompts
from studio.shell.jail import pool
from studio.shell.language import reader_language
from studio.shell.sized_cache import SizedCache

A_ROUND_LATER = timedelta(minutes=7, seconds=13)
"""Two rounds never have the same time: with the sample time in both, what is observed would go on past it."""
SHOWN_LINES = 2
"""Around each change of a suggested order."""
MOST_CHARACTERS = 4_000_000

Name = Literal["task", "round"]
LEVELS: Mapping[Name, Literal[1, 2]] = {"task": 1, "round": 2}
"""What has to be equal, and the classes of variables that are equal then."""

_kept: SizedCache[PrefixAnalysis] = SizedCache(MOST_CHARACTERS)


class _Share:
    """Bytes of a beginning, and of the prompt that it begins."""

    bytes: int
    total: int

    @property
    def percent(self) -> int:
        """Rounded down: nothing but the whole is 100 %."""
        return 100 * self.bytes // self.total if self.total else 100


@dataclass(frozen=True)
class Prefix(_Share):
    """The beginning that all prompts of one task, or of one round, are sure to share."""

    name: Name
    bytes: int
    total: int
    tokens: TokenCount
    units: int
    """Of the prompt, as a browser counts: a character beyond the basic plane is two."""
    source_units: int
    """Of the template."""
    culprit: str = ""
    line: int | None = None


@dataclass(frozen=True)
class Observed(_Share):
    """What the prompts of two consecutive rounds of the context have in common at their beginning."""

    first: int
    second: int
    bytes: int
    total: int
    tokens: TokenCount


@dataclass(frozen=True)
class Hint:
    """What costs a cache its beginning, and the order that would not."""

    finding: Finding
    template: str

    @property
    def key(self) -> str:
        """Stands for the hint and for the text it suggests: nothing else is taken for it."""
        suggested = (self.finding.replacement or "").encode("utf-8", "surrogatepass")
        return f"{self.finding.code}-{self.finding.line}-{hashlib.sha256(suggested).hexdigest()[:12]}"

    @property
    def suggestion(self) -> str | None:
        """The template in another order; None where there is nothing to suggest."""
        return None if self.finding.replacement == self.template else self.finding.replacement

    @cached_property
    def _compared(self) -> Diff | DiffTooLarge:
        try:
            return compare(self.template, self.suggestion or "")
        except DiffTooLarge as error:
            return error

    @property
    def sections(self) -> tuple[Section, ...]:
        """The suggested order beside the template."""
        return self._compared.sections(context=SHOWN_LINES) if isinstance(self._compared, Diff) else ()

    @property
    def too_large(self) -> str:
        """Why there are no sections."""
        return "" if isinstance(self._compared, Diff) else self._compared.text(reader_language())


@dataclass(frozen=True)
class CacheablePrefixes:
    """One template in one context at one round."""

    kind: PromptKind
    prefixes: tuple[Prefix, ...]
    """Of the same task, then of the same round."""
    hints: tuple[Hint, ...] = ()
    observed: Observed | None = None
    """None where the context has no second round, or the template gives no prompt there."""

    @property
    def task(self) -> Prefix:
        return self.prefixes[0]

    @property
    def round(self) -> Prefix:
        return self.prefixes[1]


def prefixes_of(
    prompt_set: PromptSet, kind: PromptKind, text: str, at_round: ContextAtRound, owner: str
) -> CacheablePrefixes | None:
    """What is guaranteed, what is observed and what could be better; ``None`` for a text without a prompt.

    Cached for the same text and values. Raises ``JailError`` where the jail takes no jobs.
    """
    prefixes = guaranteed(prompt_set, kind, text, at_round, owner)
    return prefixes and replace(prefixes, observed=_observed(prompt_set, kind, text, at_round, owner))


def guaranteed(
    prompt_set: PromptSet, kind: PromptKind, text: str, at_round: ContextAtRound, owner: str
) -> CacheablePrefixes | None:
    """The same without a look at another round."""
    dialect, counter = dialect_of(prompt_set), counter_of(prompt_set)
    minimum = prompt_set.language_model.cache_minimum if prompt_set.language_model else None
    values = at_round.values(kind, dialect, text)
    key = (kind, text, dialect, minimum, counter, *values.values())
    analysis = _kept.get(key)
    if analysis is None:
        analysis = pool().cacheable_prefixes(
            kind, text, values, dialect, minimum_tokens=minimum, model=counter, owner=owner
        )
        if analysis is None:
            return None
        made = sum(prefix.chars for prefix in analysis.prefixes)
        suggested = sum(len(lint.replacement or "") for lint in analysis.lints)
        values_size = sum(len(str(value)) for value in values.values())
        _kept.put(key, analysis, len(text) + made + suggested + values_size)
    return CacheablePrefixes(
        kind,
        tuple(_prefix(name, level, analysis, text, counter) for name, level in LEVELS.items()),
        tuple(Hint(Finding.of(lint, kind), text) for lint in analysis.lints),
    )


def _prefix(
    name: Name, level: Literal[1, 2], analysis: PrefixAnalysis, template: str, counter: str
) -> Prefix:
    prefix = analysis.prefix(level)
    return Prefix(
        name,
        prefix.bytes,
        analysis.total_bytes,
        tokens.recount(prefix.text, counter),
        _units(prefix.text),
        _units(template[: prefix.source_end]),
        prefix.culprit,
        prefix.culprit_line,
    )


def _observed(
    prompt_set: PromptSet, kind: PromptKind, text: str, at_round: ContextAtRound, owner: str
) -> Observed | None:
    number = at_round.round
    other = next((near for near in (number + 1, number - 1) if near in at_round.rounds), None)
    if other is None:
        return None
    first, second = sorted((number, other))
    dialect = dialect_of(prompt_set)
    one, two = (
        examine(
            kind,
            text,
            _values_at(at_round, kind, near, dialect, text, later=near == second),
            dialect,
            owner=owner,
        ).text
        for near in (first, second)
    )
    if one is None or two is None:
        return None
    characters, size = shared_prefix(one, two)
    shown = one if number == first else two
    counted = tokens.recount(one[:characters], counter_of(prompt_set))
    return Observed(first, second, size, len(shown.encode("utf-8", "surrogatepass")), counted)


def _values_at(
    at_round: ContextAtRound, kind: PromptKind, number: int, dialect: Dialect, text: str, *, later: bool
) -> Values:
    """The context at that round, the later one of the two at a later time."""
    if not later or at_round.context is None or at_round.whole is None:
        return replace(at_round, round=number).values(kind, dialect, text)
    seen = seen_at(kind, at_round.whole, at_round.context.submission, number)
    return variables(kind, seen, None, SAMPLE_TIME + A_ROUND_LATER, dialect, text)


def counter_of(prompt_set: PromptSet) -> str:
    """Whose tokens are counted: those of the set's model, else of the newest OpenAI models."""
    return prompt_set.language_model.name if prompt_set.language_model else DEFAULT_MODEL


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


class NoSuchHint(Exception):
    """The text is another one by now, or the suggestion is."""


def take_order(draft: Draft, kind: PromptKind, at_round: ContextAtRound, key: str, *, at: datetime) -> Draft:
    """The draft with that template in the order of a hint; what it held before is put aside.

    Raises ``NoSuchHint``, ``StaleRevision`` where the draft was written to meanwhile, or the jail's errors.
    """
    texts = user_prompts(draft.templates)
    prefixes = guaranteed(draft.prompt_set, kind, texts.by_kind[kind], at_round, str(draft.person_id))
    hints = prefixes.hints if prefixes else ()
    suggestion = next((hint.finding.replacement for hint in hints if hint.key == key), None)
    if suggestion is None:
        raise NoSuchHint
    chosen = replace(draft.sent, templates=replace(texts, **{field_name(kind): suggestion}))
    return Draft.objects.replace(draft, chosen, reason=CopyReason.REORDERED, at=at)


@dataclass(frozen=True)
class PrefixChange:
    """One prefix of two texts; a text without a prompt has none."""

    name: Name
    old: Prefix | None
    new: Prefix | None

    @property
    def difference(self) -> int:
        """In bytes."""
        return self.new.bytes - self.old.bytes if self.new and self.old else 0

    @property
    def is_change(self) -> bool:
        """Whether it is longer or shorter, or only one of the texts has a prompt."""
        return bool(self.difference) or (self.new is None) != (self.old is None)


def prefix_changes(
    prompt_set: PromptSet, old: Templates | None, new: Templates, at_round: ContextAtRound, *, owner: str
) -> dict[PromptKind, list[PrefixChange]]:
    """How the prefixes of each template changed; raises the jail's ``JailError``."""

    def prefixes(texts: Templates | None, kind: PromptKind) -> dict[Name, Prefix]:
        known = guaranteed(prompt_set, kind, texts.by_kind[kind], at_round, owner) if texts else None
        return {prefix.name: prefix for prefix in known.prefixes} if known else {}

    changes: dict[PromptKind, list[PrefixChange]] = {}
    for kind in KINDS:
        before, after = prefixes(old, kind), prefixes(new, kind)
        changes[kind] = [PrefixChange(name, before.get(name), after.get(name)) for name in LEVELS]
    return changes
