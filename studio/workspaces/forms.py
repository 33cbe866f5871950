"""Forms of the workspace pages: its folder, name, format and the labels that it follows."""

from functools import partial
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from studio.models import Label
from studio.prompts.file_kinds import FileKind
from studio.prompts.forms import FormatField, LineField
from studio.workspaces.roots import LONGEST_PATH, FolderRefused, allowed_folder


class LabelField(forms.ChoiceField):
    """A label of any set that holds this, those of archived ones last; or none."""

    def __init__(self, holds: str, **more: Any) -> None:
        super().__init__(choices=partial(_label_choices, holds), required=False, **more)

    def clean(self, value: Any) -> Label | None:
        chosen = super().clean(value)
        label = Label.objects.select_related("prompt_set", "version").filter(pk=chosen or 0).first()
        if chosen and label is None:
            raise ValidationError(_("This label is gone. Choose another one."))
        return label


def _label_choices(holds: str) -> list[tuple[str, Any]]:
    labels = Label.objects.filter(prompt_set__holds=holds).select_related("prompt_set", "version")
    groups: dict[str, list[tuple[str, str]]] = {}
    for label in labels.order_by("prompt_set__archived", "prompt_set__name", "name"):
        named = f"{label.prompt_set.name} · {label.name} (v{label.version.number})"
        groups.setdefault(label.prompt_set.name, []).append((str(label.pk), named))
    return [("", _("No label")), *groups.items()]


class WorkspaceForm(forms.Form):
    """What can be changed about a workspace."""

    name = LineField(max_length=120, label=gettext_lazy("Name"))
    label = LabelField(FileKind.PROMPTS, label=gettext_lazy("Follows"))
    dialect = FormatField(otherwise=gettext_lazy("Find out"), label=gettext_lazy("MixSeek release"))


class WorkspaceSettingsForm(WorkspaceForm):
    """The same of a workspace that is on the list, with what its system prompt follows."""

    system_label = LabelField(FileKind.SYSTEM, label=gettext_lazy("System prompt follows"))


class NewWorkspaceForm(WorkspaceForm):
    """A folder to be registered; without a name it is called like the folder."""

    path = forms.CharField(max_length=LONGEST_PATH, label=gettext_lazy("Folder"))
    name = LineField(max_length=120, required=False, label=gettext_lazy("Name"))

    def clean_path(self) -> Any:
        """The folder itself, allowed and without a link on the way."""
        try:
            return allowed_folder(self.cleaned_data["path"])
        except FolderRefused as refusal:
            raise ValidationError(
                [refusal.what, refusal.advice] if refusal.advice else refusal.what
            ) from None


class WorkspacePreviewForm(forms.Form):
    """Under which sample context, and at which of its rounds."""

    context = forms.RegexField(r"\A[-\w]{0,80}\Z", required=False, label=gettext_lazy("Sample context"))
    round = forms.IntegerField(min_value=1, max_value=2**63 - 1, required=False, label=gettext_lazy("Round"))


class WorkspaceListForm(forms.Form):
    """Which workspaces to list."""

    archived = forms.BooleanField(required=False, label=gettext_lazy("Archived"))


class NewWorkspaceQuery(forms.Form):
    """What a link to the registration may fill in already."""

    path = forms.CharField(max_length=LONGEST_PATH, required=False, label=gettext_lazy("Folder"))
