"""The marks inside a changed line: which of its words changed. Used by ``builder.diff.lines``."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from itertools import accumulate
from typing import NamedTuple

from rapidfuzz.distance import Indel, Postfix, Prefix

from builder.diff.alignment import numbered

Span = tuple[int, int]
"""Where a marked piece of a line starts and ends."""

_MOST_CHARS = 50_000
_MOST_CELLS = 4_000_000
"""Characters of two lines, and words × words; above either the whole differing middle is marked, so that
one line of a million characters costs no more than many short ones."""

_LEAST_KEPT = 0.3
"""Where many marks leave less than this share of the shorter line, they are confetti: it is marked whole."""

_KANJI = "々〆〇㐀-䶿一-鿿豈-﫿\U00020000-\U0003ffff"
_HIRAGANA = "ぁ-ゟ"
_KATAKANA = "゠-ヿㇰ-ㇿｦ-ﾟ"
_LETTER = f"[^\\W\\d{_KANJI}{_HIRAGANA}{_KATAKANA}]"
_LETTERS = f"[^\\W{_KANJI}{_HIRAGANA}{_KATAKANA}]*"

_PLAIN = re.compile("[\t\r -~\u2010-\u2027\u2190-\u25ff\u3000-\u3029\u3030-\u30ff㐀-䶿一-鿿！-ﾟ]*")
"""Nearly all lines: without marks and joiners, which take five times as long to look for."""

_PLAIN_WORD = re.compile(
    rf"[^\S\r]+|[{_KANJI}]+|[{_HIRAGANA}][{_HIRAGANA}ー]*|[{_KATAKANA}]+|{_LETTER}{_LETTERS}|\d+|\r|[^\w\s]|\w"
)
_BY_CHARACTER = re.compile(f"[{_KANJI}]+|[{_HIRAGANA}ー]+")
"""Runs that are no single words: between two of them, the difference is looked at again."""


class Change(NamedTuple):
    """Words ``left[left_start:left_stop]`` became ``right[right_start:right_stop]``."""

    left_start: int
    left_stop: int
    right_start: int
    right_stop: int


@cache
def _any_word() -> re.Pattern[str]:
    # `re` has no class for combining marks, so they are collected once, on the first text that may
    # have one. Marks, skin tones and joined parts stay with the character they belong to.
    marks = _ranges(
        code
        for block in (
            range(0x300, 0x3100),
            range(0xA600, 0xAC00),
            range(0xFB00, 0x1F000),
            range(0xE0020, 0xE01F0),
        )
        for code in block
        if unicodedata.category(chr(code))[0] == "M" or 0xE0020 <= code <= 0xE007F
    )
    extend = f"(?:[{marks}\U0001f3fb-\U0001f3ff]|[\u200c\u200d](?=\\S).)"
    return re.compile(
        "|".join(
            (
                r"[^\S\r]+",
                f"[{_KANJI}]+(?:{extend}|[{_KANJI}])*",
                f"[{_HIRAGANA}](?:[{_HIRAGANA}ー]|{extend})*",
                f"[{_KATAKANA}]+(?:{extend}|[{_KATAKANA}])*",
                f"{_LETTER}{_LETTERS}(?:{extend}+{_LETTERS})*",
                f"[0-9#*]\ufe0f?\u20e3{extend}*",
                r"\d+",
                r"\r",
                f"(?:[\U0001f1e6-\U0001f1ff]{{2}}|[^\\w\\s]|\\w){extend}*",
            )
        )
    )


def _ranges(codes: Iterable[int]) -> str:
    """Code points as the inside of a character class; only the ends of each run are written."""
    runs: list[list[int]] = []
    for code in codes:
        if runs and runs[-1][1] == code - 1:
            runs[-1][1] = code
        else:
            runs.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in runs)


def split(text: str) -> list[str]:
    """The words of a line; joined they are the line again.

    Japanese is split where the kind of character changes, an emoji stays whole, and every
    punctuation mark stands alone.

    >>> split("提出内容を改善、v2へ")
    ['提出内容', 'を', '改善', '、', 'v2', 'へ']
    """
    return (_PLAIN_WORD if _PLAIN.fullmatch(text) else _any_word()).findall(text)


def marks(
    left: str, right: str, *, ignore_whitespace: bool = False
) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """The spans of both lines that differ; what is outside them is the same text on both sides."""
    if left == right:
        return (), ()
    if left > right:
        # Of equally good ways to mark, both directions take the same.
        right_spans, left_spans = marks(right, left, ignore_whitespace=ignore_whitespace)
        return left_spans, right_spans
    return _marks(left, right, ignore_whitespace)


def _marks(left: str, right: str, ignore_whitespace: bool) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    if len(left) + len(right) > _MOST_CHARS:
        return _middles(left, right)
    head, tail = _same_ends(left, right)
    old, new = (_Words.of(line, head, len(line) - tail, ignore_whitespace) for line in (left, right))
    changes = _changes(old.words, new.words)
    left_spans, right_spans = [], []
    for change in changes:
        left_span, right_span = _narrowed(
            left,
            old.span(change.left_start, change.left_stop),
            right,
            new.span(change.right_start, change.right_stop),
        )
        left_spans.append(left_span)
        right_spans.append(right_span)
    if len(changes) > 2 and _is_confetti(left, left_spans, right, right_spans):
        return _whole(left), _whole(right)
    return _filled(left_spans), _filled(right_spans)


def _middles(left: str, right: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    start = Prefix.similarity(left, right)
    end = min(Postfix.similarity(left, right), min(len(left), len(right)) - start)
    return _filled([(start, len(left) - end)]), _filled([(start, len(right) - end)])


def _same_ends(left: str, right: str) -> tuple[int, int]:
    """How much of both ends is surely the same words: to split it would be most of the work."""
    same = Prefix.similarity(left, right)
    head = max(left.rfind(" ", 0, same), left.rfind("、", 0, same), left.rfind("。", 0, same), 0)
    same = min(Postfix.similarity(left, right), min(len(left), len(right)) - head)
    start = left.find(" ", len(left) - same)
    return head, len(left) - start if start >= 0 else 0


class _Words(NamedTuple):
    """The words of a part of a line that count, and where in the line each ends."""

    words: list[str]
    ends: list[int]
    stop: int

    @classmethod
    def of(cls, line: str, start: int, stop: int, ignore_whitespace: bool) -> "_Words":
        words = split(line[start:stop])
        ends = [start + end for end in accumulate(map(len, words))]
        if ignore_whitespace:
            ends = [end for word, end in zip(words, ends, strict=True) if not word.isspace()]
            words = [word for word in words if not word.isspace()]
        return cls(words, ends, stop)

    def span(self, start: int, stop: int) -> Span:
        """Where words ``start`` to ``stop`` stand in the line."""
        begin = self.ends[start] - len(self.words[start]) if start < len(self.words) else self.stop
        return begin, self.ends[stop - 1] if start < stop else begin


def _changes(left: list[str], right: list[str]) -> list[Change]:
    start = 0
    shorter = min(len(left), len(right))
    while start < shorter and left[start] == right[start]:
        start += 1
    end = 0
    while end < shorter - start and left[-1 - end] == right[-1 - end]:
        end += 1
    left_middle, right_middle = left[start : len(left) - end], right[start : len(right) - end]
    if not left_middle and not right_middle:
        return []
    whole = Change(start, len(left) - end, start, len(right) - end)
    if not left_middle or not right_middle or len(left_middle) * len(right_middle) > _MOST_CELLS:
        return [whole]
    changes: list[Change] = []
    for step in Indel.opcodes(*numbered(left_middle, right_middle)):
        if step.tag == "equal":
            continue
        change = Change(
            start + step.src_start, start + step.src_end, start + step.dest_start, start + step.dest_end
        )
        if changes and (change.left_start, change.right_start) == (
            changes[-1].left_stop,
            changes[-1].right_stop,
        ):
            change = Change(
                changes[-1].left_start, change.left_stop, changes[-1].right_start, change.right_stop
            )
            changes[-1] = change
        else:
            changes.append(change)
    return _bridged(changes, left)


def _bridged(changes: list[Change], left: list[str]) -> list[Change]:
    """Two replaced words with only a space between are one replaced phrase."""
    joined: list[Change] = []
    for change in changes:
        before = joined[-1] if joined else None
        if (
            before is not None
            and all(before[i] < before[i + 1] and change[i] < change[i + 1] for i in (0, 2))
            and all(word.isspace() for word in left[before.left_stop : change.left_start])
        ):
            joined[-1] = Change(before.left_start, change.left_stop, before.right_start, change.right_stop)
        else:
            joined.append(change)
    return joined


def _narrowed(left: str, left_span: Span, right: str, right_span: Span) -> tuple[Span, Span]:
    """Inside one run of kanji or of hiragana there is more than one word: keep what differs.

    Words of kanji are mostly two characters, counted from the run's start, so a narrowed mark covers
    pairs (結果 → 成果, not 結 → 成).
    """
    old, new = left[slice(*left_span)], right[slice(*right_span)]
    if not (old and new and _BY_CHARACTER.fullmatch(old) and _BY_CHARACTER.fullmatch(new)):
        return left_span, right_span
    most = min(len(old), len(new))
    start = 0
    while start < most and old[start] == new[start]:
        start += 1
    end = 0
    while end < most - start and old[-1 - end] == new[-1 - end]:
        end += 1
    if start + end < most and not re.match(f"[{_HIRAGANA}]", old[start] + new[start]):
        start -= start % 2
        while end and (len(old) - start - end) % 2 and (len(new) - start - end) % 2:
            end -= 1
    return (left_span[0] + start, left_span[1] - end), (right_span[0] + start, right_span[1] - end)


def _is_confetti(left: str, left_spans: list[Span], right: str, right_spans: list[Span]) -> bool:
    kept_left = len(left) - sum(stop - start for start, stop in left_spans)
    kept_right = len(right) - sum(stop - start for start, stop in right_spans)
    return min(kept_left, kept_right) < _LEAST_KEPT * min(len(left), len(right))


def _whole(line: str) -> tuple[Span, ...]:
    return ((0, len(line)),) if line else ()


def _filled(spans: Iterable[Span]) -> tuple[Span, ...]:
    return tuple(span for span in spans if span[0] < span[1])
