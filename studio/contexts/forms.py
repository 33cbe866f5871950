"""The form for a sample context field by field, and what it shares with the form for JSON."""

from typing import Any

import pydantic
from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from builder.invalid_input import field_problems
from builder.problems import Problem
from builder.template.models import EvaluatorPromptContext, RoundPromptContext
from studio.contexts.models import MOST_CHARACTERS, ContextValues, SampleContext
from studio.contexts.pasted_json import Unreadable, read_details
from studio.contexts.text import (
    COLUMNS,
    RANKING,
    ROUNDS,
    SINGLE,
    ContextText,
    Path,
    dotted,
    label_of,
    path_of,
)
from studio.prompts.forms import LineField
from studio.prompts.models import PromptSet
from studio.shell.forms import SearchForm
from studio.shell.language import reader_language

SHARED = "shared"
"""In place of a set, where a list is narrowed."""

_TOLD = ("user_prompt", "round_number", "team_name", "team_id", "execution_id")
_TEXT_ROWS = {
    "user_prompt": 4,
    "submission": 6,
    "submission_content": 5,
    "score_details": 4,
    "evaluation_feedback": 2,
}
_NUMBERS = {"round_number", "evaluation_score", "max_score", "total_rounds"}


def _help_texts() -> dict[str, str]:
    moment = _("Such as 2026-05-01T09:00:00+09:00; may be left out.")
    return {
        "prompt_set": _("All sets, or one set only."),
        "description": _("What does this context check?"),
        "user_prompt": _("What the team is asked to do: `user_prompt` in the templates."),
        "submission": _("The team's submission in this round."),
        "score_details": _("A line each, such as “Accuracy: 82.5”; or JSON."),
        "round_started_at": moment,
        "round_ended_at": moment,
        "json": _(
            "What “Download JSON” gives, or what `python -m builder context` prints."
            " Other fields are ignored."
        ),
        "handed_in": _("Only where the JSON has no submission for this round."),
    }


def name_taken() -> str:
    """Why a context cannot have this name."""
    return _("Another context has this name already.")


class AfterField(forms.IntegerField):
    """The context that a page of a list comes after."""

    def __init__(self) -> None:
        super().__init__(required=False, min_value=1, max_value=10**18, label=gettext_lazy("After context"))


class ContextSearchForm(SearchForm):
    """Contexts by text, and those that one set uses or that all share."""

    set = forms.RegexField(r"\A[-\w]{0,80}\Z", required=False, label=gettext_lazy("Used by"))
    after = AfterField()


class SetContextsForm(forms.Form):
    """The contexts of a set, with or without trying its newest version in them."""

    checked = forms.BooleanField(required=False, label=gettext_lazy("Newest version"))
    after = AfterField()


class RevisionSeenForm(forms.Form):
    """Which state of a context a decision was made on."""

    revision = forms.IntegerField(min_value=1, max_value=2**31 - 1, label=gettext_lazy("Revision"))


class AboutForm(forms.Form):
    """What is said about a context, however its round is told."""

    name = LineField(max_length=120, label=SINGLE["name"])
    prompt_set = forms.ChoiceField(required=False, label=SINGLE["prompt_set"])
    description = LineField(max_length=300, required=False, label=SINGLE["description"])

    round: RoundPromptContext
    submission: str

    def __init__(
        self, data: dict[str, str] | None, initial: dict[str, str], context: SampleContext | None
    ) -> None:
        super().__init__(data, initial=initial)
        self.context = context
        sets = PromptSet.objects.of_templates().filter(archived=False)
        if context is not None and context.prompt_set is not None:
            sets |= PromptSet.objects.filter(pk=context.prompt_set.pk)
        self.sets = {prompt_set.slug: prompt_set for prompt_set in sets.order_by("name", "pk")}
        choices = [("", _("All sets")), *((slug, prompt_set.name) for slug, prompt_set in self.sets.items())]
        self.fields["prompt_set"].choices = choices  # type: ignore[attr-defined]
        self.explain()

    def explain(self) -> None:
        """Put a sentence below each field that wants one."""
        texts = _help_texts()
        for name, field in self.fields.items():
            field.help_text = texts.get(name.rpartition(".")[2], "")

    @property
    def values(self) -> ContextValues:
        """The clean values."""
        clean = self.cleaned_data
        owner = self.sets.get(clean["prompt_set"])
        return ContextValues(clean["name"], clean["description"], owner, self.round, self.submission)

    def refuse_taken_name(self) -> None:
        """Before anything is stored, so that all problems are on one page."""
        clean = self.cleaned_data
        if "name" not in clean or "prompt_set" not in clean:
            return
        others = SampleContext.objects.filter(prompt_set=self.sets.get(clean["prompt_set"]))
        if self.context is not None:
            others = others.exclude(pk=self.context.pk)
        if others.filter(name=clean["name"]).exists():
            self.add_error("name", name_taken())

    def refuse_too_long(self) -> None:
        """Once the round is known to be valid: what every set would have to be tried with has a limit."""
        if self.errors:
            return
        if (length := self.values.characters) > MOST_CHARACTERS:
            said = _("The context has %(length)d characters; the limit is %(most)d.")
            self.add_error(None, said % {"length": length, "most": MOST_CHARACTERS})

    @property
    def problems(self) -> list[tuple[forms.BoundField, str, str]]:
        """Each field with a problem, what it is called, and the problem; in the order of the page."""
        return [
            (
                self[name],
                label_of(path_of(name)) if "." in name else str(self[name].label),
                str(self.errors[name][0]),
            )
            for name in self.fields
            if name in self.errors
        ]

    def focus(self, name: str) -> None:
        """The browser puts the cursor here."""
        self.fields[name].widget.attrs["autofocus"] = True

    def focus_first_problem(self) -> None:
        """The one nearest to the top."""
        if problems := self.problems:
            self.focus(problems[0][0].name)


class TypedField(forms.CharField):
    """A text as it was typed; whether it will do, the builder says."""

    def __init__(self, name: str, label: Any) -> None:
        widget: forms.Widget
        if name in _TEXT_ROWS:
            widget = forms.Textarea(attrs={"rows": _TEXT_ROWS[name]})
        elif name in _NUMBERS:
            # Not type=number: browsers send nothing at all for what is no number.
            widget = forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"})
        else:
            widget = forms.TextInput(attrs={"autocomplete": "off"})
        super().__init__(required=False, strip=False, label=label, widget=widget)


class ContextForm(AboutForm):
    """A context field by field; each field has the builder's own name for the value."""

    def __init__(
        self, text: ContextText, *, context: SampleContext | None = None, sent: bool = False
    ) -> None:
        self.text = text
        super().__init__(text.data if sent else None, text.data, context)
        # In the order of the page, so that the first problem is the one nearest to its top.
        for name in _TOLD:
            self.fields[name] = TypedField(name, SINGLE[name])
        self._add_rows(ROUNDS)
        self.fields["ranked"] = forms.ChoiceField(
            choices=[("no", _("No")), ("yes", _("Yes, this one"))],
            widget=forms.RadioSelect,
            label=SINGLE["ranked"],
        )
        self._add_rows(RANKING)
        self.fields["submission"] = TypedField("submission", SINGLE["submission"])
        self.explain()

    def _add_rows(self, rows: str) -> None:
        for index in range(len(self.text.rows[rows])):
            for column, label in COLUMNS[rows].items():
                self.fields[dotted((rows, index, column))] = TypedField(column, label)

    @property
    def rounds(self) -> list[dict[str, forms.BoundField]]:
        """The rows of fields, by the name of their column."""
        return self._bound_rows(ROUNDS)

    @property
    def ranking(self) -> list[dict[str, forms.BoundField]]:
        """Likewise."""
        return self._bound_rows(RANKING)

    def _bound_rows(self, rows: str) -> list[dict[str, forms.BoundField]]:
        return [
            {column: self[dotted((rows, index, column))] for column in COLUMNS[rows]}
            for index in range(len(self.text.rows[rows]))
        ]

    def clean(self) -> dict[str, Any]:
        """Judged by the builder's models; each problem beside its field."""
        self.refuse_taken_name()
        self.submission = self.cleaned_data.get("submission", "")
        problems: list[Problem] = []
        try:
            self.round = RoundPromptContext.model_validate(self._raw())
        except pydantic.ValidationError as error:
            problems += field_problems(error, own_label)
        try:
            EvaluatorPromptContext(user_query="-", submission=self.submission)
        except pydantic.ValidationError as error:
            problems += field_problems(error, own_label)
        for problem in problems:
            self._complain(problem)
        self.refuse_too_long()
        return self.cleaned_data

    def _complain(self, problem: Problem) -> None:
        where, text = problem.field or "", problem.text(reader_language())
        name = where
        while name and name not in self.fields:
            name = name.rpartition(".")[0]
        if not name:
            self.add_error(None, f"{label_of(path_of(where))}: {text}")
        elif name not in self.errors:
            deeper = where.removeprefix(name).removeprefix(".")
            self.add_error(name, f"{deeper}: {text}" if deeper else text)

    def _raw(self) -> dict[str, Any]:
        clean = self.cleaned_data
        # A field left blank is not there; «required» says more than «not a number».
        told: dict[str, Any] = {name: clean[name] for name in _TOLD if clean.get(name)}
        for rows, texts in self.text.rows.items():
            told[rows] = [self._raw_row(rows, index) for index in range(len(texts))]
        if clean.get("ranked") != "yes":
            told[RANKING] = None
        return told

    def _raw_row(self, rows: str, index: int) -> dict[str, Any]:
        row: dict[str, Any] = {
            column: self.cleaned_data.get(dotted((rows, index, column)), "") for column in COLUMNS[rows]
        }
        if rows == ROUNDS:
            try:
                row["score_details"] = read_details(row["score_details"])
            except Unreadable as problem:
                self.add_error(dotted((rows, index, "score_details")), str(problem))
                row["score_details"] = None
        # Of these an empty text is a value too.
        texts = {"submission_content", "team_name", "team_id"}
        return {column: value for column, value in row.items() if value != "" or column in texts}


def own_label(path: Path) -> str:
    """The label beside the field: that it is in the third row, one sees there."""
    match path:
        case (str() as rows, int(), str() as column, *_rest) if column in COLUMNS.get(rows, {}):
            return str(COLUMNS[rows][column])
    return label_of(path)
