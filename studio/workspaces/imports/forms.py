"""Forms of the import pages: a file, the set that it goes to, the confirmation."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from studio.compare.forms import OpenedField
from studio.prompts.file_kinds import FileKind
from studio.prompts.forms import LineField
from studio.prompts.texts import MESSAGE_LENGTH

MOST_BYTES = 2 * 1024 * 1024
"""Of a file: what the builder reads."""


class TargetForm(forms.Form):
    """The set that a file shall go to; none for a new one."""

    set = forms.RegexField(r"\A[-\w]{0,80}\Z", required=False, label=gettext_lazy("Prompt set"))


class UploadForm(TargetForm):
    """A file from a person's own machine."""

    file = forms.FileField(
        label=gettext_lazy("File"),
        widget=forms.ClearableFileInput(attrs={"accept": ".toml,.txt,text/plain"}),
        error_messages={
            "required": gettext_lazy("Choose a file first."),
            "empty": gettext_lazy("The file is empty."),
        },
    )

    def clean_file(self) -> "UploadedFile[bytes]":
        """Small enough to be read."""
        file: UploadedFile[bytes] = self.cleaned_data["file"]
        if file.size is None or file.size > MOST_BYTES:
            raise ValidationError(
                _("The file is larger than %(most)s, so it is not a prompt file.")
                % {"most": filesizeformat(MOST_BYTES)}
            )
        return file


class HeldFileField(forms.RegexField):
    """Which of a workspace's files is meant: a kind, or the mark of another prompt file than the main one."""

    def __init__(self) -> None:
        kinds = "|".join(FileKind.values)
        super().__init__(rf"\A(?:{kinds}|@[0-9a-f]{{12}})\Z", required=False, label=gettext_lazy("File"))


class ImportViewForm(TargetForm):
    """The query of an import's page: of which file, for which set, and what of it is unfolded."""

    file = HeldFileField()

    fill = forms.ChoiceField(
        choices=[
            ("latest", gettext_lazy("from the set's newest version")),
            ("default", gettext_lazy("MixSeek's defaults, as in a run")),
        ],
        required=False,
        label=gettext_lazy("Templates that the file does not have"),
    )
    all = forms.BooleanField(required=False)
    open = OpenedField(required=False)
    rows = OpenedField(required=False)


class ImportForm(forms.Form):
    """The confirmation: what the person saw, and what shall become of it."""

    sha256 = forms.RegexField(r"\A[0-9a-f]{64}\Z")
    base = forms.IntegerField(min_value=0, max_value=10**9)
    into = forms.ChoiceField(choices=[(into, into) for into in ("version", "draft", "link")])
    message = LineField(max_length=MESSAGE_LENGTH, required=False, label=gettext_lazy("Message"))
    name = LineField(max_length=120, required=False, label=gettext_lazy("Name of the new set"))

    follow = forms.ChoiceField(required=False, label=gettext_lazy("The workspace follows"))
    """The label of the set that the workspace follows from now on; empty where nothing changes."""

    def __init__(
        self, *args: Any, is_new: bool = False, labels: Sequence[tuple[str, str]] = (), **more: Any
    ) -> None:
        super().__init__(*args, **more)
        self.fields["name"].required = is_new
        follow = self.fields["follow"]
        assert isinstance(follow, forms.ChoiceField)
        follow.choices = [*labels]


class AdoptForm(TargetForm):
    """One click: the file that the person saw."""

    file = HeldFileField()
    sha256 = forms.RegexField(r"\A[0-9a-f]{64}\Z", label="sha256")
