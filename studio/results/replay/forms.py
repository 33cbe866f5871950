"""Forms that read the address of a replay: which version, which of the three templates, compared how."""

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from builder.template.variables import KINDS
from studio.compare.forms import OpenedField
from studio.compare.versions import SideName
from studio.results.replay.choice import Wanted
from studio.runs.forms import PageForm

_WANTED = re.compile(r"(?:([-\w]{1,80})/)?(draft|v?[1-9][0-9]{0,8})")


class WantedField(forms.CharField):
    """`7`, `v7` or `draft`, or with its set before it: `research-team/7`."""

    def __init__(self, **more: Any) -> None:
        super().__init__(max_length=100, required=False, **more)

    def clean(self, value: Any) -> Wanted:
        text = super().clean(value)
        if not text:
            return Wanted()
        parts = _WANTED.fullmatch(text)
        if parts is None:
            raise ValidationError(_("Enter a version such as v5, or “draft”."))
        side: SideName = "draft" if parts[2] == "draft" else int(parts[2].removeprefix("v"))
        return Wanted(parts[1] or "", side)


class ReplayChoiceForm(PageForm):
    """With what a whole run is replayed."""

    set = forms.RegexField(r"\A[-\w]{0,80}\Z", required=False, label=gettext_lazy("Prompt set"))
    version = WantedField(label=gettext_lazy("Version"))
    was = forms.RegexField(r"\A[-\w]{0,80}\Z", required=False, label=gettext_lazy("Prompt set"))
    """The set that the list of versions was made for: of another one, its number says nothing."""

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
