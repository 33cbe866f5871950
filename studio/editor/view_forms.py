"""Which text the editor shows, under which context and round, or for which workspace."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar, overload

from django.http import QueryDict
from django.utils.translation import gettext as _

from builder.template.variables import KINDS, PromptKind
from studio.editor.forms import incomplete
from studio.prompts.texts import TextKind, text_field, unix_line_ends
from studio.shell.refusal import RequestRefused

_NUMBER = re.compile(r"[0-9]{1,18}")
_WORD = re.compile(r"[-\w]{0,80}")


Kind = TypeVar("Kind", bound=TextKind)
Kind_co = TypeVar("Kind_co", bound=TextKind, covariant=True)


@dataclass(frozen=True)
class ViewOf(Generic[Kind_co]):
    """What a link or button of the editor asks for."""

    kind: Kind_co
    context: str
    round: int | None
    tab: str
    seq: int
    workspace: str = ""
    """For which a system prompt is built."""


EditorView = ViewOf[PromptKind]
"""Of a set that holds templates."""


@overload
def read_view(data: QueryDict) -> EditorView: ...
@overload
def read_view(data: QueryDict, kinds: Sequence[Kind]) -> ViewOf[Kind]: ...
def read_view(data: QueryDict, kinds: Sequence[TextKind] = KINDS) -> ViewOf[TextKind]:
    """The view that an address or a form names; a value that no page of ours sends is a 400.

    Without Django's forms: a preview is asked for at every pause, and this is a third of its work.
    """
    # The buttons have names of their own: what stands in the form is the view they lead away from.
    wanted = data.get("show") or data.get("kind") or kinds[0]
    kind = next((each for each in kinds if each == wanted), None)
    if kind is None:
        raise _refusal("kind")
    return ViewOf(
        kind=kind,
        context=_word(data, "context"),
        round=_number(data, "go") or _number(data, "round"),
        tab=_word(data, "tab")[:40],
        seq=_number(data, "seq") or 0,
        workspace=_word(data, "workspace"),
    )


def sent_text(data: QueryDict, kind: TextKind) -> str:
    """The text of that kind. It goes to the jail as it is: what is wrong with it, the check says best."""
    text = data.get(text_field(kind))
    if text is None:
        raise RequestRefused(400, incomplete(text_field(kind)))
    return unix_line_ends(text)


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


def _refusal(name: str) -> RequestRefused:
    return RequestRefused(400, _("There is no such value: %(field)s.") % {"field": name})
