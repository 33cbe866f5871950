"""Excerpts for a search in a history: the line with the words that were looked for, marked.

Used by the history of a set, by the search page, and by the filter that marks the words.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from studio.prompts.texts import fold

_WIDTH = 140
_LEAD = 40
# Longer lines are shown folded: to align them with the original, character by character, takes too long.
_ALIGNED = 4_000


@dataclass(frozen=True)
class Part:
    """A stretch of text, marked where it is a word that was looked for."""

    text: str
    mark: bool = False


@dataclass(frozen=True)
class Excerpt:
    """A line of a text, cut to what matters."""

    kind: str
    """What text it is a line of."""
    line: int
    parts: list[Part]
    cut_before: bool
    cut_after: bool


def marked(text: str, words: Sequence[str]) -> list[Part]:
    """The text in parts, with every occurrence of the folded words marked."""
    if not words:
        return [Part(text)]
    text, spans = _spans(text, words)
    return list(_parts(text, spans, 0, len(text)))


def excerpt(kind: str, text: str, words: Sequence[str]) -> Excerpt | None:
    """The line of a text that has most of the folded words; None where no line has any."""
    lines = fold(text).split("\n")
    counts = [sum(word in line for word in words) for line in lines]
    most = max(counts)
    if most == 0:
        return None
    at = counts.index(most)
    line, spans = _spans(text.split("\n")[at], words)
    start = max(spans[0][0] - _LEAD, 0) if len(line) > _WIDTH else 0
    end = min(start + _WIDTH, len(line))
    # A long line is filled from its end rather than shown short.
    start = max(min(start, end - _WIDTH), 0)
    parts = list(_parts(line, spans, start, end))
    return Excerpt(kind, at + 1, parts, cut_before=start > 0, cut_after=end < len(line))


def _parts(text: str, spans: list[tuple[int, int]], start: int, end: int) -> Iterator[Part]:
    at = start
    for left, right in spans:
        left, right = max(left, at), min(right, end)
        if left < right:
            if at < left:
                yield Part(text[at:left])
            yield Part(text[left:right], mark=True)
            at = right
    if at < end:
        yield Part(text[at:end])


def _spans(text: str, words: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """Where the words are: in the text as written or, where that cannot be told, as folded."""
    folded = fold(text)
    spans = sorted(span for word in words for span in _occurrences(folded, word))
    if len(folded) == len(text) and all(
        fold(text[left:right]) == folded[left:right] for left, right in spans
    ):
        return text, spans
    places = _places(text, folded)
    if places is None:
        return folded, spans
    return text, [(places[left][0], places[right - 1][1]) for left, right in spans]


def _occurrences(text: str, word: str) -> Iterator[tuple[int, int]]:
    at = text.find(word)
    while at >= 0:
        yield at, at + len(word)
        at = text.find(word, at + len(word))


def _places(text: str, folded: str) -> list[tuple[int, int]] | None:
    """For each character of the folded text the stretch of the original that it comes from."""
    if len(text) > _ALIGNED:
        return None
    places: list[tuple[int, int]] = []
    pieces: list[str] = []
    start = 0
    for end in range(1, len(text) + 1):
        # A mark such as the half-width «ﾞ» joins the character before it.
        if end < len(text) and unicodedata.combining(unicodedata.normalize("NFKD", text[end])[0]):
            continue
        piece = fold(text[start:end])
        pieces.append(piece)
        places += [(start, end)] * len(piece)
        start = end
    return places if "".join(pieces) == folded else None
