"""The word that was probably meant, for messages about an unknown one."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The name that was probably meant."""
    known = sorted(candidates)
    by_lower = {candidate.lower(): candidate for candidate in known}
    close = get_close_matches(name.lower(), by_lower, n=1, cutoff=0.5)
    if close:
        return by_lower[close[0]]
    starts = [candidate for candidate in known if len(name) > 2 and candidate.startswith(name)]
    return starts[0] if starts else None
