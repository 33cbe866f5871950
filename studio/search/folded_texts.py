"""Texts as a search sees them, kept while the studio runs. Used to search versions, contexts and tasks.

To fold a text takes longer than to look for a word in it, so what was folded is kept, by a key that changes
with the text. One request folds so much at most; where it stops, the next page goes on.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from studio.prompts.texts import fold
from studio.shell.sized_cache import SizedCache

Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)
Read = Callable[[Sequence[Key]], Iterable[tuple[Key, str]]]
"""Reads the texts of some keys."""

MOST_FOLDED = 2_000_000
"""Characters that one search may fold: about 0.1 s."""
_AT_ONCE = 100

_kept: SizedCache[str] = SizedCache(8_000_000)


@dataclass(frozen=True)
class Matches(Generic[Item]):
    """A page of what has the words."""

    items: list[Item]
    next: int | None
    """Where the next page begins, as its ``start``; None at the end."""

    def __bool__(self) -> bool:
        return bool(self.items) or self.next is not None


@dataclass
class TextSearch:
    """Words, each folded, and how much may still be folded to find them."""

    words: Sequence[str]
    left: int = field(default_factory=lambda: MOST_FOLDED)

    def matches(self, keys: Sequence[Key], read: Read[Key], *, start: int, size: int) -> Matches[Key]:
        """The first ``size`` of the keys, from ``start`` on, whose texts have every word."""
        found: list[Key] = []
        for first in range(start, len(keys), _AT_ONCE):
            if self.left <= 0:
                return Matches(found, first)
            some = keys[first : first + _AT_ONCE]
            folded = self.folded(some, read)
            for place, key in enumerate(some, start=first):
                if all(word in folded.get(key, "") for word in self.words):
                    if len(found) == size:
                        return Matches(found, place)
                    found.append(key)
        return Matches(found, None)

    def folded(self, keys: Iterable[Key], read: Read[Key]) -> dict[Key, str]:
        """The folded texts; what nobody kept is read, all at once."""
        kept = {key: _kept.get(key) for key in keys}
        missing = [key for key, text in kept.items() if text is None]
        texts = {key: text for key, text in kept.items() if text is not None}
        for key, text in read(missing) if missing else ():
            texts[key] = fold(text)
            self.left -= len(text)
            _kept.put(key, texts[key], len(text) + 100)
        return texts
