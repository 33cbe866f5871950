"""JSON and score details as a person writes them: read strictly, refused with a sentence.

Score details may also be «name: score» on each line. Used by the forms of contexts and of rounds.
"""

import json
import re
from typing import Any, NoReturn

from django.utils.translation import gettext as _

MOST_CHARACTERS = 1_000_000
DEEPEST = 32
"""Levels of lists and objects: far beyond any score's details, far below where reading them gets costly."""
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,30})(?:\.[0-9]{1,30})?(?:[eE][-+]?[0-9]{1,3})?")


class Unreadable(ValueError):
    """What was written is no such value; the text says where and why."""


def read_json(text: str) -> Any:
    """The value of a JSON text: each key once, finite numbers of sane length, no text that cannot be kept."""
    if not text.strip():
        raise Unreadable(_("Empty."))
    if len(text) > MOST_CHARACTERS:
        raise Unreadable(
            _("The JSON has %(length)d characters; the limit is %(most)d.")
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
        raise Unreadable(_("Line %(line)d, column %(column)d: invalid JSON.") % where) from None
    except RecursionError:
        raise Unreadable(_too_deep()) from None
    _refuse_what_cannot_be_kept(value)
    return value


def write_json(value: Any) -> str:
    """The JSON of a value, for people."""
    return json.dumps(value, ensure_ascii=False, indent=2)


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


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made:
            # Which of the two was meant, nobody can tell.
            raise Unreadable(_("“%(key)s” occurs twice in one object.") % {"key": _short(key)})
        made[key] = value
    return made


def _refuse_constant(name: str) -> NoReturn:
    raise Unreadable(_("%(name)s is not a JSON number.") % {"name": name})


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
            waiting += ((inner, depth + 1) for pair in part.items() for inner in pair)
        elif isinstance(part, list):
            waiting += ((inner, depth + 1) for inner in part)


def _refuse_characters(text: str) -> None:
    if "\0" in text:
        raise Unreadable(_("It contains a NUL character (\\u0000), which cannot be stored."))
    try:
        text.encode()
    except UnicodeEncodeError as error:
        half = {"half": f"\\u{ord(text[error.start]):04x}"}
        raise Unreadable(_("It contains a lone surrogate (%(half)s).") % half) from None


def _too_deep() -> str:
    return _("Lists and objects are nested more than %(most)d levels deep.") % {"most": DEEPEST}


def _short(text: str) -> str:
    # Half a surrogate pair in a key must not break the page that complains about it.
    return text[:40].encode(errors="replace").decode()


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
                _("Line %(line)d: “%(name)s” occurs twice.") % {"line": number, "name": name[:40]}
            )
        details[name] = read_json(score)
    return details
