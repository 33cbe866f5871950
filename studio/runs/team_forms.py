"""How the lists of teams and scores are narrowed and ordered."""

from typing import Any, get_args

from django import forms
from django.utils.translation import gettext_lazy as _

from builder.leaderboard import ScoresOf, TeamOrder
from studio.shell.forms import SearchForm


class PageForm(forms.Form):
    """Which stretch of a list is shown."""

    page = forms.IntegerField(required=False, min_value=1, max_value=1_000_000, label=_("Page"))

    def clean(self) -> dict[str, Any]:
        clean: dict[str, Any] = super().clean() or self.cleaned_data
        clean["page"] = clean.get("page") or 1
        return clean


class TeamSearchForm(SearchForm, PageForm):
    """Teams by name or id, in an order."""

    order = forms.ChoiceField(
        choices=[(order, order) for order in get_args(TeamOrder)], required=False, label=_("Order")
    )

    def clean_order(self) -> str:
        return self.cleaned_data["order"] or "best"


class ScoresForm(forms.Form):
    """Which scores a distribution is made of."""

    of = forms.ChoiceField(choices=[(of, of) for of in get_args(ScoresOf)], required=False, label=_("Scores"))
    team = forms.CharField(required=False, max_length=1000, strip=False, label=_("Team"))
    by = forms.ChoiceField(
        choices=[("teams", "teams"), ("runs", "runs")], required=False, label=_("Grouped by")
    )

    def clean_of(self) -> str:
        return self.cleaned_data["of"] or "best"

    def clean_by(self) -> str:
        return self.cleaned_data["by"] or "teams"
