"""What sending a prompt costs: with nothing kept, and with its stable beginning read from a cache.

Only the prompt is reckoned with. How long an answer gets nobody knows beforehand.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from builder.cache.tokens import TokenCount
from studio.models import LanguageModel

_MILLION = 1_000_000

Cache = Literal["read", "too_short", "too_close", "not_kept", "not_known"]
"""Whether the beginning comes from the cache; else why not."""


@dataclass(frozen=True)
class Cost:
    """US dollars; ``None`` where a price is not known."""

    plain: Decimal | None
    """Every token at the price of input."""
    cached: Decimal | None
    """The stable beginning read from the cache, the rest at the price of input."""
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
        plain=_sum(*(each.plain for each in every)),
        cached=_sum(*(each.cached for each in every)),
        first=_sum(*(each.first for each in every)),
        cached_tokens=sum(each.cached_tokens for each in every),
        cache="read" if any(each.cache == "read" for each in every) else every[0].cache,
        exact=all(each.exact for each in every),
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
    known = [each for each in dollars if each is not None]
    return sum(known, Decimal(0)) if len(known) == len(dollars) else None


def _or(one: Decimal | None, other: Decimal | None) -> Decimal | None:
    return other if one is None else one
