"""Forms of the editor: the texts that a browser sends, and which text, context and round it wants to see."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, overload

from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpRequest, QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from builder.jail import Choice
from builder.template.variables import KINDS, PromptKind
from studio.editor.conflicts import CHOICES, TAKES, Take, TemplateConflict
from studio.models import PromptSet
from studio.prompts.drafts import SentDraft
from studio.prompts.texts import (
    MESSAGE_LENGTH,
    MOST_CHARACTERS,
    TEXT_FIELDS,
    TEXT_NAMES,
    TextKind,
    texts_of,
    unix_line_ends,
)
from studio.shell.refusal import RequestRefused
from studio.shell.requests import refuse_other_encodings, valid_or_refuse

_MOST = 10**9


def incomplete(field: str) -> str:
    """The words for a form that lost a field on its way."""
    return _("The form is not complete: %(field)s is missing.") % {"field": field}


class TemplateField(forms.CharField):
    """A template as it was typed, to the last blank; what is wrong with it, the check says best."""

    def __init__(self) -> None:
        super().__init__(strip=False, required=False)
        self.validators = []

    def to_python(self, value: Any) -> str:
        return unix_line_ends(super().to_python(value) or "")


class DraftForm(forms.Form):
    """A draft, and what its tab knows of the one that is stored."""

    base = forms.IntegerField(min_value=0, max_value=_MOST)
    revision = forms.IntegerField(min_value=0, max_value=_MOST)
    tab = forms.RegexField(r"\A[-\w]{0,40}\Z", required=False)
    seq = forms.IntegerField(min_value=0, max_value=_MOST, required=False)
    message = forms.CharField(required=False, label=gettext_lazy("Message"))

    def __init__(self, data: Any, kinds: Sequence[TextKind] = KINDS) -> None:
        super().__init__(data)
        self.kinds = kinds
        self.fields |= {TEXT_FIELDS[kind]: TemplateField() for kind in kinds}

    def clean(self) -> dict[str, Any]:
        """A field that was not sent is no empty text: it must not empty the draft."""
        if missing := [name for name in (TEXT_FIELDS[kind] for kind in self.kinds) if name not in self.data]:
            raise ValidationError(incomplete(missing[0]))
        return self.cleaned_data

    @property
    def sent(self) -> SentDraft:
        """The clean values."""
        clean = self.cleaned_data
        return SentDraft(
            templates=texts_of({kind: clean[TEXT_FIELDS[kind]] for kind in self.kinds}),
            base=clean["base"],
            revision=clean["revision"],
            message=clean["message"][:MESSAGE_LENGTH],
            tab=clean["tab"],
            seq=clean["seq"] or 0,
        )

    @property
    def message_error(self) -> str:
        """Why no version can be saved with this message."""
        length = len(self.cleaned_data["message"])
        if not length:
            return _("Describe the change briefly. It appears in the history.")
        if length > MESSAGE_LENGTH:
            return _("The message has %(length)d characters; the limit is %(most)d.") % {
                "length": length,
                "most": MESSAGE_LENGTH,
            }
        return ""

    def refuse_what_cannot_be_kept(self) -> None:
        """413 for a text that is too long, 400 for one that a database cannot hold."""
        for kind, text in self.sent.templates.parts.items():
            if len(text) > MOST_CHARACTERS:
                raise RequestRefused(
                    413,
                    _("%(field)s has %(length)d characters; the limit is %(most)d.")
                    % {"field": TEXT_NAMES[kind], "length": len(text), "most": MOST_CHARACTERS},
                    _("Shorten it: until then it is not saved on the server."),
                )
            if "\0" in text:
                raise RequestRefused(
                    400,
                    _("%(field)s, line %(line)d: NUL character.")
                    % {"field": TEXT_NAMES[kind], "line": text[: text.index("\0")].count("\n") + 1},
                    _("Remove it: until then the text is not saved on the server."),
                )


class RevisionForm(forms.Form):
    """Which state of the draft a decision was made on."""

    revision = forms.IntegerField(min_value=0, max_value=_MOST)


def read_draft(request: HttpRequest, prompt_set: PromptSet) -> DraftForm:
    """The draft that a request carries, whole and in UTF-8."""
    refuse_other_encodings(request)
    return valid_or_refuse(DraftForm(request.POST, prompt_set.kinds))


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
    kind = next((kind for kind in kinds if kind == wanted), None)
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


def read_choices(
    data: QueryDict, texts: Sequence[TemplateConflict]
) -> tuple[dict[TextKind, Take], dict[str, Choice]]:
    """What a person took of texts that were put together: of each text, and where both changed it."""
    takes = {text.kind: take for text in texts for take in TAKES if data.get(text.kind) == take}
    fields = [dispute.field for text in texts for dispute in text.disputes if dispute.field]
    return takes, {field: choice for field in fields for choice in CHOICES if data.get(field) == choice}


def sent_text(data: QueryDict, kind: TextKind) -> str:
    """The text of that kind. It goes to the jail as it is: what is wrong with it, the check says best."""
    text = data.get(TEXT_FIELDS[kind])
    if text is None:
        raise RequestRefused(400, incomplete(TEXT_FIELDS[kind]))
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
    return RequestRefused(400, _("Invalid value: %(field)s.") % {"field": name})
