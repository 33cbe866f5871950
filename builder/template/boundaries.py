"""Boundary tags: since 0.1.0a19, MixSeek neutralises in the values of a prompt the tags by which its template
tells blocks apart, so that a submission cannot end its own block. Used by the formatters and by pages that
say what was changed.

MixSeek uses two regular expressions, ``<\\s*(/?)\\s*([A-Za-z][\\w.:-]*)[^>]*>`` over the template and
``<\\s*/?\\s*(?:NAMES)\\b[^>]*>`` over each value. Both take time by the square of a hostile text; what is
below finds the same in one pass.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

ALWAYS = frozenset({"submission_history", "submission", "user_task", "leader_board"})
"""Names that count in every template."""

_IN_TEMPLATE = re.compile(r"<\s*+(/?)\s*+([A-Za-z][\w.:-]*+)[^>]*+>")
_IN_VALUE = re.compile(r"<\s*+/?+\s*+([^\s<>/][^<>]*+)")


@lru_cache(maxsize=64)
def boundary_tags(template: str) -> frozenset[str]:
    """The names of the tags that a template's source opens and closes, and those that always count."""
    return ALWAYS.union(own_tags(template))


def own_tags(template: str) -> dict[str, int]:
    """The tags that a template opens and closes, and where each stands first."""
    # A tag that is never ended is none; without what follows the last end no search runs into nothing.
    reach = template.rfind(">") + 1
    first: dict[str, int] = {}
    slashes: dict[str, set[str]] = {}
    for match in _IN_TEMPLATE.finditer(template, 0, reach):
        name = match[2].lower()
        first.setdefault(name, match.start())
        slashes.setdefault(name, set()).add(match[1])
    return {name: place for name, place in first.items() if len(slashes[name]) == 2}


def neutralised(text: str, names: frozenset[str]) -> str:
    """The text with each of these tags spelt ``&lt;…&gt;``; everything else stays.

    >>> neutralised("</submission> <b>", ALWAYS)
    '&lt;/submission&gt; <b>'
    """
    done, parts = 0, []
    for start, end in _tags(text, names):
        parts += [text[done:start], text[start:end].replace("<", "&lt;").replace(">", "&gt;")]
        done = end
    return "".join([*parts, text[done:]]) if parts else text


def tags_in(text: str, names: frozenset[str]) -> list[str]:
    """The tags of a text that are neutralised, as they stand there."""
    return [text[start:end] for start, end in _tags(text, names)]


def _tags(text: str, names: frozenset[str]) -> Iterator[tuple[int, int]]:
    reach = text.rfind(">") + 1
    at = 0
    while at < reach and (match := _IN_VALUE.search(text, at, reach)):
        at = match.end()
        if _begins_with_name(match[1], names):
            end = text.index(">", match.start()) + 1
            yield match.start(), end
            at = end


def _begins_with_name(word: str, names: frozenset[str]) -> bool:
    """Whether one of the names stands here, with a boundary of words (``\\b``) behind it."""
    node: _Node | None = _known(names)
    for place, character in enumerate(word):
        node = node.following.get(_folded(character)) if node is not None else None
        if node is None:
            return False
        after = word[place + 1 : place + 2]
        if node.is_end and _is_word(character) != _is_word(after):
            return True
    return False


@dataclass(slots=True)
class _Node:
    """The characters that may follow a beginning of some names, and whether it is a name itself."""

    following: dict[str, "_Node"]
    is_end: bool = False


@lru_cache(maxsize=16)
def _known(names: Iterable[str]) -> _Node:
    root = _Node({})
    for name in names:
        node = root
        for character in name:
            node = node.following.setdefault(_folded(character), _Node({}))
        node.is_end = True
    return root


@lru_cache(maxsize=1024)
def _folded(character: str) -> str:
    """The same for all characters that ``re.IGNORECASE`` takes for each other: s, S and ſ."""
    return character.lower()[0].upper()


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"
