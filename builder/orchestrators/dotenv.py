"""The variables that a `.env` file sets, as far as MixSeek's own are concerned. Used by the finder.

The file holds secrets: whatever does not begin with the prefix is passed over unread.
"""

import re

PREFIX = "mixseek_"

_LINE = re.compile(
    r"""^[^\S\n]*(?:export[^\S\n]+)?(?P<name>mixseek_[A-Za-z0-9_]+)[^\S\n]*=[^\S\n]*
    (?:'(?P<single>(?:\\'|[^'])*)' | "(?P<double>(?:\\"|[^"])*)" | (?P<plain>[^\n]*))""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", '"': '"', "'": "'"}


def mixseek_variables(data: bytes) -> dict[str, str]:
    """MixSeek's variables by their names in lower case; of two settings of one name the later counts."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    return {match["name"].lower(): _value(match) for match in _LINE.finditer(text)}


def _value(match: re.Match[str]) -> str:
    if match["single"] is not None:
        return match["single"].replace("\\'", "'")
    if match["double"] is not None:
        return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[0]), match["double"])
    return re.sub(r"\s+#.*$", "", match["plain"]).strip()
