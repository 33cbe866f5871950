"""The messages of the builder in English and Japanese, one for each code.

Registered by the modules that use them; read by ``Problem`` and ``BuilderError``.
"""

import re
from dataclasses import dataclass
from typing import Literal

Language = Literal["en", "ja"]

_MARK = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Wording:
    """One sentence in both languages; ``{name}`` marks a value that is put in."""

    en: str
    ja: str

    def fill(self, language: Language, params: dict[str, str | int]) -> str:
        # Not str.format: values and sentences hold braces of their own ({{ user_prompt }}). In one pass:
        # a value that reads like the mark of another is left alone.
        return _MARK.sub(
            lambda mark: str(params.get(mark[1], mark[0])), self.ja if language == "ja" else self.en
        )


@dataclass(frozen=True)
class Message:
    """What happened and, where there is something to do about it, what to do next."""

    text: Wording
    suggestion: Wording | None = None


MESSAGES: dict[str, Message] = {}


def message(code: str, en: str, ja: str, *, fix_en: str = "", fix_ja: str = "") -> str:
    """Register a message under its code and return the code."""
    if code in MESSAGES:
        raise ValueError(f"message code {code!r} is registered twice")
    MESSAGES[code] = Message(Wording(en, ja), Wording(fix_en, fix_ja) if fix_en else None)
    return code


def say(code: str, params: dict[str, str | int], language: Language = "en") -> str:
    return MESSAGES[code].text.fill(language, params)


def advise(code: str, params: dict[str, str | int], language: Language = "en") -> str:
    """What to do about it; an empty text where there is nothing to add."""
    suggestion = MESSAGES[code].suggestion
    return suggestion.fill(language, params) if suggestion else ""
