"""How well typed words name a thing. Used by the palette; names and words are folded before."""

from collections.abc import Iterable, Sequence

_LONGEST_LOOSE = 80
"""Longer names have nearly any few letters somewhere."""


def closeness(words: Sequence[str], names: Iterable[str]) -> int:
    """Points for words that each are in one of the names; 0 where a word is in none.

    A name that begins with the word counts most, then a word of it that does, then a part of it, then
    letters of it in their order: ``rsrch`` for ``research team``.
    """
    known = list(names)
    points = [max((_points(word, name) for name in known), default=0) for word in words]
    return sum(points) if all(points) else 0


def _points(word: str, name: str) -> int:
    if name == word:
        return 120
    at = name.find(word)
    if at == 0:
        return 100
    if at > 0:
        return 60 if f" {word}" in name or not name[at - 1].isalnum() else 40
    return 10 if 1 < len(word) <= len(name) <= _LONGEST_LOOSE and _in_order(word, name) else 0


def _in_order(word: str, name: str) -> bool:
    at = -1
    for letter in word:
        at = name.find(letter, at + 1)
        if at < 0:
            return False
    return True
