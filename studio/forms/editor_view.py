"""Which template the editor shows, under which context and round."""

import re
from dataclasses import dataclass

from django.http import QueryDict
from django.utils.translation import gettext as _

from builder.variables import KINDS, PromptKind, field_name
from studio.forms.editor import incomplete, lines_of
from studio.problems import Problem

_NUMBER = re.compile(r"[0-9]{1,18}")
_WORD = re.compile(r"[-\w]{0,80}")


@dataclass(frozen=True)
class EditorView:
    """What a link or button of the editor asks for."""

    kind: PromptKind
    context: str
    round: int | None
    tab: str
    seq: int


def read_view(data: QueryDict) -> EditorView:
    """The view that an address or a form names; a value that no page of ours sends is a 400.

    Without Django's forms: a preview is asked for at every pause, and this is a third of its work.
    """
    kind: PromptKind = "team"
    # The buttons have names of their own: what stands in the form is the view they lead away from.
    wanted = data.get("show") or data.get("kind") or kind
    if wanted not in KINDS:
        raise _refusal("kind")
    return EditorView(
        kind=wanted,
        context=_word(data, "context"),
        round=_number(data, "go") or _number(data, "round"),
        tab=_word(data, "tab")[:40],
        seq=_number(data, "seq") or 0,
    )


def sent_text(data: QueryDict, kind: PromptKind) -> str:
    """The template of that kind. It goes to the jail as it is: what is wrong with it, the check says best."""
    text = data.get(field_name(kind))
    if text is None:
        raise Problem(400, incomplete(field_name(kind)))
    return lines_of(text)


def _word(data: QueryDict, name: str) -> str:
    value = data.get(name, "")
    if not _WORD.fullmatch(value):
        raise _refusal(name)
    return value


def _number(data: QueryDict, name: str) -> int | None:
    value = data.get(name, "")
    if not value:
        return None
    if not _NUMBER.fullmatch(value):
        raise _refusal(name)
    return int(value)


def _refusal(name: str) -> Problem:
    return Problem(400, _("There is no such value: %(field)s.") % {"field": name})
