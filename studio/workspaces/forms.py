"""Forms of the workspace pages: its folder, name, format and the labels that it follows."""

import os
from collections.abc import Sequence
from functools import partial
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.choices import flatten_choices
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from builder.orchestrators.finder import USUAL
from builder.template.variables import FIELDS
from studio.models import Label, Workspace
from studio.prompts.file_kinds import FileKind
from studio.prompts.forms import FormatField, LineField
from studio.workspaces.file_kinds import OtherPromptsFile
from studio.workspaces.registering import AlreadyRegistered, same_folder
from studio.workspaces.roots import LONGEST_PATH, FolderRefused, allowed_folder

RUN_VARIABLES = (
    *(f"MIXSEEK_{key.upper()}" for key in USUAL),
    *(f"MIXSEEK_PROMPT_BUILDER__{field.upper()}" for field in FIELDS),
)
"""The variables that decide which files and templates a run uses."""
MOST_VARIABLES = 100_000


def _shown(field: forms.BoundField) -> str:
    """A field's initial value in the words of the form."""
    value = field.field.prepare_value(field.initial)
    choices = getattr(field.field, "choices", None)
    if choices is None:
        return str(value or "–")
    named = dict[str, Any](flatten_choices(choices))
    return str(named.get(str(value or ""), "–"))


class LabelField(forms.ChoiceField):
    """A label of any set that holds this, those of archived ones last; or none."""

    def __init__(self, holds: str, **more: Any) -> None:
        super().__init__(choices=partial(_label_choices, holds), required=False, **more)

    def clean(self, value: Any) -> Label | None:
        chosen = super().clean(value)
        label = Label.objects.select_related("prompt_set", "version").filter(pk=chosen or 0).first()
        if chosen and label is None:
            raise ValidationError(_("This label no longer exists. Choose another one."))
        return label


def _label_choices(holds: str) -> list[tuple[str, Any]]:
    labels = Label.objects.filter(prompt_set__holds=holds).select_related("prompt_set", "version")
    groups: dict[str, list[tuple[str, str]]] = {}
    for label in labels.order_by("prompt_set__archived", "prompt_set__name", "name"):
        named = f"{label.prompt_set.name} · {label.name} (v{label.version.number})"
        groups.setdefault(label.prompt_set.name, []).append((str(label.pk), named))
    return [("", _("No label")), *groups.items()]


class RunVariablesField(forms.CharField):
    """Variables that decide which prompts a run has, one a line; no other name is taken."""

    def __init__(self) -> None:
        super().__init__(
            required=False,
            max_length=MOST_VARIABLES,
            strip=False,
            widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
            label=gettext_lazy("Variables of runs"),
        )

    def prepare_value(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return "\n".join(f"{name}={text}" for name, text in value.items())

    def clean(self, value: Any) -> dict[str, str]:
        found: dict[str, str] = {}
        for number, line in enumerate(super().clean(value).splitlines(), 1):
            name, equals, text = line.partition("=")
            if not line.strip():
                continue
            if not equals or name.strip().upper() not in RUN_VARIABLES:
                raise ValidationError(
                    _("Line %(line)d: write NAME=value; the names are %(names)s.")
                    % {"line": number, "names": _(", ").join(RUN_VARIABLES)}
                )
            found[name.strip().upper()] = text.strip()
        return found


class PathField(forms.CharField):
    """The path of a folder as `pwd` prints it."""

    def __init__(self, **more: Any) -> None:
        super().__init__(max_length=LONGEST_PATH, **{"label": gettext_lazy("Folder"), **more})

    def widget_attrs(self, widget: forms.Widget) -> dict[str, Any]:
        return super().widget_attrs(widget) | {"spellcheck": "false", "autocapitalize": "off"}


class AllowedFolderField(PathField):
    """The same of a folder that the studio may use, without a link on the way."""

    def clean(self, value: Any) -> Any:
        try:
            return allowed_folder(super().clean(value))
        except FolderRefused as refusal:
            raise ValidationError(sentences_of(refusal)) from None


def sentences_of(refusal: FolderRefused) -> list[str]:
    """What a form says about a folder that is refused."""
    return [sentence for sentence in (refusal.what, refusal.advice) if sentence]


class WorkspaceForm(forms.Form):
    """What can be changed about a workspace."""

    name = LineField(max_length=120, label=gettext_lazy("Name"))
    label = LabelField(FileKind.PROMPTS, label=gettext_lazy("Follows"))
    dialect = FormatField(otherwise=gettext_lazy("Automatic"), label=gettext_lazy("MixSeek release"))


class WorkspaceSettingsForm(WorkspaceForm):
    """The same of a workspace that is on the list, with its folder and what its system prompt follows."""

    path = PathField()
    seen = forms.CharField(widget=forms.HiddenInput)
    """Tells the settings that the form was filled with from those that are stored by now."""
    system_label = LabelField(FileKind.SYSTEM, label=gettext_lazy("System prompt follows"))
    working_directory = forms.CharField(
        max_length=LONGEST_PATH, required=False, label=gettext_lazy("Working directory of runs")
    )
    run_variables = RunVariablesField()

    def __init__(
        self, *args: Any, workspace: Workspace, others: Sequence[OtherPromptsFile] = (), **more: Any
    ) -> None:
        super().__init__(*args, **more)
        self.workspace = workspace
        self.others = others
        for other in others:
            named = _("%(file)s follows") % {"file": other.name}
            initial = other.label.pk if other.label else None
            self.fields[other.mark] = LabelField(FileKind.PROMPTS, label=named, initial=initial)

    @property
    def other_labels(self) -> list[forms.BoundField]:
        """The fields of prompt files beside the main one."""
        return [self[other.mark] for other in self.others]

    @property
    def stored_otherwise(self) -> list[tuple[str, str]]:
        """Fields whose stored value is not what was sent, with that value as the form would show it."""
        fields = [field for field in self if field.name != "seen" and field.name in self.changed_data]
        return [(str(field.label), _shown(field)) for field in fields]

    def clean_path(self) -> str:
        """Where the folder lies; one that was moved is checked like one that is registered."""
        if self.cleaned_data["path"] == self.workspace.path:
            return (
                self.workspace.path
            )  # also where the folder is missing: its name can be changed all the same
        folder = AllowedFolderField().clean(self.cleaned_data["path"])
        known = same_folder(folder)
        if known is not None and known.pk != self.workspace.pk:
            raise ValidationError(str(AlreadyRegistered(known)))
        return str(folder)

    def clean_working_directory(self) -> str:
        """A full path, as ``pwd`` prints it."""
        path: str = self.cleaned_data["working_directory"]
        if path and (not path.startswith("/") or "\0" in path or ".." in path.split("/")):
            raise ValidationError(_("Enter the full path, beginning with a slash, as `pwd` prints it."))
        return os.path.normpath(path) if path else ""


class NewWorkspaceForm(WorkspaceForm):
    """A folder to be registered; without a name it is called like the folder."""

    path = AllowedFolderField()
    name = LineField(max_length=120, required=False, label=gettext_lazy("Name"))


class AllowFolderForm(forms.Form):
    """A folder to be allowed, and where it leads: the workspace that somebody was about to register."""

    folder = PathField()
    register = forms.CharField(max_length=LONGEST_PATH, required=False, widget=forms.HiddenInput)


class TakeBackForm(forms.Form):
    """A folder that is allowed no longer."""

    folder = PathField()


class WorkspacePreviewForm(forms.Form):
    """Of which prompt file, under which sample context, and at which of its rounds."""

    file = forms.RegexField(r"\A@[0-9a-f]{12}\Z", required=False, label=gettext_lazy("File"))
    context = forms.RegexField(r"\A[-\w]{0,80}\Z", required=False, label=gettext_lazy("Sample context"))
    round = forms.IntegerField(min_value=1, max_value=2**63 - 1, required=False, label=gettext_lazy("Round"))


class WorkspaceListForm(forms.Form):
    """Which workspaces to list."""

    archived = forms.BooleanField(required=False, label=gettext_lazy("Archived"))


class NewWorkspaceQuery(forms.Form):
    """What a link to the registration may fill in already."""

    path = PathField(required=False)
