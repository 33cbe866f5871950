"""Forms that read the addresses of pages about runs, rounds, teams and scores. Used by the views here."""

from typing import Any, get_args

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from builder.leaderboard import ExecutionOrder, ExecutionState, ScoresOf, TeamOrder
from studio.shell.forms import SearchForm

STATES: dict[ExecutionState, object] = {
    "running": _("Running"),
    "completed": _("Completed"),
    "partial_failure": _("Partial failure"),
    "failed": _("Failed"),
    "unknown": _("Unknown"),
}
assert set(STATES) == set(get_args(ExecutionState))

_LONGEST = 1000
"""Characters of an id; MixSeek's are far shorter."""


class PageForm(forms.Form):
    """Which page of a list is shown; the first where none is named."""

    page = forms.IntegerField(required=False, min_value=1, max_value=1_000_000, label=_("Page"))

    def clean(self) -> dict[str, Any]:
        clean: dict[str, Any] = super().clean() or self.cleaned_data
        clean["page"] = clean.get("page") or 1
        return clean


class AnywayForm(forms.Form):
    """Whether scores that were measured differently are compared all the same."""

    anyway = forms.BooleanField(required=False, label=_("Compare anyway"))


class RunSearchForm(SearchForm, PageForm):
    """Runs by text and state."""

    state = forms.ChoiceField(choices=list(STATES.items()), required=False, label=_("State"))


class AllRunsForm(RunSearchForm):
    """Runs of all workspaces: of one of them, of a set or version, in an order."""

    workspace = forms.RegexField(r"\A[-\w]{0,80}\Z", required=False, label=_("Workspace"))
    made_with = forms.RegexField(r"\A(?:[-\w]{1,80}(?:@[0-9]{1,9})?)?\Z", required=False, label=_("Version"))
    order = forms.ChoiceField(
        choices=[(order, order) for order in get_args(ExecutionOrder)], required=False, label=_("Order")
    )

    def clean_order(self) -> str:
        return self.cleaned_data["order"] or "newest"


class RunForm(PageForm):
    """How the ranking of a run is ordered, and which of its teams are shown."""

    order = forms.ChoiceField(
        choices=[("mixseek", "mixseek"), ("contract", "contract")], required=False, label=_("Order")
    )
    metrics = forms.ChoiceField(choices=[("all", "all")], required=False, label=_("Metrics"))


class RunTeamForm(PageForm):
    """How a team's rounds are shown."""

    raw = forms.BooleanField(required=False, label=_("Plain text"))
    whole = forms.IntegerField(required=False, min_value=0, max_value=999_999_999, label=_("Whole text"))


class RoundForm(forms.Form):
    """A submission as Markdown, or as the team wrote it."""

    raw = forms.BooleanField(required=False, label=_("As it was written"))


class IdsField(forms.Field):
    """Ids out of a database, each once, in the order given."""

    widget = forms.MultipleHiddenInput

    def to_python(self, value: Any) -> list[str]:
        ids = list(dict.fromkeys(value or []))
        if any(len(name) > _LONGEST or "\0" in name for name in ids):
            raise ValidationError(gettext("There is no run with this ID."))
        return ids


class PickRunsForm(SearchForm, PageForm):
    """The checkboxes beside a list of runs."""

    run = IdsField(required=False, label=_("Run"))


class ComparedTeamForm(AnywayForm):
    """One team of a comparison, to be looked at alone."""

    team = forms.CharField(required=False, max_length=_LONGEST, strip=False, label=_("Team"))


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
    team = forms.CharField(required=False, max_length=_LONGEST, strip=False, label=_("Team"))
    by = forms.ChoiceField(
        choices=[("teams", "teams"), ("runs", "runs")], required=False, label=_("Grouped by")
    )
    partial = forms.BooleanField(required=False, label=_("With teams that did not finish"))

    def clean_of(self) -> str:
        return self.cleaned_data["of"] or "best"

    def clean_by(self) -> str:
        return self.cleaned_data["by"] or "teams"
