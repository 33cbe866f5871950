"""Forms of suggestions, and of a stored round that becomes a sample context. Used by the views here."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from studio.contexts.json_forms import ContextJsonForm
from studio.contexts.text import SINGLE
from studio.prompts.texts import unix_line_ends
from studio.runs.forms import PageForm
from studio.shell.forms import SearchForm


class SuggestionsForm(forms.Form):
    """A version's number, ``draft``, or nothing for the newest version."""

    version = forms.RegexField(
        r"\A(?:draft|[1-9][0-9]{0,8})?\Z", required=False, label=gettext_lazy("Version")
    )


class TaskForm(forms.Form):
    """What a team was asked to do, where the database does not say it."""

    task = forms.CharField(
        required=False,
        strip=False,
        max_length=200_000,
        label=SINGLE["user_prompt"],
        widget=forms.Textarea(attrs={"rows": 5}),
    )

    def clean_task(self) -> str:
        return unix_line_ends(self.cleaned_data["task"])


class RoundContextForm(ContextJsonForm):
    """Held to the rules of a context that somebody pastes; the JSON is the studio's own."""

    def __init__(self, data: dict[str, str] | None, initial: dict[str, str], document: str) -> None:
        super().__init__(None if data is None else data | {"json": document}, initial)
        self.fields["name"].required = True
        self.fields["handed_in"].help_text = _(
            "What the evaluator judges. This round has no submission yet: write one, or leave it "
            "blank to use the last submission."
        )

    def clean(self) -> dict[str, Any]:
        """The same, in words of somebody who has written no JSON."""
        super().clean()
        for problem in self.errors.pop("json", []):
            self.add_error(None, problem)
        if self.errors.pop("handed_in", None):
            self.add_error(
                "handed_in", _("Nothing has been submitted yet: write what the evaluator is to judge.")
            )
        return self.cleaned_data


class PickRoundForm(SearchForm, PageForm):
    """Where a stored round is looked for."""

    workspace = forms.RegexField(r"\A[-\w]{0,80}\Z", required=False, label=gettext_lazy("Workspace"))
    execution = forms.CharField(required=False, max_length=1000, strip=False, label=gettext_lazy("Execution"))
    set = forms.RegexField(r"\A[-\w]{0,80}\Z", required=False, label=gettext_lazy("Used by"))
