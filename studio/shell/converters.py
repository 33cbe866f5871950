"""Converters for the parts of addresses: slugs, numbers, sides of a comparison, names out of a database."""

import re

from django.urls.converters import StringConverter

_OPEN = r"[^/.\x00-\x1f\x7f]"

_UNSAFE = re.compile(
    # A decoded %2F is a slash like any other by the time Django sees it; browsers fold "." and ".."
    # away, percent-encoded or not, and turn a backslash into a slash; "..." stands between two names.
    r"[~/\\\x00-\x1f\x7f-\x9f\ud800-\udfff]|^\.|\.(?=\.)|(?<=\.)\.|\.\Z"
)
_ESCAPED = re.compile(r"~([0-9A-F]{2})")
_EMPTY = "~"

_RESERVED = ("compare",)
"""Addresses that stand where a name does."""


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
        data = re.sub(rb"~([0-9A-F]{2})", lambda found: bytes.fromhex(found[1].decode()), value.encode())
        return data.decode()

    def to_url(self, value: str) -> str:
        if not value:
            return _EMPTY
        if value in _RESERVED:
            return _escape(value[0]) + value[1:]
        return _UNSAFE.sub(lambda found: _escape(found[0]), value)


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
