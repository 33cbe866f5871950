"""What the address of a replay says: with which version, which of the three templates, compared how."""

import re
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from builder.template.variables import KINDS
from studio.compare.forms import OpenedField
from studio.compare.versions import SideName

_WANTED = re.compile(r"(?:([-\w]{1,80})/)?(draft|v?[1-9][0-9]{0,8})")


@dataclass(frozen=True)
class Wanted:
    """A version or the draft; the set may be named beside it."""

    slug: str = ""
    side: SideName | None = None


class WantedField(forms.CharField):
    """`7`, `v7` or `draft`, or with its set before it: `research-team/7`."""

    def __init__(self, **more: Any) -> None:
        super().__init__(max_length=100, required=False, **more)

    def clean(self, value: Any) -> Wanted:
        text = super().clean(value)
        if not text:
            return Wanted()
        found = _WANTED.fullmatch(text)
        if found is None:
            raise ValidationError(_("Write a version such as v5, or draft."))
        side: SideName = "draft" if found[2] == "draft" else int(found[2].removeprefix("v"))
        return Wanted(found[1] or "", side)


class ReplayChoiceForm(forms.Form):
    """With what a whole run is replayed."""

    set = forms.RegexField(r"\A[-\w]{0,80}\Z", required=False, label=gettext_lazy("Prompt set"))
    version = WantedField(label=gettext_lazy("Version"))
    was = forms.RegexField(r"\A[-\w]{0,80}\Z", required=False, label=gettext_lazy("Prompt set"))
    """The set that the list of versions was made for: of another one, its number says nothing."""
    page = forms.IntegerField(required=False, min_value=1, max_value=100_000, label=gettext_lazy("Page"))

    @property
    def wanted(self) -> Wanted:
        asked: Wanted = self.cleaned_data["version"]
        if asked.slug:
            return asked
        slug, was = self.cleaned_data["set"], self.cleaned_data["was"]
        return Wanted(slug, None if was and was != slug else asked.side)


class ReplayForm(ReplayChoiceForm):
    """The query of one round's replay."""

    kind = forms.ChoiceField(
        choices=[(kind, kind) for kind in KINDS], required=False, label=gettext_lazy("Template")
    )
    w = forms.BooleanField(required=False)
    all = forms.BooleanField(required=False)
    open = OpenedField(required=False)
    rows = OpenedField(required=False)
    """One stretch alone, for a page that is open already."""
