"""An amount by what it is made from: characters of a text, items of a list, the size of a number.

Used by the bounds on growth.
"""

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field

ENDLESS = 10**20_000
"""More digits than Python writes."""
_MOST_PRODUCTS = 20


@dataclass(frozen=True)
class Amount:
    """So much, so often the amount of each key, and products of such amounts."""

    const: int = 0
    of: Mapping[str, int] = field(default_factory=dict)
    products: tuple[tuple["Amount", "Amount"], ...] = ()

    def used(self) -> Iterator[str]:
        yield from self.of
        for left, right in self.products:
            yield from left.used()
            yield from right.used()

    def __add__(self, other: "Amount") -> "Amount":
        keys = [*self.of, *(key for key in other.of if key not in self.of)]
        return Amount(
            min(ENDLESS, self.const + other.const),
            {key: min(ENDLESS, self.of.get(key, 0) + other.of.get(key, 0)) for key in keys},
            _few(self.products + other.products),
        )

    def __or__(self, other: "Amount") -> "Amount":
        """Whichever is more."""
        keys = [*self.of, *(key for key in other.of if key not in self.of)]
        return Amount(
            max(self.const, other.const),
            {key: max(self.of.get(key, 0), other.of.get(key, 0)) for key in keys},
            _few(self.products + other.products),
        )

    def times(self, number: int) -> "Amount":
        return Amount(
            min(ENDLESS, self.const * number),
            {key: min(ENDLESS, times * number) for key, times in self.of.items()},
            tuple((left.times(number), right) for left, right in self.products),
        )

    def __mul__(self, other: "Amount") -> "Amount":
        if other.is_fixed:
            return self.times(other.const)
        if self.is_fixed:
            return other.times(self.const)
        return Amount(0, {}, ((self, other),))

    @property
    def is_fixed(self) -> bool:
        return not self.of and not self.products

    def value(self, known: Mapping[str, int]) -> int:
        total = self.const + sum(times * known.get(key, 1) for key, times in self.of.items())
        total += sum(left.value(known) * right.value(known) for left, right in self.products)
        return min(ENDLESS, total)

    def weight(self, group: Set[str], known: Mapping[str, int]) -> int:
        """How many times what the keys of a group hold this can be."""
        total = sum(times for key, times in self.of.items() if key in group)
        for left, right in self.products:
            one, other = left.weight(group, known), right.weight(group, known)
            if one and other:
                return ENDLESS
            total += one * right.value(known) + other * left.value(known)
        return min(ENDLESS, total)


def _few(products: tuple[tuple[Amount, Amount], ...]) -> tuple[tuple[Amount, Amount], ...]:
    if len(products) <= _MOST_PRODUCTS:
        return products
    keys = dict.fromkeys((key for pair in products for amount in pair for key in amount.used()), ENDLESS)
    return ((Amount(ENDLESS, keys), Amount(1)),)
