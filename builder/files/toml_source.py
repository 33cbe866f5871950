"""The source of a TOML document: where its statements stand, and how a text is written as a value.

tomllib says what a document means but not where a value stands; tomlkit, which writes new files, keeps
the layout of old ones but moves arrays of tables defined in pieces, and needs seconds for long templates.
This scanner gives exact spans in linear time. It judges nothing: tomllib does, before and after.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

MAX_DEPTH = 64
"""Of a dotted key, and of nested values: tomllib's time grows with the square of the parts
(40 kB of ``a.a.a…`` take 7 s), and nesting meets Python's recursion limit."""

_PART = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')"""
_KEY_PART = re.compile(_PART)
_DOT = re.compile(r"[ \t]*\.[ \t]*")
_BLANK = re.compile(r"[ \t]*")
_LINE_END = re.compile(r"\r?\n")
_REST_OF_LINE = re.compile(r"[^\n]*(?:\n|\Z)")
_EQUALS = re.compile(r"[ \t]*=[ \t]*")
_SCALAR = re.compile(r"[^#\r\n]*")
_BASIC_MARK = re.compile(r'\\.|"|\n', re.DOTALL)
_BASIC_BLOCK_MARK = re.compile(r'\\.|"{3,5}', re.DOTALL)
_LITERAL_MARK = re.compile(r"'|\n")
_LITERAL_BLOCK_MARK = re.compile(r"'{3,5}")
_NESTED_MARK = re.compile(r"""[\[\]{}"'#.,\n]""")


class Unscannable(Exception):
    """The text is no TOML from ``offset`` on, or nested too deeply there."""

    def __init__(self, offset: int, *, too_deep: bool = False) -> None:
        super().__init__(offset)
        self.offset, self.too_deep = offset, too_deep


@dataclass(frozen=True)
class Statement:
    """A table header or a ``key = value``, from its first character to the end of its line.

    ``path`` is absolute. ``value_start`` and ``value_end`` enclose the value as it is written.
    """

    kind: Literal["table", "array", "value"]
    path: tuple[str, ...]
    table: tuple[str, ...]
    start: int
    value_start: int
    value_end: int
    end: int


def scan(text: str) -> list[Statement]:
    """The statements of a document, in its order."""
    return list(_statements(text))


def _statements(text: str) -> Iterator[Statement]:
    table: tuple[str, ...] = ()
    at = 0
    while at < len(text):
        start = _skip(_BLANK, text, at)
        if start == len(text):
            return
        if text[start] == "#" or _LINE_END.match(text, start):
            at = _skip(_REST_OF_LINE, text, start)
            continue
        if text[start] == "[":
            brackets = 2 if text.startswith("[[", start) else 1
            path, at = _key(text, _skip(_BLANK, text, start + brackets))
            at = _skip(_REST_OF_LINE, text, at)
            table = path
            yield Statement("array" if brackets == 2 else "table", path, path, start, at, at, at)
            continue
        path, at = _key(text, start)
        equals = _EQUALS.match(text, at)
        if equals is None:
            raise Unscannable(at)
        value_end = _value_end(text, equals.end())
        at = _skip(_REST_OF_LINE, text, value_end)
        yield Statement("value", table + path, table, start, equals.end(), value_end, at)


def _skip(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _key(text: str, at: int) -> tuple[tuple[str, ...], int]:
    """The parts of a key that begins here, and where it ends."""
    parts: list[str] = []
    while True:
        part = _KEY_PART.match(text, at)
        if part is None:
            raise Unscannable(at)
        parts.append(_plain(part.group(), at))
        if len(parts) > MAX_DEPTH:
            raise Unscannable(at, too_deep=True)
        dot = _DOT.match(text, part.end())
        if dot is None:
            return tuple(parts), part.end()
        at = dot.end()


def _plain(part: str, at: int) -> str:
    if part[0] == "'":
        return part[1:-1]
    if part[0] != '"':
        return part
    try:
        return str(tomllib.loads(f"key = {part}")["key"])
    except tomllib.TOMLDecodeError:
        raise Unscannable(at) from None


def _value_end(text: str, start: int) -> int:
    first = text[start : start + 1]
    if first in ('"', "'"):
        return _string_end(text, start)
    if first in ("[", "{"):
        return _nested_end(text, start)
    scalar = text[start : _skip(_SCALAR, text, start)].rstrip(" \t")
    if not scalar:
        raise Unscannable(start)
    return start + len(scalar)


def _string_end(text: str, start: int) -> int:
    quote = text[start]
    block = text.startswith(quote * 3, start)
    if quote == '"':
        mark = _BASIC_BLOCK_MARK if block else _BASIC_MARK
    else:
        mark = _LITERAL_BLOCK_MARK if block else _LITERAL_MARK
    for match in mark.finditer(text, start + (3 if block else 1)):
        if match.group()[0] == quote:
            return match.end()
        if match.group() == "\n":
            break
    raise Unscannable(start)


def _nested_end(text: str, start: int) -> int:
    """The end of an array or an inline table."""
    depth = dots = 0
    at = start
    while match := _NESTED_MARK.search(text, at):
        mark, at = match.group(), match.end()
        if mark in "\"'":
            at = _string_end(text, match.start())
        elif mark == "#":
            at = _skip(_REST_OF_LINE, text, at)
        elif mark == ".":
            dots += 1
            if dots >= MAX_DEPTH:
                raise Unscannable(match.start(), too_deep=True)
        else:
            dots = 0
            depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(mark, 0)
            if depth > MAX_DEPTH:
                raise Unscannable(match.start(), too_deep=True)
            if depth == 0:
                return at
    raise Unscannable(start)


_ESCAPED = re.compile(
    # A quote before another, or at the end, could close the block; the rest is unreadable or
    # forbidden in a file: the backslash, controls but tab and newline, U+2028/9, a BOM.
    r'["](?="|\Z)|[\\\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]'
)


def write_value(text: str, newline: str = "\n") -> str:
    """A text as a readable TOML block that tomllib reads back to exactly this text."""
    block = _ESCAPED.sub(_escape, text)
    # A newline right after the opening quotes is dropped by readers; ours is the one dropped.
    return f'"""\n{block}"""'.replace("\n", newline)


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    return "\\" + character if character in '"\\' else f"\\u{ord(character):04X}"
