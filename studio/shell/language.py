"""The reader's language, for the builder's sentences, which come in two languages."""

from django.utils.translation import get_language

from builder.messages import Language


def reader_language() -> Language:
    """Which of the builder's two languages the current request is answered in."""
    return "ja" if (get_language() or "").startswith("ja") else "en"
