"""The cache report: of two builds of a system prompt, how much of the second a provider's cache would still
hold. Used by the comparison of system prompts and by ``python -m builder system``."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Literal

from builder.cache.cacheable_prefix import common_prefix
from builder.cache.tokens import TokenCount, count
from builder.messages import Language, message, say
from builder.system.built_prompt import BuiltPrompt, Section

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
"""From how many tokens on a provider keeps a prompt's prefix. A default: vendors change their figures."""

CONTEXT = 40
"""Characters shown on both sides of the first difference."""

Outcome = Literal["cached", "too_short", "uncertain"]

_OUTCOMES: dict[Outcome, str] = {
    "cached": message(
        "cache-cached",
        "{cached} tokens are read from the cache; {minimum} are needed",
        "{cached}トークンがキャッシュから読まれます（必要：{minimum}）",
    ),
    "too_short": message(
        "cache-too-short",
        "Nothing is cached: {tokens} tokens are the same, {minimum} are needed",
        "キャッシュされません：同じ部分は{tokens}トークン、必要なのは{minimum}です",
    ),
    "uncertain": message(
        "cache-uncertain",
        "About {tokens} tokens are the same and {minimum} are needed: too close to tell",
        "同じ部分は約{tokens}トークン、必要なのは{minimum}です。僅差のため判断できません",
    ),
}


@dataclass(frozen=True)
class Difference:
    """Where two builds part: the section on both sides, and the text around the place."""

    previous: Section
    next: Section
    previous_text: str
    next_text: str


@dataclass(frozen=True)
class Verdict:
    """What one provider would make of the common beginning."""

    minimum: CacheMinimum
    outcome: Outcome
    tokens: int
    cached_tokens: int

    def text(self, language: Language = "en") -> str:
        return say(
            _OUTCOMES[self.outcome],
            {"tokens": self.tokens, "cached": self.cached_tokens, "minimum": self.minimum.tokens},
            language,
        )


@dataclass(frozen=True)
class CacheReport:
    """What the next prompt shares with the previous one, from its first byte on."""

    previous: BuiltPrompt
    next: BuiltPrompt
    minimums: Sequence[CacheMinimum] = CACHE_MINIMUMS

    @cached_property
    def common_chars(self) -> int:
        return common_prefix(self.previous.text, self.next.text)

    @property
    def common_text(self) -> str:
        return self.next.text[: self.common_chars]

    @cached_property
    def common_bytes(self) -> int:
        """Counted in whole characters, and so always cut where one ends."""
        return len(self.common_text.encode())

    @cached_property
    def common_tokens(self) -> TokenCount:
        return count(self.common_text, self.next.model)

    @property
    def ratio(self) -> float:
        """The share of the next prompt, in bytes, that the previous one began with."""
        return self.common_bytes / self.next.bytes if self.next.bytes else 1.0

    @property
    def is_same(self) -> bool:
        return self.previous.text == self.next.text

    @cached_property
    def difference(self) -> Difference | None:
        """The first section that is not the same; None where the texts are."""
        if self.is_same:
            return None
        one, other = next(
            (one, other)
            for one, other in zip(self.previous.sections, self.next.sections, strict=True)
            if one.text != other.text
        )
        start, end = max(self.common_chars - CONTEXT, 0), self.common_chars + CONTEXT
        return Difference(one, other, self.previous.text[start:end], self.next.text[start:end])

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        return tuple(self._verdict(minimum) for minimum in self.minimums)

    def _verdict(self, minimum: CacheMinimum) -> Verdict:
        common = self.common_tokens
        # Only what surely suffices, or surely does not, is said to.
        least, most = common.tokens * (1 - common.margin), common.tokens * (1 + common.margin)
        if least >= minimum.tokens:
            return Verdict(minimum, "cached", common.tokens, _in_steps(common.tokens, minimum.step))
        outcome: Outcome = "uncertain" if most >= minimum.tokens else "too_short"
        return Verdict(minimum, outcome, common.tokens, 0)


def _in_steps(tokens: int, step: int) -> int:
    return tokens // step * step
