"""Which two runs are compared."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from studio.results.forms import AnywayForm
from studio.runs.team_forms import PageForm
from studio.shell.forms import SearchForm

_LONGEST = 1000


class NamesField(forms.Field):
    """Names out of a database, each once, in the order given."""

    widget = forms.MultipleHiddenInput

    def to_python(self, value: Any) -> list[str]:
        names = list(dict.fromkeys(value or []))
        if any(len(name) > _LONGEST or "\0" in name for name in names):
            raise ValidationError(_("No run has such an id."))
        return names


class PickRunsForm(SearchForm, PageForm):
    """The checkboxes beside a list of runs."""

    run = NamesField(required=False, label=gettext_lazy("Run"))


class ComparedTeamForm(AnywayForm):
    """One team of a comparison, to be looked at alone."""

    team = forms.CharField(required=False, max_length=_LONGEST, strip=False, label=gettext_lazy("Team"))
