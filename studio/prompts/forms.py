"""Forms about a prompt set: its name, tags and dialect, its labels, and the search in its history."""

import re
from typing import Any
from unicodedata import normalize

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from builder.template.dialect import DIALECTS, MIXSEEK, dialect_named
from studio.prompts.file_kinds import FileKind
from studio.prompts.history import MOST_WORDS, words_of
from studio.shell.forms import SearchForm

_MOST_TAGS = 10
_LONGEST_TAG = 40
_TAG_BORDERS = re.compile(r"[,、，\n]")
# Words that an address or a comparison already has a meaning for.
_NO_LABELS = {"draft", "latest", "new"}


class LineField(forms.CharField):
    """A single line of text, without blanks at its ends or in a row."""

    def to_python(self, value: Any) -> str:
        return " ".join(str(super().to_python(value) or "").split())


class TagsField(forms.CharField):
    """Tags with commas between them, Japanese commas too."""

    def to_python(self, value: Any) -> list[str]:  # type: ignore[override]
        named = (" ".join(tag.split()) for tag in _TAG_BORDERS.split(str(super().to_python(value) or "")))
        # The first spelling of a tag stays.
        return list({tag.casefold(): tag for tag in reversed([tag for tag in named if tag])}.values())[::-1]

    def validate(self, value: Any) -> None:
        if len(value) > _MOST_TAGS:
            raise ValidationError(_("At most %(most)d tags.") % {"most": _MOST_TAGS})
        for tag in value:
            if len(tag) > _LONGEST_TAG:
                text = _("A tag has at most %(most)d characters: «%(tag)s…» is longer.")
                raise ValidationError(text % {"most": _LONGEST_TAG, "tag": tag[:20]})

    def run_validators(self, value: Any) -> None:
        for tag in value:
            super().run_validators(tag)


class FormatField(forms.ChoiceField):
    """One of the formats, the newest release's first; `mixseek` means that one."""

    def __init__(self, *, otherwise: Any = None, **options: Any) -> None:
        none = [] if otherwise is None else [("", otherwise)]
        named = [(name, name) for name in DIALECTS]
        super().__init__(choices=[*none, *named], required=otherwise is None, **options)

    def to_python(self, value: Any) -> str:
        """The format's own name."""
        dialect = dialect_named(value) if isinstance(value, str) else None
        return dialect.name if dialect is not None else super().to_python(value)


class PromptSetForm(forms.Form):
    """What can be changed about a set."""

    name = LineField(max_length=120, label=gettext_lazy("Name"))
    tags = TagsField(required=False, label=gettext_lazy("Tags"))
    dialect = FormatField(initial=MIXSEEK.name, label=gettext_lazy("Formatting"))


class NewPromptSetForm(PromptSetForm):
    """A set to be made, what it holds, and what its first text is."""

    holds = forms.ChoiceField(
        choices=[
            (FileKind.PROMPTS, gettext_lazy("Prompt templates: team, evaluator and judgment")),
            (FileKind.SYSTEM, gettext_lazy("System prompt: the settings in system_prompt.toml")),
        ],
        initial=FileKind.PROMPTS,
        required=False,
        widget=forms.RadioSelect,
        label=gettext_lazy("What it holds"),
    )

    start = forms.ChoiceField(
        choices=[
            ("defaults", gettext_lazy("The default text, saved as version 1")),
            ("empty", gettext_lazy("Empty: write the first version in the editor")),
        ],
        initial="defaults",
        widget=forms.RadioSelect,
        label=gettext_lazy("Start with"),
    )

    def clean_holds(self) -> str:
        """Templates, where nobody says otherwise."""
        return self.cleaned_data["holds"] or FileKind.PROMPTS


class DuplicateForm(forms.Form):
    """The name of a copy."""

    name = LineField(max_length=120, label=gettext_lazy("Name of the copy"))


class ArchiveForm(forms.Form):
    """Whether a set is to be archived or brought back."""

    archived = forms.TypedChoiceField(
        choices=[("yes", "yes"), ("no", "no")],
        coerce=lambda value: value == "yes",
        label=gettext_lazy("Archived"),
    )


class VersionNumberField(forms.IntegerField):
    """The number of a version."""

    def __init__(self, **more: Any) -> None:
        super().__init__(min_value=1, max_value=10**9, **more)

    def to_python(self, value: Any) -> int | None:
        # Pages write «v5».
        return super().to_python(str(value).strip().removeprefix("v") if value else value)


class WordsForm(SearchForm):
    """Words to look for in texts."""

    def clean_q(self) -> str:
        """Short enough in words, too."""
        query: str = self.cleaned_data["q"]
        if len(words_of(query)) > MOST_WORDS:
            raise ValidationError(_("Search for at most %(most)d words at once.") % {"most": MOST_WORDS})
        return query


class HistoryForm(WordsForm):
    """Which stretch of a history to show: what is older than this version number, and has these words."""

    before = VersionNumberField(required=False, label=gettext_lazy("Before version"))
    anyway = forms.BooleanField(required=False, label=gettext_lazy("Compare anyway"))


class CompareForm(forms.Form):
    """Two versions picked in a history; the second may be the draft."""

    old = VersionNumberField(label=gettext_lazy("First version"))
    new = forms.RegexField(r"^(draft|[1-9][0-9]{0,8})$", label=gettext_lazy("Second version"))


class RestoreForm(forms.Form):
    """The version that the person saw as the newest, and why an old one comes back."""

    base = forms.IntegerField(min_value=1, max_value=10**9, label=gettext_lazy("Newest version"))
    message = LineField(max_length=500, required=False, label=gettext_lazy("Message"))


class LabelForm(forms.Form):
    """A label and where it goes; no version takes it off."""

    name = LineField(max_length=40, label=gettext_lazy("Label"))
    version = VersionNumberField(required=False, label=gettext_lazy("Version"))
    note = LineField(max_length=300, required=False, label=gettext_lazy("Note"))

    def clean_name(self) -> str:
        """One word in one spelling, that no version number and no address could be taken for."""
        name = normalize("NFKC", self.cleaned_data["name"]).lower()
        if not re.fullmatch(r"[-\w]{1,40}", name):
            raise ValidationError(_("A label is one word of letters, digits, hyphens and underscores."))
        if name in _NO_LABELS or re.fullmatch(r"v?[0-9]+", name):
            raise ValidationError(_("«%(name)s» is reserved and cannot be a label.") % {"name": name})
        return name


class MovesForm(forms.Form):
    """Which stretch of a label's moves to show."""

    before = forms.IntegerField(required=False, min_value=1, max_value=2**62, label=gettext_lazy("Before"))


class ProtectionForm(forms.Form):
    """Which labels are protected, with commas between, and whether moving them needs an approval."""

    protected_labels = forms.CharField(
        required=False,
        max_length=400,
        label=gettext_lazy("Labels that only releasers move"),
        help_text=gettext_lazy("With commas between. Counts once more than one person uses the studio."),
    )
    needs_approval = forms.BooleanField(
        required=False, label=gettext_lazy("Another releaser has to approve each move")
    )

    def clean_protected_labels(self) -> list[str]:
        """Names as labels have them, each once."""
        names = [part.strip() for part in re.split(r"[,、，]", self.cleaned_data["protected_labels"])]
        wanted = sorted({name for name in names if name})
        for name in wanted:
            if not re.fullmatch(r"[-\w]{1,40}", name):
                raise ValidationError(_("“%(name)s” is no name of a label.") % {"name": name})
        return wanted
