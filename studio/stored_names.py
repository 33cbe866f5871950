"""Names out of somebody's database as one part of an address, whatever they contain."""

import re

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
