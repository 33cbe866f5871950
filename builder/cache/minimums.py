"""From how many tokens on a provider keeps a prompt's beginning: vendors' figures, which change.

The table is a default. Whoever knows better hands in another one.
"""

from dataclasses import dataclass
from datetime import date

AS_OF = date(2026, 1, 31)
"""When the figures below were last read in the vendors' documentation."""


@dataclass(frozen=True)
class CacheMinimum:
    """A family of models; beyond ``tokens`` a provider may count in ``step`` tokens at a time."""

    provider: str
    models: str
    tokens: int
    step: int = 1
    as_of: date = AS_OF


CACHE_MINIMUMS = (
    CacheMinimum("Anthropic", "Claude Opus 4.5, Haiku 4.5", 4_096),
    CacheMinimum("Anthropic", "Claude Sonnet 4.5, Sonnet 4, Opus 4.1", 1_024),
    CacheMinimum("Google", "Gemini 3 Pro, Gemini 2.5 Pro", 4_096),
    CacheMinimum("Google", "Gemini 3 Flash, Gemini 2.5 Flash", 1_024),
    CacheMinimum("OpenAI", "GPT-4o and later", 1_024, step=128),
)
