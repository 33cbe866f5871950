"""The cacheable prefix of a prompt: how much of its beginning stays the same, so that a cache can keep it.

Used by the editor's preview, by pages of versions and comparisons, and by costs.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from builder.cache import tokens
from builder.cache.cacheable_prefix import DEFAULT_MODEL, CacheablePrefix, PrefixAnalysis, shared_prefix
from builder.cache.tokens import TokenCount
from builder.diff.lines import Section
from builder.errors import JailError
from builder.problems import Problem
from builder.template.dialect import Dialect
from builder.template.formatters import Values, variables
from builder.template.rounds import seen_at
from builder.template.variables import KINDS, PromptKind, field_name
from studio.compare.versions import Side, TextDiff, text_diff
from studio.contexts.at_round import SAMPLE_TIME, ContextAtRound, dialect_of
from studio.models import Draft, PromptSet
from studio.preview.examinations import examine
from studio.prompts.drafts import CopyReason
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

    lint: Problem
    template: str

    @property
    def key(self) -> str:
        """Stands for the hint and for the text it suggests: nothing else is taken for it."""
        digest = hashlib.sha256((self.lint.replacement or "").encode("utf-8", "surrogatepass")).hexdigest()
        return f"{self.lint.code}-{self.lint.line}-{digest[:12]}"

    @property
    def message(self) -> str:
        return self.lint.text(reader_language())

    @property
    def advice(self) -> str:
        return self.lint.advice(reader_language())

    @property
    def diff(self) -> TextDiff | None:
        """The suggested order beside the template; None where there is nothing to suggest."""
        if self.lint.replacement is None or self.lint.replacement == self.template:
            return None
        return text_diff(self.template, self.lint.replacement)

    @property
    def sections(self) -> tuple[Section, ...]:
        found = self.diff
        return found.diff.sections(context=SHOWN_LINES) if found and found.diff else ()


@dataclass(frozen=True)
class CacheablePrefixes:
    """One template in one context at one round."""

    kind: PromptKind
    prefixes: tuple[Prefix, ...]
    """Of the same task, then of the same round."""
    hints: tuple[Hint, ...] = ()
    observed: Observed | None = None
    """None where the context has no second round, or the template gives no prompt there."""

    def prefix(self, name: Name) -> Prefix:
        return next(each for each in self.prefixes if each.name == name)

    @property
    def task(self) -> Prefix:
        return self.prefix("task")

    @property
    def round(self) -> Prefix:
        return self.prefix("round")


def prefixes_of(
    prompt_set: PromptSet, kind: PromptKind, text: str, at_round: ContextAtRound, owner: str
) -> CacheablePrefixes | None:
    """What is guaranteed, what is observed and what could be better; ``None`` for a text without a prompt.

    Cached for the same text and values. Raises ``JailError`` where the jail takes no jobs.
    """
    found = guaranteed(prompt_set, kind, text, at_round, owner)
    return found and replace(found, observed=_observed(prompt_set, kind, text, at_round, owner))


def guaranteed(
    prompt_set: PromptSet, kind: PromptKind, text: str, at_round: ContextAtRound, owner: str
) -> CacheablePrefixes | None:
    """The same without a look at another round."""
    dialect, counter = dialect_of(prompt_set), _counter(prompt_set)
    minimum = prompt_set.language_model.cache_minimum if prompt_set.language_model else None
    values = at_round.values(kind, dialect)
    key = (kind, text, dialect, minimum, counter, *values.values())
    found = _kept.get(key)
    if found is None:
        found = pool().cacheable_prefixes(
            kind, text, values, dialect, minimum_tokens=minimum, model=counter, owner=owner
        )
        if found is None:
            return None
        _kept.put(key, found, _size(text, values, found))
    return CacheablePrefixes(
        kind,
        tuple(_prefix(name, level, found, text, counter) for name, level in LEVELS.items()),
        tuple(Hint(lint, text) for lint in found.lints),
    )


def _prefix(name: Name, level: Literal[1, 2], found: PrefixAnalysis, template: str, counter: str) -> Prefix:
    prefix: CacheablePrefix = found.prefix(level)
    return Prefix(
        name,
        prefix.bytes,
        found.total_bytes,
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
    other = next((each for each in (number + 1, number - 1) if each in at_round.rounds), None)
    if other is None:
        return None
    first, second = sorted((number, other))
    dialect = dialect_of(prompt_set)
    values = (_values_at(at_round, kind, each, dialect, later=each == second) for each in (first, second))
    one, two = (examine(kind, text, each, dialect, owner=owner).text for each in values)
    if one is None or two is None:
        return None
    characters, size = shared_prefix(one, two)
    shown = one if number == first else two
    counted = tokens.recount(one[:characters], _counter(prompt_set))
    return Observed(first, second, size, len(shown.encode("utf-8", "surrogatepass")), counted)


def _values_at(
    at_round: ContextAtRound, kind: PromptKind, number: int, dialect: Dialect, *, later: bool
) -> Values:
    """The context at that round, the later one of the two at a later time."""
    if not later or at_round.context is None or at_round.whole is None:
        return replace(at_round, round=number).values(kind, dialect)
    seen = seen_at(kind, at_round.whole, at_round.context.submission, number)
    return variables(kind, seen, None, SAMPLE_TIME + A_ROUND_LATER, dialect)


def _counter(prompt_set: PromptSet) -> str:
    """Whose tokens count; the preview's where the set names no model."""
    return prompt_set.language_model.name if prompt_set.language_model else DEFAULT_MODEL


def _size(text: str, values: Values, found: PrefixAnalysis) -> int:
    made = sum(each.chars for each in found.prefixes)
    suggested = sum(len(each.replacement or "") for each in found.lints)
    return len(text) + made + suggested + sum(len(str(value)) for value in values.values())


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


class NoSuchHint(Exception):
    """The text is another one by now, or the suggestion is."""


def take_order(draft: Draft, kind: PromptKind, at_round: ContextAtRound, key: str, *, at: datetime) -> Draft:
    """The draft with that template in the suggested order.

    Raises ``NoSuchHint``, ``StaleRevision`` where the draft was written to meanwhile, or the jail's errors.
    """
    texts = user_prompts(draft.templates)
    found = guaranteed(draft.prompt_set, kind, texts.by_kind[kind], at_round, str(draft.person_id))
    suggestion = _suggested(found.hints if found else (), key)
    templates = replace(texts, **{field_name(kind): suggestion})
    chosen = replace(draft.sent, templates=templates)
    return Draft.objects.replace(draft, chosen, reason=CopyReason.REORDERED, at=at)


def _suggested(hints: tuple[Hint, ...], key: str) -> str:
    for hint in hints:
        if hint.key == key and hint.lint.replacement is not None:
            return hint.lint.replacement
    raise NoSuchHint


@dataclass(frozen=True)
class PrefixChange:
    """One beginning on both sides; a side without a prompt has none."""

    name: Name
    old: Prefix | None
    new: Prefix | None

    @property
    def difference(self) -> int:
        """In bytes."""
        return self.new.bytes - self.old.bytes if self.new and self.old else 0


@dataclass(frozen=True)
class PrefixRow:
    """One template."""

    kind: PromptKind
    changes: tuple[PrefixChange, ...]


@dataclass(frozen=True)
class PrefixTable:
    """All three templates in one context at one round."""

    at_round: ContextAtRound
    rows: Sequence[PrefixRow] = ()
    old_title: str = ""
    """Empty where there is nothing to compare with."""
    new_title: str = ""

    @property
    def known(self) -> bool:
        """Whether the jail took them."""
        return bool(self.rows)


def prefix_table(
    prompt_set: PromptSet, old: Side | None, new: Side, seen: ContextAtRound, *, owner: str
) -> PrefixTable:
    """Both texts in one context at one round; without rows where the jail takes no jobs now."""
    before = user_prompts(old.templates) if old else None
    after = user_prompts(new.templates)
    table = PrefixTable(seen, old_title=old.title if old else "", new_title=new.title)
    try:
        rows = tuple(_row(prompt_set, kind, before, after, seen, owner) for kind in KINDS)
    except JailError:
        return table
    return replace(table, rows=rows)


def _row(
    prompt_set: PromptSet,
    kind: PromptKind,
    old: Templates | None,
    new: Templates,
    seen: ContextAtRound,
    owner: str,
) -> PrefixRow:
    before = guaranteed(prompt_set, kind, old.by_kind[kind], seen, owner) if old else None
    after = guaranteed(prompt_set, kind, new.by_kind[kind], seen, owner)
    return PrefixRow(kind, tuple(PrefixChange(name, _of(before, name), _of(after, name)) for name in LEVELS))


def _of(found: CacheablePrefixes | None, name: Name) -> Prefix | None:
    return found.prefix(name) if found else None
