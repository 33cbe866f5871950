"""What the pages of runs are asked for."""

from typing import get_args

from django import forms
from django.utils.translation import gettext_lazy as _

from builder.leaderboard import ExecutionState
from studio.shell.forms import SearchForm

STATES: dict[ExecutionState, object] = {
    "running": _("Running"),
    "completed": _("Completed"),
    "partial_failure": _("Partial failure"),
    "failed": _("Failed"),
    "unknown": _("Unknown"),
}
assert set(STATES) == set(get_args(ExecutionState))


class RunSearchForm(SearchForm):
    """Runs by text and state."""

    state = forms.ChoiceField(
        choices=[(state, name) for state, name in STATES.items()], required=False, label=_("State")
    )
    page = forms.IntegerField(required=False, min_value=1, max_value=1_000_000, label=_("Page"))


class RunForm(forms.Form):
    """How one run is shown, and which parts of the page the browser has."""

    order = forms.ChoiceField(
        choices=[("mixseek", "mixseek"), ("contract", "contract")], required=False, label=_("Order")
    )


class RunTeamForm(forms.Form):
    """How a team's rounds are shown."""

    raw = forms.BooleanField(required=False, label=_("As plain text"))
    whole = forms.IntegerField(required=False, min_value=0, max_value=999_999_999, label=_("Whole text"))
    page = forms.IntegerField(required=False, min_value=1, max_value=1_000_000, label=_("Page"))
