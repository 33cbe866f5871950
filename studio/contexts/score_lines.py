"""Score details as a person writes them: «name: score» on each line, or JSON for anything more."""

import re
from typing import Any

from django.utils.translation import gettext as _

from studio.contexts.pasted_json import Unreadable, read_json, write_json

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,30})(?:\.[0-9]{1,30})?(?:[eE][-+]?[0-9]{1,3})?")


def read_details(text: str) -> dict[str, Any] | None:
    """The details that a text stands for; ``None`` for a blank one. Raises ``Unreadable``."""
    if not text.strip():
        return None
    if not text.lstrip().startswith("{"):
        return _read_lines(text)
    value = read_json(text)
    assert isinstance(value, dict), "what begins with a brace and is JSON is an object"
    return value


def write_details(details: dict[str, Any] | None) -> str:
    """The text that ``read_details`` reads back: lines where they can say it all, else JSON."""
    if details is None:
        return ""
    as_json = write_json(details)
    if not details or not all(type(score) in (int, float) for score in details.values()):
        return as_json
    text = "\n".join(f"{name}: {score!r}" for name, score in details.items())
    try:
        said = read_details(text)
    except Unreadable:
        return as_json
    # Names may hold line ends, colons and blanks; order and kind of number count too.
    return text if repr(said) == repr(details) else as_json


def _read_lines(text: str) -> dict[str, Any]:
    details: dict[str, Any] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        # The last colon counts: a name may hold one too. Japanese keyboards give the wide one.
        colon = max(line.rfind(":"), line.rfind("："))
        name, score = line[: max(colon, 0)].strip(), line[colon + 1 :].strip()
        if not name or not _NUMBER.fullmatch(score):
            raise Unreadable(
                _("Line %(line)d: write a name, a colon and a number, such as “Accuracy: 82.5”.")
                % {"line": number}
            )
        if name in details:
            raise Unreadable(
                _("Line %(line)d: “%(name)s” is there already.") % {"line": number, "name": name[:40]}
            )
        details[name] = read_json(score)
    return details
