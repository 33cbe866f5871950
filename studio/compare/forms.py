"""Forms of comparisons: which texts the address of a comparison or a matrix names, and how they are shown."""

import re
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from builder.template.variables import KINDS
from studio.compare.versions import SideName
from studio.prompts.texts import TEXT_KINDS, TextKind
from studio.results.forms import PlannedForm
from studio.workspaces.exports.forms import ManyField

_MOST_OPENED = 200
_STRETCH = re.compile(rf"({'|'.join(TEXT_KINDS)})\.(0|[1-9][0-9]{{0,8}})-([1-9][0-9]{{0,8}})", re.ASCII)


@dataclass(frozen=True)
class Opened:
    """Rows of one text that a person asked to see."""

    kind: TextKind
    rows: range


class OpenedField(forms.Field):
    """Any number of `team.120-480`."""

    widget = forms.MultipleHiddenInput

    def to_python(self, value: Any) -> list[Opened]:
        spans = [_STRETCH.fullmatch(str(text)) for text in value or ()]
        if len(spans) > _MOST_OPENED or not all(spans):
            raise ValidationError(_("There are no such rows."))
        return [
            Opened(kind, range(int(span[2]), int(span[3])))
            for span in spans
            for kind in TEXT_KINDS
            if span and kind == span[1]
        ]


class SideField(forms.RegexField):
    """A version's number, as pages write it (`v5`) too, or the draft."""

    def __init__(self, **more: Any) -> None:
        super().__init__(r"\A(draft|v?[1-9][0-9]{0,8})\Z", required=False, **more)

    def clean(self, value: Any) -> SideName | None:
        name = super().clean(value)
        if name == "draft":
            return "draft"
        return int(name.removeprefix("v")) if name else None


class CompareForm(PlannedForm):
    """The query of a comparison."""

    rendered = forms.BooleanField(required=False)
    context = forms.RegexField(r"\A[-\w]{0,80}\Z", required=False, label=gettext_lazy("Sample context"))
    round = forms.IntegerField(min_value=1, max_value=2**63 - 1, required=False, label=gettext_lazy("Round"))
    w = forms.BooleanField(required=False)
    all = forms.BooleanField(required=False)
    open = OpenedField(required=False)
    rows = OpenedField(required=False)
    """One stretch alone, for a page that is open already."""
    old = SideField(label=gettext_lazy("First version"))
    new = SideField(label=gettext_lazy("Second version"))
    """Another pair, from the form on the page; either may stay as it is."""


_MOST_PICKED = 200
_LONGEST = 2_000
_NUMBER = "v?([1-9][0-9]{0,8})"
_SPAN = re.compile(rf"{_NUMBER}(?:[-–~〜]{_NUMBER})?", re.ASCII | re.IGNORECASE)
_WORD = re.compile(r"[-\w]{1,40}")
_BETWEEN = re.compile(r"[\s,;、，]+")


@dataclass(frozen=True)
class Picked:
    """Versions that somebody asked for."""

    spans: tuple[range, ...] = ()
    labels: tuple[str, ...] = ()
    draft: bool = False

    def __bool__(self) -> bool:
        return bool(self.spans or self.labels or self.draft)


class PickedField(forms.Field):
    """Any number of values such as `12, 8-10, production, draft`."""

    widget = forms.MultipleHiddenInput

    def to_python(self, value: Any) -> Picked:
        texts = [str(text) for text in value or ()]
        if sum(map(len, texts)) > _LONGEST:
            raise ValidationError(_("Too many versions."))
        words = list(dict.fromkeys(word for text in texts for word in _BETWEEN.split(text) if word))
        if len(words) > _MOST_PICKED:
            raise ValidationError(_("Too many versions."))
        spans, labels = [], []
        for word in words:
            if span := _SPAN.fullmatch(word):
                ends = sorted((int(span[1]), int(span[2] or span[1])))
                spans.append(range(ends[0], ends[1] + 1))
            elif _WORD.fullmatch(word):
                labels.append(word)
            else:
                raise ValidationError(
                    _("“%(word)s” is neither a version nor a label. Enter for example 3, 5-8, production.")
                    % {"word": word}
                )
        return Picked(
            tuple(spans), tuple(label for label in labels if label != "draft"), draft="draft" in labels
        )


class BaselineField(forms.CharField):
    """A version, the draft, or a label; None where nobody chose."""

    def __init__(self, **more: Any) -> None:
        super().__init__(max_length=40, required=False, **more)

    def clean(self, value: Any) -> SideName | str | None:
        name = super().clean(value)
        if not name:
            return None
        span = _SPAN.fullmatch(name)
        if span and not span[2]:
            return int(span[1])
        if not _WORD.fullmatch(name):
            raise ValidationError(_("Enter a version such as v5, a label or “draft”."))
        return str(name)


class ContextsField(ManyField):
    """Contexts by their addresses."""

    pattern, most = re.compile(r"[-\w]{1,80}"), 300

    def refusal(self) -> str:
        return _("There is no such context.")


class MatrixForm(forms.Form):
    """The query of a matrix."""

    kind = forms.ChoiceField(
        choices=[(kind, kind) for kind in KINDS], required=False, label=gettext_lazy("Template")
    )
    baseline = BaselineField(label=gettext_lazy("Baseline"))
    versions = PickedField(required=False, label=gettext_lazy("Versions"))
    contexts = ContextsField(required=False, label=gettext_lazy("Contexts"))
    """The columns; all where nobody chose."""
    open = ContextsField(required=False, label=gettext_lazy("Sample context"))
    """Those whose rounds have columns of their own."""
    all = forms.BooleanField(required=False, label=gettext_lazy("Rounds"))
    row = SideField(label=gettext_lazy("Version"))
    """One row alone, for a page that is open already."""
    of = forms.RegexField(r"\A[0-9a-f]{0,12}\Z", required=False, label=gettext_lazy("Contexts"))
    """The columns that the row is for."""
    plain = forms.BooleanField(required=False, label=gettext_lazy("Rows"))
    """Rows as part of the page, some at a time: for browsers without scripts."""
    after = forms.IntegerField(min_value=0, max_value=1_000, required=False, label=gettext_lazy("Rows"))
    """So many rows come before those of a plain page."""
