"""Forms of the export pages: what goes where, the confirmation, which stretch of the list."""

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from studio.prompts.forms import LineField, VersionNumberField
from studio.prompts.texts import MESSAGE_LENGTH

_MOST_TARGETS = 200
_MOST_OPENED = 200
_SLUG = r"[-\w]{1,80}(?:@[0-9a-f]{12})?"
"""A workspace's address, with the mark of a prompt file beside its main one."""
_ROWS = re.compile(rf"({_SLUG})\.([0-9]{{1,9}})-([0-9]{{1,9}})")
_SEEN = re.compile(rf"({_SLUG}):([0-9a-f]{{64}}|)")


class ManyField(forms.Field):
    """Any number of values that look like this; ``made`` turns each into the clean value."""

    widget = forms.MultipleHiddenInput
    pattern: re.Pattern[str]
    most: int

    def to_python(self, value: Any) -> list[Any]:
        matches = [self.pattern.fullmatch(str(item)) for item in value or ()]
        if len(matches) > self.most or not all(matches):
            raise ValidationError(self.refusal())
        return [self.made(match) for match in matches if match]

    def made(self, match: re.Match[str]) -> object:
        return match[0]

    def refusal(self) -> str:
        return _("There is no such workspace.")


class WorkspacesField(ManyField):
    """Workspaces by their slugs."""

    pattern, most = re.compile(_SLUG), _MOST_TARGETS


class SeenField(ManyField):
    """Workspaces, each with the hash of its file as the page showed it; empty for no file."""

    pattern, most = _SEEN, _MOST_TARGETS

    def made(self, match: re.Match[str]) -> tuple[str, str]:
        return match[1], match[2]


class FileRowsField(ManyField):
    """Any number of `workspace.120-480`: rows of one workspace's comparison."""

    pattern, most = _ROWS, _MOST_OPENED

    def made(self, match: re.Match[str]) -> tuple[str, range]:
        return match[1], range(int(match[2]), int(match[3]))

    def refusal(self) -> str:
        return _("There are no such rows.")


class LabelNameField(forms.RegexField):
    """The name of a label."""

    def __init__(self, **more: Any) -> None:
        super().__init__(r"\A[-\w]{0,40}\Z", required=False, label=gettext_lazy("Label"), **more)


class OpenedRowsForm(forms.Form):
    """Which rows of a comparison are unfolded; and which alone are asked for, by a page that is open."""

    open = FileRowsField(required=False)
    rows = FileRowsField(required=False)


DRAFT = "draft"
"""The source that is no version yet; no label can have that name."""


class PlanForm(OpenedRowsForm):
    """The address of a plan: a version, by number or label, or the draft; the label that moves to it; and the
    workspaces that it goes to."""

    version = VersionNumberField(required=False, label=gettext_lazy("Version"))
    label = LabelNameField()
    source = LabelNameField()
    """One of both, as the page's own list has it: `v5` or `production`; or the draft."""
    move = LabelNameField()
    """The label that moves to the version; None where nobody said, and the page suggests one."""
    why = LineField(max_length=500, required=False, label=gettext_lazy("Message"))
    """The proposal's message, where the label moves only with an approval."""
    workspace = WorkspacesField(required=False, label=gettext_lazy("Workspaces"))
    chosen = forms.BooleanField(required=False)
    """The person ticked the workspaces; where nobody did, the page suggests some."""

    def clean(self) -> dict[str, Any]:
        """The list's choice, taken apart."""
        clean: dict[str, Any] = self.cleaned_data
        clean["draft"] = clean.get("source") == DRAFT
        if "move" not in self.data:
            clean["move"] = None
        if (source := clean.get("source")) and not clean["draft"]:
            number = re.fullmatch(r"v([1-9][0-9]{0,8})", source, re.ASCII)
            clean["version"], clean["label"] = (int(number[1]), "") if number else (None, source)
        return clean


class ConfirmForm(PlanForm):
    """The confirmation of a plan: what was chosen, and what the person saw of it."""

    batch = forms.UUIDField()
    number = VersionNumberField(label=gettext_lazy("Version"))
    """Of the version that the source stood for; for a draft, of the one that it would become."""
    revision = forms.IntegerField(min_value=0, max_value=10**9, required=False, label=gettext_lazy("Draft"))
    message = LineField(max_length=MESSAGE_LENGTH, required=False, label=gettext_lazy("Message"))
    shown_move = LabelNameField()
    """The label that the page showed as moving, and the version that it pointed at."""
    moved_from = VersionNumberField(required=False, label=gettext_lazy("Version"))
    planned = WorkspacesField(required=False, label=gettext_lazy("Workspaces"))
    """Those whose change was shown."""
    target = SeenField(required=False)
    overwrite = SeenField(required=False)
    """Those whose edit goes knowingly, after it is kept."""


class UndoForm(forms.Form):
    """The confirmation of an undo."""

    batch = forms.UUIDField()


class ExportListForm(forms.Form):
    """Which stretch of the list, and of which workspace."""

    before = forms.IntegerField(required=False, min_value=1, max_value=2**62, label=gettext_lazy("Before"))
    workspace = forms.RegexField(r"\A[-\w]{0,80}\Z", required=False, label=gettext_lazy("Workspace"))
