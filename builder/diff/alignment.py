"""The alignment of two texts: which line of one stands beside which line of the other.

Used by ``builder.diff.lines`` and ``builder.diff.three_way``.
"""

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import chain, count, pairwise
from typing import NamedTuple

from rapidfuzz.distance import Indel, Opcode

from builder.errors import DiffTooLarge
from builder.messages import message

MAX_LINES = 25_000
MAX_CHARS = 2_000_000
"""Together these keep the worst pair of texts to about a second: pages compare in the web process."""
_SMALL = 1_000_000
"""Lines × lines up to which leaving out what cannot match costs more than it saves."""
_LEAST_ALIKE = 0.5
_MOST_PAIRINGS = 40_000
"""How many pairs of lines one comparison may weigh; beyond it, place decides."""
_WEIGHED = 400
"""Characters of a long line that are looked at when two lines are weighed."""

TOO_MANY_LINES = message(
    "diff-too-many-lines",
    "A text of {lines} lines is too long to compare: the limit is {limit} lines.",
    "{lines}行のテキストは長すぎて比較できません。上限は{limit}行です。",
    fix_en="Compare a shorter part of it, or use `diff` on the files.",
    fix_ja="短い部分に分けて比較するか、ファイルに対して`diff`コマンドを使ってください。",
)
TOO_MANY_CHARS = message(
    "diff-too-many-chars",
    "A text of {chars} characters is too long to compare: the limit is {limit} characters.",
    "{chars}文字のテキストは長すぎて比較できません。上限は{limit}文字です。",
    fix_en="Compare a shorter part of it, or use `diff` on the files.",
    fix_ja="短い部分に分けて比較するか、ファイルに対して`diff`コマンドを使ってください。",
)

_NO_LETTERS = re.compile(r"[\W\d_]+")


class Match(NamedTuple):
    """``size`` lines from ``left`` on are the same as those from ``right`` on (counted from 0)."""

    left: int
    right: int
    size: int


class Gap(NamedTuple):
    """What lies between two matches: lines only one text has, or that differ."""

    left_start: int
    left_stop: int
    right_start: int
    right_stop: int


def lines_of(text: str) -> list[str]:
    r"""The lines without their ``\n``. Nothing else ends a line: a prompt may hold a form feed, a lone
    carriage return or U+2028, which ``splitlines`` would break at.

    Raises ``DiffTooLarge`` above ``MAX_LINES`` lines or ``MAX_CHARS`` characters.
    """
    if len(text) > MAX_CHARS:
        raise DiffTooLarge(TOO_MANY_CHARS, chars=len(text), limit=MAX_CHARS)
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    if len(lines) > MAX_LINES:
        raise DiffTooLarge(TOO_MANY_LINES, lines=len(lines), limit=MAX_LINES)
    return lines


def numbered(left: Sequence[Hashable], right: Sequence[Hashable]) -> tuple[str, str]:
    """Both sides as texts with one character for each value, the same for equal ones.

    rapidfuzz compares texts fastest, and numbers given here cannot confuse two values, as hashes could.
    """
    numbers = dict(zip(dict.fromkeys(chain(left, right)), map(chr, count()), strict=False))
    return "".join(map(numbers.__getitem__, left)), "".join(map(numbers.__getitem__, right))


def matches(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[Match]:
    """The longest common subsequence, as runs: no alignment has more equal lines."""
    left_text, right_text = numbered(left, right)
    if left_text == right_text:
        return [Match(0, 0, len(left))] if left else []
    if len(left) * len(right) <= _SMALL:
        return [
            Match(step.src_start, step.dest_start, step.src_end - step.src_start)
            for step in _equal(left_text, right_text)
        ]
    # A line that only one side has matches nothing: without those the rest is often tiny.
    shared = set(left_text) & set(right_text)
    left_places = [place for place, char in enumerate(left_text) if char in shared]
    right_places = [place for place, char in enumerate(right_text) if char in shared]
    steps = _equal(
        "".join([left_text[place] for place in left_places]),
        "".join([right_text[place] for place in right_places]),
    )
    return [
        match
        for step in steps
        for match in _united(
            left_places[step.src_start : step.src_end], right_places[step.dest_start : step.dest_end]
        )
    ]


def _equal(left: str, right: str) -> Iterator[Opcode]:
    return (step for step in Indel.opcodes(left, right) if step.tag == "equal")


def _united(left: list[int], right: list[int]) -> list[Match]:
    """Matching places as runs; what was left out before may lie between two of them."""
    size = len(left)
    cuts = [at for at in range(1, size) if left[at] - left[at - 1] != 1 or right[at] - right[at - 1] != 1]
    return [Match(left[start], right[start], stop - start) for start, stop in pairwise([0, *cuts, size])]


def gaps(equal: Iterable[Match], left_size: int, right_size: int) -> list[Gap]:
    """What the matches leave over, in order."""
    edges = [Match(0, 0, 0), *equal, Match(left_size, right_size, 0)]
    return [
        Gap(before.left + before.size, after.left, before.right + before.size, after.right)
        for before, after in pairwise(edges)
        if before.left + before.size < after.left or before.right + before.size < after.right
    ]


def pairs(blocks: Iterable[Gap], left: Sequence[str], right: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Lines of a replaced block that are the same line, changed; in order, and never crossing."""
    budget = _MOST_PAIRINGS
    for gap in blocks:
        height, width = gap.left_stop - gap.left_start, gap.right_stop - gap.right_start
        if not height or not width:
            continue
        if height == width == 1:
            # Alone in its place it is that line, rewritten, however little is left of it.
            if left[gap.left_start].strip() and right[gap.right_start].strip():
                yield gap.left_start, gap.right_start
            continue
        for part in [gap] if height * width <= budget else _parts(gap, left, right):
            height, width = part.left_stop - part.left_start, part.right_stop - part.right_start
            if height * width <= budget:
                budget -= height * width
                yield from _alike(part, left, right)
            else:
                yield from _beside(part, left, right)


def _parts(gap: Gap, left: Sequence[str], right: Sequence[str]) -> list[Gap]:
    """A large block cut where two lines have the same letters: each part is small enough to weigh."""
    old = [_NO_LETTERS.sub("", line).casefold() for line in left[gap.left_start : gap.left_stop]]
    new = [_NO_LETTERS.sub("", line).casefold() for line in right[gap.right_start : gap.right_stop]]
    equal = [match for match in matches(old, new) if old[match.left]]
    parts: list[Gap] = []
    for match in equal:
        for step in range(match.size):
            at_left, at_right = gap.left_start + match.left + step, gap.right_start + match.right + step
            parts.append(Gap(at_left, at_left + 1, at_right, at_right + 1))
    for rest in gaps(equal, len(old), len(new)):
        parts.append(
            Gap(
                gap.left_start + rest.left_start,
                gap.left_start + rest.left_stop,
                gap.right_start + rest.right_start,
                gap.right_start + rest.right_stop,
            )
        )
    return sorted(parts)


def _alike(gap: Gap, left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """The pairing with the greatest sum of likeness."""
    old = [_weighed(left[place]) for place in range(gap.left_start, gap.left_stop)]
    new = [_weighed(right[place]) for place in range(gap.right_start, gap.right_stop)]
    below = [0.0] * (len(new) + 1)
    ways: list[list[str]] = []
    for line in reversed(old):
        best = [0.0] * (len(new) + 1)
        way = [""] * len(new)
        for place in range(len(new) - 1, -1, -1):
            likeness = Indel.normalized_similarity(line, new[place], score_cutoff=_LEAST_ALIKE)
            taken = below[place + 1] + likeness if likeness else -1.0
            best[place], way[place] = max(
                (taken, "take"), (below[place], "skip left"), (best[place + 1], "skip right")
            )
        below = best
        ways.append(way)
    ways.reverse()
    alike = []
    row = column = 0
    while row < len(old) and column < len(new):
        step = ways[row][column]
        if step == "take":
            alike.append((gap.left_start + row, gap.right_start + column))
        row += step != "skip right"
        column += step != "skip left"
    return alike


def _beside(gap: Gap, left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    return [
        (at_left, at_right)
        for at_left, at_right in zip(
            range(gap.left_start, gap.left_stop), range(gap.right_start, gap.right_stop), strict=False
        )
        if Indel.normalized_similarity(_weighed(left[at_left]), _weighed(right[at_right])) >= _LEAST_ALIKE
    ]


def _weighed(line: str) -> str:
    line = line.strip()
    return line if len(line) <= _WEIGHED else line[: _WEIGHED // 2] + line[-_WEIGHED // 2 :]
