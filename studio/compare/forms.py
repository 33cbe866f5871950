"""What a comparison's address says: which texts, compared how, and what of it is unfolded."""

import re
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from studio.compare.versions import SideName
from studio.prompts.texts import TEXT_KINDS, TextKind

_MOST_OPENED = 200
_STRETCH = re.compile(rf"({'|'.join(TEXT_KINDS)})\.(0|[1-9][0-9]{{0,8}})-([1-9][0-9]{{0,8}})", re.ASCII)


@dataclass(frozen=True)
class Opened:
    """Rows of one text that a person asked to see."""

    kind: TextKind
    rows: range


class OpenedField(forms.Field):
    """Any number of `team.120-480`."""

    widget = forms.MultipleHiddenInput

    def to_python(self, value: Any) -> list[Opened]:
        found = [_STRETCH.fullmatch(str(each)) for each in value or ()]
        if len(found) > _MOST_OPENED or not all(found):
            raise ValidationError(_("There are no such rows."))
        return [
            Opened(kind, range(int(each[2]), int(each[3])))
            for each in found
            for kind in TEXT_KINDS
            if each and kind == each[1]
        ]


class SideField(forms.RegexField):
    """A version's number, as pages write it (`v5`) too, or the draft."""

    def __init__(self, **more: Any) -> None:
        super().__init__(r"\A(draft|v?[1-9][0-9]{0,8})\Z", required=False, **more)

    def clean(self, value: Any) -> SideName | None:
        name = super().clean(value)
        if name == "draft":
            return "draft"
        return int(name.removeprefix("v")) if name else None


class CompareForm(forms.Form):
    """The query of a comparison."""

    rendered = forms.BooleanField(required=False)
    context = forms.RegexField(r"\A[-\w]{0,80}\Z", required=False, label=gettext_lazy("Sample context"))
    round = forms.IntegerField(min_value=1, max_value=2**63 - 1, required=False, label=gettext_lazy("Round"))
    w = forms.BooleanField(required=False)
    all = forms.BooleanField(required=False)
    open = OpenedField(required=False)
    rows = OpenedField(required=False)
    """One stretch alone, for a page that is open already."""
    old = SideField(label=gettext_lazy("First version"))
    new = SideField(label=gettext_lazy("Second version"))
    """Another pair, from the form on the page; either may stay as it is."""
