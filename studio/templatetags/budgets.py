"""Tokens and prices as pages show them."""

from decimal import Decimal

from django import template
from django.utils.formats import number_format

register = template.Library()

_NOT_KNOWN = "–"


@register.filter
def grouped(number: int | None) -> str:
    """1,204; a dash where nothing is known."""
    return _NOT_KNOWN if number is None else number_format(number, force_grouping=True)


@register.filter
def price(dollars: Decimal | None) -> str:
    """$2.50 with at least two decimals and no idle noughts beyond."""
    if dollars is None:
        return _NOT_KNOWN
    decimals = max(2, -int(dollars.normalize().as_tuple().exponent))
    return f"${number_format(dollars, decimal_pos=decimals, force_grouping=True)}"
