"""Numbers as pages show them: scores, differences, shares and lengths of time.

Used by charts and pages, and by templates through `tags`.
"""

import math
from datetime import timedelta

from django.utils import formats
from django.utils.translation import gettext as _

_LARGEST = 1e7
"""Nobody reads more digits; an evaluator that went wild must not push the page apart."""


def score(value: float | None) -> str:
    """A score with two decimals, by locale; a dash where there is none."""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if abs(value) >= _LARGEST:
        return ("−" if value < 0 else "") + f"{abs(value):.3g}"
    # What rounds to nothing has no sign.
    text = formats.number_format(round(value, 2) or 0.0, decimal_pos=2, use_l10n=True)
    return text.replace("-", "−", 1)


def signed(value: float | None) -> str:
    """A difference, always with its sign: «+3.10», «−0.25», «±0.00»."""
    if value is None or math.isnan(value):
        return "–"
    text = score(value)
    if text.startswith("−"):
        return text
    return f"{'+' if round(value, 2) > 0 else '±'}{text}"


def way(value: float | None) -> str:
    """The class of a difference: ``up``, ``down`` or ``same``; the sign says it without colour."""
    if value is None or math.isnan(value) or (math.isfinite(value) and not round(value, 2)):
        return "same"
    return "up" if value > 0 else "down"


def took(length: timedelta | None) -> str:
    """A length of time in its two largest units: «2 min 5 s»."""
    if length is None:
        return "–"
    seconds = length.total_seconds()
    if seconds < 60:
        places = 1 if seconds < 10 else 0
        # It cuts off where a person would round.
        figure = formats.number_format(round(seconds, places), decimal_pos=places, use_l10n=True)
        return _("%(seconds)s s") % {"seconds": figure}
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return _("%(minutes)d min %(seconds)d s") % {"minutes": minutes, "seconds": rest}
    return _("%(hours)d h %(minutes)d min") % {"hours": minutes // 60, "minutes": minutes % 60}


def percent(share: float | None) -> str:
    """A share of one, such as a confidence; what is no share is shown as it is."""
    if share is None or math.isnan(share):
        return "–"
    if not 0 <= share <= 1:
        return score(share)
    return f"{share * 100:.0f} %"
