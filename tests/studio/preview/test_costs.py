"""What a prompt costs, with a cache and without one."""

from datetime import date
from decimal import Decimal

import pytest

from builder.cache.tokens import TokenCount
from studio.models import LanguageModel
from studio.preview.costs import Cost, cost_of, total
from studio.preview.tags import dollars, price


def model(**more: object) -> LanguageModel:
    figures = {
        "name": "m",
        "as_of": date(2026, 1, 31),
        "cache_minimum": 1024,
        "cache_step": 128,
        "input_price": Decimal(2),
        "cached_price": Decimal("0.5"),
    }
    return LanguageModel(**(figures | more))


def exactly(tokens: int) -> TokenCount:
    return TokenCount(tokens, "o200k_base", exact=True)


def test_without_a_cache_every_token_has_the_price_of_input() -> None:
    assert cost_of(model(), exactly(3000), None).plain == Decimal("0.006")


@pytest.mark.parametrize(
    ("stable", "kept"), [(0, 0), (1023, 0), (1024, 1024), (1151, 1024), (1152, 1152), (3000, 2944)]
)
def test_the_beginning_is_kept_from_the_minimum_on_in_steps(stable: int, kept: int) -> None:
    cost = cost_of(model(), exactly(3000), exactly(stable))
    assert cost.cached_tokens == kept
    assert cost.cache == ("read" if kept else "too_short")
    assert cost.cached == (Decimal("0.5") * kept + 2 * (3000 - kept)) / 1_000_000


def test_an_estimate_is_kept_only_where_that_is_sure() -> None:
    for tokens, cache in ((1000, "too_close"), (1100, "too_close"), (1200, "read"), (800, "too_short")):
        about = TokenCount(tokens, "estimate", exact=False, margin=0.1)
        assert cost_of(model(), exactly(3000), about).cache == cache


def test_the_first_time_costs_what_writing_to_the_cache_costs() -> None:
    writes = cost_of(model(cache_write_price=Decimal("2.5")), exactly(2048), exactly(2048))
    assert writes.first == Decimal("2.5") * 2048 / 1_000_000
    assert cost_of(model(), exactly(2048), exactly(2048)).first == writes.plain


def test_what_is_not_known_is_not_made_up() -> None:
    assert cost_of(model(input_price=None), exactly(10), None).plain is None
    assert cost_of(model(cached_price=None), exactly(9000), exactly(9000)).cache == "not_kept"
    assert cost_of(model(cache_minimum=None), exactly(9000), exactly(9000)).cached_tokens == 0
    assert cost_of(model(), exactly(9000), None).cache == "not_known"


def test_prompts_of_a_round_add_up() -> None:
    each = [cost_of(model(), exactly(2000), exactly(stable)) for stable in (0, 1500)]
    both = total(each)
    assert both.plain == Decimal("0.008")
    assert both.cached == (each[0].cached or 0) + (each[1].cached or 0)
    assert (both.cached_tokens, both.cache) == (1408, "read")
    unknown = Cost(None, None, None, 0, "not_kept")
    assert total([*each, unknown]).plain is None


def test_money_is_shown_with_the_decimals_that_say_something() -> None:
    shown = [dollars(Decimal(each)) for each in ("0", "0.00301", "0.0000123", "0.5", "12.4", "1234.5")]
    assert shown == ["$0", "$0.00301", "$0.0000123", "$0.500", "$12.40", "$1,234.50"]
    assert [price(each) for each in (None, Decimal("2.5"), Decimal("0.0750"), Decimal(100))] == [
        "–", "$2.50", "$0.075", "$100.00",
    ]  # fmt: skip
