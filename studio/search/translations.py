"""A visible text in both languages: what a person knows in one is found while the page is in the other.

Used by the palette for actions, whose names a page sends in the language that it is in.
"""

import gettext as catalogues
from functools import cache
from pathlib import Path

from django.conf import settings
from django.utils import translation

_DOMAIN = "django"


def in_both(text: str) -> tuple[str, ...]:
    """The text as it is, and as the other language has it where the studio's own words are translated."""
    if translation.get_language() == "ja":
        other = _english().get(text, text)
    else:
        with translation.override("ja"):
            other = translation.gettext(text) if text else text
    return (text,) if other == text else (text, other)


@cache
def _english() -> dict[str, str]:
    """English texts by their Japanese."""
    folder = Path(settings.LOCALE_PATHS[0])
    translated = catalogues.translation(_DOMAIN, folder, ["ja"], fallback=True)
    # The one thing that gettext does not offer: to go through a catalogue.
    catalogue: dict[str | tuple[str, int], str] = getattr(translated, "_catalog", {})
    texts = {words: text for text, words in catalogue.items() if isinstance(text, str)}
    # A text with a context has it before a separator.
    return {words: text.rpartition("\x04")[2] for words, text in texts.items()}
