"""How pages of scores are asked for."""

from django import forms
from django.utils.translation import gettext_lazy as _

from studio.prompts.forms import VersionNumberField
from studio.runs.team_forms import PageForm


class AnywayForm(forms.Form):
    """Whether scores of different rulers are compared all the same."""

    anyway = forms.BooleanField(required=False, label=_("Compare anyway"))


class VersionScoresForm(AnywayForm):
    """Which stretch of a set's versions."""

    before = VersionNumberField(required=False, label=_("Before version"))


class VersionRunsForm(AnywayForm, PageForm):
    """Which stretch of a version's runs."""
