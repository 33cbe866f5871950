"""Forms of the preview: a set's budgets and model, and what is asked of cacheable prefixes."""

import json
from dataclasses import fields
from typing import Any

import pydantic
from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from builder.contract.round_prompt import RoundPromptConfig
from builder.invalid_input import field_problems
from builder.template.variables import KINDS
from studio.compare.forms import SideField
from studio.models import LanguageModel, PromptSet
from studio.prompts.language_model_forms import TokensField
from studio.shell.language import reader_language

_USUAL = RoundPromptConfig()
CONFIG = tuple(field.name for field in fields(RoundPromptConfig))
_SWITCHES = tuple(name for name in CONFIG if isinstance(getattr(_USUAL, name), bool))


def _labels() -> dict[str, str]:
    return {
        "max_submission_history_items": _("Past submissions, maximum"),
        "max_leaderboard_display_teams": _("Teams in the ranking, maximum"),
        "submission_preview_chars": _("Characters of each submission"),
        "enable_trend_analysis": _("The score trend"),
        "estimated_prompt_tokens": _("Tokens of the round prompt"),
        "show_metric_scores": _("The score of each metric"),
    }


class BudgetForm(forms.Form):
    """What can be said about a set's tokens. Nothing is the usual."""

    language_model = forms.ModelChoiceField(
        LanguageModel.objects.all(), required=False, label=gettext_lazy("Model"), blank=True
    )
    team = TokensField(required=False, label=gettext_lazy("Team"))
    evaluator = TokensField(required=False, label=gettext_lazy("Evaluator"))
    judgment = TokensField(required=False, label=gettext_lazy("Judgment"))

    def __init__(self, data: Any = None, *, prompt_set: PromptSet) -> None:
        stored = {
            **prompt_set.round_config,
            **prompt_set.budgets,
            "language_model": prompt_set.language_model_id,
        }
        shown = {name: "on" if stored[name] else "off" for name in _SWITCHES if name in stored}
        # What the person saw: what somebody else stored since is not written over unseen.
        self.stored = {name: value for name, value in (stored | shown).items() if value not in (None, "")}
        seen = json.dumps(self.stored, sort_keys=True)
        super().__init__(data, initial=stored | shown, auto_id="budget_%s")
        self.fields["seen"] = forms.CharField(required=False, initial=seen, widget=forms.HiddenInput)
        self.is_system = prompt_set.file_kind.is_system
        choice = self.fields["language_model"]
        assert isinstance(choice, forms.ModelChoiceField)
        choice.empty_label = _("None: no costs")
        if self.is_system:
            for kind in KINDS:
                del self.fields[kind]
            return
        labels = _labels()
        for name in CONFIG:
            self.fields[name] = (
                _switch(name, labels[name]) if name in _SWITCHES else _count(name, labels[name])
            )

    def saw(self, stored: PromptSet) -> bool:
        """Whether the person saw what is stored; a form that does not say so is taken."""
        seen = self.cleaned_data["seen"]
        return not seen or bool(seen == BudgetForm(prompt_set=stored)["seen"].value())

    def tell_changes(self, stored: PromptSet) -> None:
        """Say at each field what somebody else stored there meanwhile; sent again, the values are taken."""
        now = BudgetForm(prompt_set=stored)
        seen = _values_seen(self.cleaned_data["seen"])
        for name in self.fields:
            if name != "seen" and str(seen.get(name, "")) != str(now.stored.get(name, "")):
                value = now.stored.get(name)
                if name == "language_model":
                    value = stored.language_model
                said = (
                    _("Changed meanwhile: it is %(value)s now.")
                    if value
                    else _("Changed meanwhile: empty now.")
                )
                self.add_error(name, said % {"value": value} if value else said)
        self.data = {name: self.data[name] for name in self.data} | {"seen": now["seen"].value()}

    @property
    def budget_fields(self) -> list[forms.BoundField]:
        return [self[kind] for kind in KINDS if kind in self.fields]

    @property
    def config_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in CONFIG if name in self.fields]

    @property
    def says_config(self) -> bool:
        """Whether anything of the round prompts is not as usual, or is wrong."""
        return any(field.value() not in (None, "") or field.errors for field in self.config_fields)

    @property
    def budgets(self) -> dict[str, int]:
        """Those that somebody set."""
        return {kind: budget for kind in KINDS if (budget := self.cleaned_data.get(kind)) is not None}

    @property
    def round_config(self) -> dict[str, Any]:
        """As far as somebody set it."""
        clean = self.cleaned_data
        said = {name: clean[name] for name in CONFIG if clean.get(name) not in (None, "")}
        return {name: value == "on" if name in _SWITCHES else value for name, value in said.items()}

    def clean(self) -> dict[str, Any]:
        """The builder says what a round prompt's settings may be."""
        try:
            RoundPromptConfig(**self.round_config)
        except pydantic.ValidationError as error:
            labels = _labels()
            for problem in field_problems(error, lambda path: labels.get(str(path[0]), "")):
                self.add_error(str(problem.field).partition(".")[0], problem.text(reader_language()))
        return self.cleaned_data


def _values_seen(sent: str) -> dict[str, Any]:
    try:
        values = json.loads(sent)
    except ValueError:
        return {}
    return values if isinstance(values, dict) else {}


def _count(name: str, label: str) -> forms.Field:
    # No tokens at all are no budget: nobody means that.
    least = 1 if name == "estimated_prompt_tokens" else None
    field = TokensField(min_value=least, required=False, label=label)
    field.widget.attrs["placeholder"] = str(getattr(_USUAL, name))
    return field


def _switch(name: str, label: str) -> forms.Field:
    usual = _("Default: on") if getattr(_USUAL, name) else _("Default: off")
    choices = [("", usual), ("on", _("On")), ("off", _("Off"))]
    return forms.ChoiceField(choices=choices, required=False, label=label)


class TakeForm(forms.Form):
    """A hint by its code, its line and the text that it suggested."""

    take = forms.RegexField(r"\AC[0-9]{3}-[0-9]{1,9}-[0-9a-f]{12}\Z")


class PrefixesForm(forms.Form):
    """Two texts of a set, or one alone, and the context at a round."""

    old = SideField()
    new = SideField()
    """The newest version where nobody says."""
    context = forms.RegexField(r"\A[-\w]{0,80}\Z", required=False)
    round = forms.IntegerField(min_value=1, max_value=2**63 - 1, required=False)
    changed = forms.BooleanField(required=False)
    """Only the templates whose prefix is another one."""
