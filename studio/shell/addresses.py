"""Parts of addresses: their converters for `urls.py`, and slugs made from names in any script."""

import re
from typing import Any
from unicodedata import normalize

from django.db.models import QuerySet
from django.urls.converters import StringConverter
from django.utils.text import slugify

_OPEN = r"[^/.\x00-\x1f\x7f]"

_UNSAFE = re.compile(
    # A decoded %2F is a slash like any other by the time Django sees it; browsers fold "." and ".."
    # away, percent-encoded or not, and turn a backslash into a slash; "..." stands between two names.
    r"[~/\\\x00-\x1f\x7f-\x9f\ud800-\udfff]|^\.|\.(?=\.)|(?<=\.)\.|\.\Z"
)
_ESCAPED = re.compile(r"~([0-9A-F]{2})")
_EMPTY = "~"

_RESERVED_NAMES = ("compare",)
"""Addresses that stand where a name does."""
_RESERVED_SLUGS = {"import", "new"}
_LONGEST_SLUG = 80


class StoredNameConverter:
    """``team/a`` travels as ``team~2Fa``; Japanese, spaces and most else as they are."""

    regex = rf"{_OPEN}+(?:\.{_OPEN}+)*"

    def to_python(self, value: str) -> str:
        if value == _EMPTY:
            return ""
        if "~" not in value:
            return value
        if "~" in _ESCAPED.sub("", value):
            raise ValueError(value)
        # Bytes in a row may be one character, so they are put together before they are decoded.
        data = re.sub(rb"~([0-9A-F]{2})", lambda match: bytes.fromhex(match[1].decode()), value.encode())
        return data.decode()

    def to_url(self, value: str) -> str:
        if not value:
            return _EMPTY
        if value in _RESERVED_NAMES:
            return _escape(value[0]) + value[1:]
        return _UNSAFE.sub(lambda match: _escape(match[0]), value)


def _escape(text: str) -> str:
    return "".join(f"~{byte:02X}" for byte in text.encode("utf-8", "surrogatepass"))


class SlugConverter(StringConverter):
    """Words of any script joined by hyphens; a NUL, which databases refuse, is none."""

    regex = r"[-\w]+"


class NumberConverter:
    """1, 2, 3… up to what a database column holds."""

    regex = r"[1-9][0-9]{0,8}"

    def to_python(self, value: str) -> int:
        return int(value)

    def to_url(self, value: int) -> str:
        return str(value)


class RoundConverter(NumberConverter):
    """A round's number: whatever whole number somebody's database holds, from 1."""

    regex = r"[1-9][0-9]{0,17}"


class SideConverter(NumberConverter):
    """A side of a comparison: a version's number, or the reader's own draft."""

    regex = rf"{NumberConverter.regex}|draft"

    def to_python(self, value: str) -> int | str:  # type: ignore[override]
        return value if value == "draft" else int(value)


def free_slug(taken_by: QuerySet[Any], name: str, fallback: str) -> str:
    """A slug that no row of the query has: ``research``, then ``research-2``; ``fallback`` for «!?»."""
    stem = slugify(normalize("NFKC", name), allow_unicode=True)[: _LONGEST_SLUG - 8].strip("-_") or fallback
    taken = _RESERVED_SLUGS | set(taken_by.filter(slug__startswith=stem).values_list("slug", flat=True))
    number, slug = 1, stem
    while slug in taken:
        number += 1
        slug = f"{stem}-{number}"
    return slug
