"""JSON from a person: read without surprises, refused with a sentence."""

import json
from typing import Any, NoReturn

from django.utils.translation import gettext as _

MOST_CHARACTERS = 1_000_000
DEEPEST = 32
"""Levels of lists and objects: far beyond any score's details, far below where reading them gets costly."""


class Unreadable(ValueError):
    """What was written is no such value; the text says where and why."""


def read_json(text: str) -> Any:
    """The value of a JSON text: each key once, finite numbers of sane length, no text that cannot be kept."""
    if not text.strip():
        raise Unreadable(_("There is nothing here yet."))
    if len(text) > MOST_CHARACTERS:
        raise Unreadable(
            _("The JSON has %(length)d characters; at most %(most)d fit.")
            % {"length": len(text), "most": MOST_CHARACTERS}
        )
    try:
        value = json.loads(
            text.removeprefix("\ufeff"),
            object_pairs_hook=_each_key_once,
            parse_constant=_refuse_constant,
            parse_int=_whole_number,
        )
    except json.JSONDecodeError as error:
        where = {"line": error.lineno, "column": error.colno}
        raise Unreadable(
            _("Line %(line)d, column %(column)d: from here on this is not JSON.") % where
        ) from None
    except RecursionError:
        raise Unreadable(_too_deep()) from None
    _refuse_what_cannot_be_kept(value)
    return value


def write_json(value: Any) -> str:
    """The JSON of a value, for people."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made:
            # Which of the two was meant, nobody can tell.
            raise Unreadable(_("“%(key)s” is there twice in one object.") % {"key": _short(key)})
        made[key] = value
    return made


def _refuse_constant(name: str) -> NoReturn:
    raise Unreadable(_("%(name)s is no number that JSON knows.") % {"name": name})


def _whole_number(digits: str) -> int:
    try:
        return int(digits)
    except ValueError:
        # Python reads no whole number of more than 4,300 digits: that would take it too long.
        raise Unreadable(_("A number has %(digits)d digits.") % {"digits": len(digits)}) from None


def _refuse_what_cannot_be_kept(value: Any) -> None:
    waiting = [(value, 0)]
    while waiting:
        part, depth = waiting.pop()
        if depth > DEEPEST:
            raise Unreadable(_too_deep())
        if isinstance(part, str):
            _refuse_characters(part)
        elif isinstance(part, dict):
            waiting += ((each, depth + 1) for pair in part.items() for each in pair)
        elif isinstance(part, list):
            waiting += ((each, depth + 1) for each in part)


def _refuse_characters(text: str) -> None:
    if "\0" in text:
        raise Unreadable(_("There is a NUL character (\\u0000) in it: no database keeps that."))
    try:
        text.encode()
    except UnicodeEncodeError as error:
        half = {"half": f"\\u{ord(text[error.start]):04x}"}
        raise Unreadable(_("There is half of a character (%(half)s) in it.") % half) from None


def _too_deep() -> str:
    return _("Lists and objects lie more than %(most)d levels deep in each other.") % {"most": DEEPEST}


def _short(text: str) -> str:
    # Half a surrogate pair in a key must not break the page that complains about it.
    return text[:40].encode(errors="replace").decode()
