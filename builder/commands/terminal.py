"""The output of the command line: exact bytes, colours for terminals only, columns that fit Japanese."""

import os
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TextIO

RED, GREEN, YELLOW, BLUE, DIM = "31", "32", "33", "34", "2"


def coloured(stream: TextIO) -> bool:
    return stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def paint(text: str, colour: str, stream: TextIO) -> str:
    return f"\x1b[{colour}m{text}\x1b[0m" if coloured(stream) else text


def write_exactly(text: str) -> None:
    """Not one byte more: no newline is added and none is translated."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8"))
    sys.stdout.buffer.flush()


def complain(message: str, advice: str = "") -> None:
    """An error for a person, on stderr so that a pipe stays clean."""
    print(f"{paint('error:', RED, sys.stderr)} {visible(message)}", file=sys.stderr)
    if advice:
        print(f"  {visible(advice)}", file=sys.stderr)


def warn(message: str) -> None:
    print(f"{paint('warning:', YELLOW, sys.stderr)} {visible(message)}", file=sys.stderr)


def note(message: str) -> None:
    print(message, file=sys.stderr)


def width(text: str) -> int:
    """Columns that a terminal gives the text: a Japanese character takes two, a combining one none."""
    return sum(_cell(character) for character in text)


def _cell(character: str) -> int:
    if unicodedata.combining(character) or character in "\u200d\ufe0e\ufe0f":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def fit(text: str, columns: int) -> str:
    """Cut or padded to exactly so many columns."""
    if width(text) <= columns:
        return text + " " * (columns - width(text))
    kept, used = [], 0
    for character in text:
        if used + _cell(character) > columns - 1:
            break
        kept.append(character)
        used += _cell(character)
    return "".join(kept) + "…" + " " * (columns - 1 - used)


def visible(text: str) -> str:
    """Control characters shown as symbols: stored text must not drive the terminal."""
    return "".join(
        character if character.isprintable() or character == " " else _symbol(character) for character in text
    )


def _symbol(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> str:
    """Aligned columns; those in ``right`` hold numbers."""
    cells = [list(headings), *([visible(cell) for cell in row] for row in rows)]
    widths = [max(width(row[column]) for row in cells) for column in range(len(headings))]
    to_the_right = set(right)
    lines = []
    for row in cells:
        padded = [
            " " * (widths[at] - width(cell)) + cell if at in to_the_right else fit(cell, widths[at])
            for at, cell in enumerate(row)
        ]
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines) + "\n"
