"""What in a template keeps a provider's cache from being used, and the template in a better order."""

from collections.abc import Mapping

from builder.dialect import Dialect
from builder.stability import DEFAULT_MODEL, Stability, against_minimum
from builder.stable_prefix import outline
from builder.variables import PromptKind


def analyse(
    kind: PromptKind,
    text: str,
    values: Mapping[str, str | int],
    dialect: Dialect,
    *,
    minimum_tokens: int | None = None,
    model: str = DEFAULT_MODEL,
) -> Stability:
    """The stable beginnings of a template's prompt with these values, and its lints.

    Raises ``TemplateFailure`` where there is no prompt. Text from a stranger is analysed in the jail.
    """
    found = analyse_uncounted(kind, text, values, dialect)
    return against_minimum(found, minimum_tokens, model)


def analyse_uncounted(
    kind: PromptKind,
    text: str,
    values: Mapping[str, str | int],
    dialect: Dialect,
    max_chars: int = 1_000_000,
) -> Stability:
    """``analyse`` without a vocabulary: for ``against_minimum``, a C006 is always there."""
    now = outline(kind, text, values, dialect, max_chars)
    return Stability(now.prefixes, len(now.text.encode()))
