"""The places of added and removed blocks: of equally short ones the one that a person would choose.

Used by ``builder.diff.lines`` and ``builder.diff.three_way`` after the alignment.
"""

from collections.abc import Hashable, Sequence
from typing import Literal, NamedTuple

from builder.diff.alignment import Gap, Match

_LONGEST_SLIDE = 100
_CLOSERS = ("{% end", "{%- end", "{% el", "{%- el", "}", ")", "]", "</")


class KeyedLines(NamedTuple):
    """The lines of a text, and what makes two of them equal."""

    lines: Sequence[str]
    keys: Sequence[Hashable]


def slid(equal: list[Match], left: KeyedLines, right: KeyedLines) -> list[Match]:
    """As many equal lines as before, but blocks as a person would cut them.

    Where a block's first line equals the line after it, it could as well begin one line later. Blocks
    that can meet become one; of other places the one after a blank line, before a heading, not before
    an ``{% endif %}`` wins.
    """
    edges = [Match(0, 0, 0), *equal, Match(len(left.lines), len(right.lines), 0)]
    place = 0
    while place < len(edges) - 1:
        kind = _kind(edges, place)
        if kind not in ("added", "removed"):
            place += 1
            continue
        before, after = edges[place : place + 2]
        gap = _gap(edges, place)
        side, start, stop = (right, *gap[2:]) if kind == "added" else (left, *gap[:2])
        up, down = _steps(side.keys, start, stop, before.size, after.size)
        if 0 < up == before.size and _kind(edges, place - 1) == kind:
            edges[place : place + 2] = [Match(after.left - up, after.right - up, after.size + up)]
            place -= 1
            continue
        if 0 < down == after.size and _kind(edges, place + 1) == kind:
            edges[place : place + 2] = [Match(before.left, before.right, before.size + down)]
            continue
        # Two blocks of different kinds stay apart: read together they would look like one rewritten.
        up -= up == before.size and _kind(edges, place - 1) != "none"
        down -= down == after.size and _kind(edges, place + 1) != "none"
        shift = _best(side.lines, start, stop, max(up, 0), max(down, 0))
        edges[place] = Match(before.left, before.right, before.size + shift)
        edges[place + 1] = Match(after.left + shift, after.right + shift, after.size - shift)
        place += 1
    return [match for match in edges if match.size]


def _gap(edges: Sequence[Match], place: int) -> Gap:
    before, after = edges[place], edges[place + 1]
    return Gap(before.left + before.size, after.left, before.right + before.size, after.right)


def _kind(edges: Sequence[Match], place: int) -> Literal["none", "added", "removed", "both"]:
    """What happened between two matches."""
    if not 0 <= place < len(edges) - 1:
        return "none"
    gap = _gap(edges, place)
    if gap.left_start < gap.left_stop:
        return "both" if gap.right_start < gap.right_stop else "removed"
    return "added" if gap.right_start < gap.right_stop else "none"


def _steps(keys: Sequence[Hashable], start: int, stop: int, room_up: int, room_down: int) -> tuple[int, int]:
    """How far a block could begin earlier, and later."""
    up = 0
    while up < min(room_up, _LONGEST_SLIDE) and keys[start - up - 1] == keys[stop - up - 1]:
        up += 1
    down = 0
    while down < min(room_down, _LONGEST_SLIDE) and keys[start + down] == keys[stop + down]:
        down += 1
    return up, down


def _best(lines: Sequence[str], start: int, stop: int, up: int, down: int) -> int:
    if not up and not down:
        return 0
    return max(range(-up, down + 1), key=lambda by: (_shape(lines, start + by, stop + by), by))


def _shape(lines: Sequence[str], start: int, stop: int) -> int:
    """How much a block looks as if a person had cut it out."""
    first = next((lines[at] for at in range(start, stop) if lines[at].strip()), "")
    bare = first.lstrip()
    score = _edge(lines, start) + _edge(lines, stop) - (8 if bare.startswith(_CLOSERS) else 0)
    # The outermost of nested blocks; deep indents count no further.
    return score * 16 - min(len(first) - len(bare), 15)


def _edge(lines: Sequence[str], at: int) -> int:
    if at == 0 or at == len(lines):
        return 4
    if not lines[at - 1].strip():
        return 3 + lines[at].startswith("#")
    return int(not lines[at].strip())
