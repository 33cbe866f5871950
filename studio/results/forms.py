"""Forms that read the addresses of pages of scores. Used by the views here and by comparisons of versions."""

from django import forms
from django.utils.translation import gettext_lazy as _

from studio.prompts.forms import VersionNumberField
from studio.runs.forms import AnywayForm, PageForm

USUAL_DIFFERENCE = 2.0
"""In points; nobody chose another."""


class PartialForm(forms.Form):
    """Whether teams that ended by a failure or a timeout count, too."""

    partial = forms.BooleanField(required=False, label=_("With teams that did not finish"))


class PlannedForm(forms.Form):
    """The difference between two versions that a reader would like to detect."""

    detect = forms.FloatField(required=False, min_value=0.01, max_value=1e6, label=_("Difference to detect"))

    def clean_detect(self) -> float:
        return self.cleaned_data["detect"] or USUAL_DIFFERENCE


class VersionScoresForm(AnywayForm, PartialForm, PlannedForm):
    """Which stretch of a set's versions."""

    before = VersionNumberField(required=False, label=_("Before version"))


class VersionRunsForm(AnywayForm, PartialForm, PlannedForm, PageForm):
    """Which stretch of a version's runs."""
