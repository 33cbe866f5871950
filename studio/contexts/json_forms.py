"""The form for a sample context as JSON."""

from typing import Any

import pydantic
from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from builder.invalid_input import field_problems
from builder.problems import Problem
from builder.template.models import EvaluatorPromptContext, RoundPromptContext
from studio.contexts.forms import AboutForm, own_label
from studio.contexts.models import SampleContext
from studio.contexts.pasted_json import Unreadable, read_json
from studio.contexts.text import SINGLE
from studio.prompts.texts import unix_line_ends
from studio.shell.language import reader_language

_MOST_PROBLEMS = 10


class ContextJsonForm(AboutForm):
    """A context as JSON: what the studio hands out, what ``python -m builder context`` prints."""

    json = forms.CharField(
        required=False,
        strip=False,
        label="JSON",
        widget=forms.Textarea(attrs={"rows": 20, "spellcheck": "false", "autocomplete": "off"}),
    )
    handed_in = forms.CharField(
        required=False, strip=False, label=SINGLE["submission"], widget=forms.Textarea(attrs={"rows": 4})
    )

    stand_in: int | None = None
    """The round whose submission stands in for the one that nobody gave."""

    def __init__(
        self, data: dict[str, str] | None, initial: dict[str, str], context: SampleContext | None = None
    ) -> None:
        super().__init__(data, initial, context)
        self.fields["name"].required = False

    def clean(self) -> dict[str, Any]:
        """Read, then judged by the builder's models; fields that they do not know are left out."""
        try:
            told = read_json(self.cleaned_data.get("json", ""))
            if not isinstance(told, dict):
                raise Unreadable(_("A context is a JSON object, from { to }."))
        except Unreadable as unreadable:
            self.add_error("json", str(unreadable))
            return self.cleaned_data
        told.pop("store", None)
        self._take_name(told)
        self.refuse_taken_name()
        problems: list[Problem] = []
        try:
            self.round = RoundPromptContext.model_validate(told)
            handed_in = self.cleaned_data.get("handed_in", "")
            self.submission = unix_line_ends(handed_in) if handed_in.strip() else self._submission(told)
        except pydantic.ValidationError as error:
            problems = field_problems(error, own_label)
        except _NoSubmission:
            self.add_error("handed_in", _("The JSON has no submission for this round: write it here."))
        for problem in problems[:_MOST_PROBLEMS]:
            self.add_error("json", f"{problem.field}: {problem.text(reader_language())}")
        if more := len(problems[_MOST_PROBLEMS:]):
            self.add_error("json", _("And %(more)d more problems of this kind.") % {"more": more})
        self.refuse_too_long()
        return self.cleaned_data

    def _take_name(self, told: dict[str, Any]) -> None:
        for name, most in (("name", 120), ("description", 300)):
            given = told.get(name)
            if not self.cleaned_data.get(name) and name not in self.errors and isinstance(given, str):
                self.cleaned_data[name] = " ".join(given.split())[:most].strip()
        if not self.cleaned_data.get("name") and "name" not in self.errors:
            self.add_error("name", ValidationError(self.fields["name"].error_messages["required"]))

    def _submission(self, told: dict[str, Any]) -> str:
        if "submission" in told:
            judged = {"user_query": "-", "submission": told["submission"]}
            return EvaluatorPromptContext.model_validate(judged).submission
        written = [state for state in self.round.round_history if state.submission_content.strip()]
        own = [state for state in written if state.round_number == self.round.round_number]
        if not written:
            raise _NoSubmission
        if not own:
            self.stand_in = written[-1].round_number
        return (own or written)[-1].submission_content


class _NoSubmission(Exception):
    """Neither the JSON nor its history has a text for the evaluator."""
