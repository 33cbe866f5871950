"""What sending a prompt costs: without a cache, and with its cacheable prefix read from one.

Used by the preview's budget bar and by the page of a version, which adds up what a team sends in one round.
Only the prompt is reckoned with: how long an answer gets nobody knows beforehand.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Literal

from builder.cache import tokens
from builder.cache.tokens import TokenCount
from builder.errors import JailError
from builder.template.variables import KINDS, PromptKind
from studio.contexts.at_round import ContextAtRound, dialect_of, usual_context
from studio.models import LanguageModel, PromptSet, PromptVersion
from studio.preview.cacheable_prefix import guaranteed
from studio.preview.examinations import examine
from studio.prompts.texts import user_prompts

_MILLION = 1_000_000

Cache = Literal["read", "too_short", "too_close", "not_kept", "not_known"]
"""Whether the beginning comes from the cache; else why not."""


@dataclass(frozen=True)
class Cost:
    """US dollars; ``None`` where a price is not known."""

    plain: Decimal | None
    """Every token at the price of input."""
    cached: Decimal | None
    """The cacheable prefix read from the cache, the rest at the price of input."""
    first: Decimal | None
    """The first time, when the beginning is written to the cache."""
    cached_tokens: int
    cache: Cache
    exact: bool = True
    """Whether the tokens were counted, not estimated."""


def cost_of(model: LanguageModel, tokens: TokenCount, stable: TokenCount | None) -> Cost:
    """What a prompt costs of which ``stable`` tokens are the same each time; ``None`` where nobody knows.

    >>> cost_of(gpt_4o, count(prompt), count(beginning)).plain
    Decimal('0.00301')
    """
    cache, kept = _kept(model, stable)
    return Cost(
        plain=_price(model.input_price, tokens.tokens),
        cached=_sum(_price(model.cached_price, kept), _price(model.input_price, tokens.tokens - kept)),
        first=_sum(
            _price(_or(model.cache_write_price, model.input_price), kept),
            _price(model.input_price, tokens.tokens - kept),
        ),
        cached_tokens=kept,
        cache=cache,
        exact=tokens.exact and (stable is None or stable.exact),
    )


def total(costs: Iterable[Cost]) -> Cost:
    """Several prompts together."""
    every = list(costs)
    return Cost(
        plain=_sum(*(cost.plain for cost in every)),
        cached=_sum(*(cost.cached for cost in every)),
        first=_sum(*(cost.first for cost in every)),
        cached_tokens=sum(cost.cached_tokens for cost in every),
        cache="read" if any(cost.cache == "read" for cost in every) else every[0].cache,
        exact=all(cost.exact for cost in every),
    )


def _kept(model: LanguageModel, stable: TokenCount | None) -> tuple[Cache, int]:
    minimum = model.cache_minimum
    if minimum is None or model.cached_price is None:
        return "not_kept", 0
    if stable is None:
        return "not_known", 0
    # Only what surely suffices is said to, as in the report on system prompts.
    if stable.tokens * (1 - stable.margin) < minimum:
        return ("too_close" if stable.tokens * (1 + stable.margin) >= minimum else "too_short"), 0
    return "read", minimum + (stable.tokens - minimum) // model.cache_step * model.cache_step


def _price(dollars: Decimal | None, tokens: int) -> Decimal | None:
    if tokens == 0:
        return Decimal(0)
    return None if dollars is None else dollars * tokens / _MILLION


def _sum(*dollars: Decimal | None) -> Decimal | None:
    known = [amount for amount in dollars if amount is not None]
    return sum(known, Decimal(0)) if len(known) == len(dollars) else None


def _or(one: Decimal | None, other: Decimal | None) -> Decimal | None:
    return other if one is None else one


@dataclass(frozen=True)
class PromptCost:
    """One template's prompt."""

    kind: PromptKind
    counted: TokenCount
    stable: TokenCount | None
    """What is the same in every round of a task; None where it could not be told."""
    cost: Cost


@dataclass(frozen=True)
class RoundCosts:
    """The prompts of one team in one round; without rows where the jail takes no jobs now."""

    model: LanguageModel
    at_round: ContextAtRound
    rows: Sequence[PromptCost] = ()

    @cached_property
    def total(self) -> Cost:
        return total(row.cost for row in self.rows)

    @property
    def is_whole(self) -> bool:
        """Whether every template gave a prompt."""
        return len(self.rows) == len(KINDS)


def version_costs(version: PromptVersion, *, owner: str) -> RoundCosts | None:
    """In the context that the editor opens with; None for a set that names no model."""
    prompt_set = version.prompt_set
    if prompt_set.language_model is None or not prompt_set.file_kind.has_templates:
        return None
    at_round = usual_context(prompt_set)
    try:
        costs = [
            prompt_cost(prompt_set, kind, text, at_round, owner=owner)
            for kind, text in user_prompts(version.templates).by_kind.items()
        ]
    except JailError:
        costs = []
    return RoundCosts(prompt_set.language_model, at_round, [cost for cost in costs if cost])


def prompt_cost(
    prompt_set: PromptSet, kind: PromptKind, text: str, at_round: ContextAtRound, *, owner: str
) -> PromptCost | None:
    """None for a text that gives no prompt, or a set without a model. Raises the jail's ``JailError``."""
    model, dialect = prompt_set.language_model, dialect_of(prompt_set)
    if model is None:
        return None
    values = at_round.values(kind, dialect, text)
    prompt = examine(kind, text, values, dialect, owner=owner).text
    if prompt is None:
        return None
    counted = tokens.recount(prompt, model.name)
    prefixes = guaranteed(prompt_set, kind, text, at_round, owner)
    stable = prefixes.task.tokens if prefixes else None
    return PromptCost(kind, counted, stable, cost_of(model, counted, stable))
