"""The reordering of a template's parts: what stays the same first, what changes with every call last. Used by
``lints`` for its suggestions."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from builder.cache.outline import Piece
from builder.cache.volatility import CALL, ROUND

APPENDED = "submission_history"
"""Later rounds add to its end, and leave the rest as it is."""

_HEADING = re.compile(r"#{1,6}\s")
_RULE = re.compile(r"(-{3,}|\*{3,}|_{3,})\s*$")
_SILENT_LINE = re.compile(r"\{%-?\s*set\b.*%\}\s*$|\{#.*#\}\s*$")
_LONGEST_TAG = 200
_MOST_NAMED = 300
"""Segments that bind or use names: each is compared with every other."""
_ENDS_TRIMMED = re.compile(r"[^-][%#]\}\n\Z")
_ENDS_RAW = re.compile(r"\{%[-+]?\s*raw\s*[-+]?%\}\s*\Z")


def rank(piece: Piece) -> int:
    """Static, per task, what only grows, per round, per call."""
    if piece.volatility < ROUND:
        return piece.volatility
    if piece.volatility == CALL:
        return 4
    return 2 if piece.names == {APPENDED} else 3


@dataclass
class Segment:
    """Whole lines that stay together, and the blank ones after them."""

    first: int
    """Its first line, counted from 1."""
    text: str
    gap: str = ""
    silent: bool = False
    """It prints nothing but the ends of its lines."""
    rank: int = 0
    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()


def segments(source: str, pieces: Sequence[Piece], *, sections: bool) -> list[Segment]:
    """A template cut where no tag and no block is open: into paragraphs, a heading with the one after it,
    or into ``sections`` that reach to the next heading, rule or tag."""
    lines = source.split("\n")
    breaks = _free_breaks(source, pieces)
    starts = [1]
    texts: list[str] = []
    """The first lines of the segment so far that are not blank; more than two make no difference."""
    silent = True
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        if texts and number - 1 in breaks:
            paragraph = not lines[number - 2].strip()
            heading = bool(_HEADING.match(line))
            if sections:
                begins = heading or bool(_RULE.match(line)) or (paragraph and line.startswith("{%"))
            else:
                begins = heading or (paragraph and not _is_heading(texts))
            if begins or (silent and not _SILENT_LINE.match(line)):
                starts.append(number)
                texts, silent = [], True
        texts = [*texts, line][:2]
        silent = silent and bool(_SILENT_LINE.match(line))
    parts = []
    for start, end in zip(starts, [*starts[1:], len(lines) + 1], strict=True):
        text = "\n".join(lines[start - 1 : end - 1]) + ("\n" if end <= len(lines) else "")
        kept = text.rstrip()
        parts.append(Segment(start, kept, text[len(kept) :], silent=_is_silent(kept.split("\n"))))
    _describe(parts, pieces)
    return parts


def place_in(parts: Sequence[Segment], line: int) -> int:
    """The index of the segment that a line stands in."""
    return bisect_right(parts, line, key=lambda part: part.first) - 1


def reordered(parts: Sequence[Segment]) -> str | None:
    """The same segments, the more stable first; None where they are in that order already.

    Between segments that bind and use the same name, the order stays.
    """
    named = [index for index, part in enumerate(parts) if part.reads or part.writes]
    if len(named) > _MOST_NAMED:
        return None
    before = {
        index: {other for other in named if other < index and _bound_together(parts[other], parts[index])}
        for index in named
    }
    ready = [(part.rank, index) for index, part in enumerate(parts) if not before.get(index)]
    heapify(ready)
    order: list[int] = []
    while ready:
        _, chosen = heappop(ready)
        order.append(chosen)
        for index, others in before.items():
            if chosen in others:
                others.remove(chosen)
                if not others:
                    heappush(ready, (parts[index].rank, index))
    if order == list(range(len(parts))):
        return None
    made = []
    for index, following in zip(order, [*order[1:], None], strict=True):
        part = parts[index]
        gap = part.gap
        if following is None:
            gap = parts[-1].gap
        elif following != index + 1 and gap.count("\n") < 2 and not (part.silent and gap):
            gap = "\n\n"
        made.append(part.text + gap)
    return "".join(made)


def _bound_together(one: Segment, other: Segment) -> bool:
    return bool(one.writes & (other.reads | other.writes) or one.reads & other.writes)


def _describe(parts: Sequence[Segment], pieces: Iterable[Piece]) -> None:
    within: dict[str, frozenset[str]] = {}
    for piece in pieces:
        part = parts[place_in(parts, piece.line)]
        # A macro reads what it names when it is called.
        reads = piece.reads.union(*(within.get(name, frozenset()) for name in piece.reads))
        if piece.macro:
            within[piece.macro] = reads | within.get(piece.macro, frozenset())
        part.rank = max(part.rank, rank(piece))
        part.reads |= reads
        part.writes |= piece.writes


def _is_silent(lines: Iterable[str]) -> bool:
    texts = [line for line in lines if line.strip()]
    return bool(texts) and all(map(_SILENT_LINE.match, texts))


def _is_heading(texts: Sequence[str]) -> bool:
    """Whether these are nothing but a heading: what follows belongs to it."""
    return len(texts) == 1 and bool(_HEADING.match(texts[0]) or _RULE.match(texts[0]))


def _free_breaks(source: str, pieces: Iterable[Piece]) -> set[int]:
    """The lines whose end is outside of every tag and block, and not swallowed by a ``-%}``."""
    breaks: set[int] = set()
    for piece in pieces:
        before = source[max(piece.offset - _LONGEST_TAG, 0) : piece.offset]
        if _ENDS_TRIMMED.search(before):
            breaks.add(piece.line - 1)
        if piece.text is not None and not _ENDS_RAW.search(before):
            breaks.update(range(piece.line, piece.line + piece.text.count("\n")))
    return breaks
