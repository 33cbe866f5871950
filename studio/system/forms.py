"""Forms of the system prompt pages: the mode, the build to keep, the two builds to compare."""

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from builder.system.input import MODES
from studio.prompts.forms import LineField

_MOST_OPENED = 200
_STRETCH = re.compile(r"text\.(0|[1-9][0-9]{0,8})-([1-9][0-9]{0,8})", re.ASCII)
_SIDE = rf"\A(now/({'|'.join(MODES)})|[1-9][0-9]{{0,8}})\Z"
_CHOICES = [(mode, mode) for mode in MODES]


class SystemPageForm(forms.Form):
    """Whose sections the page lists; without a mode, that of the settings."""

    mode = forms.ChoiceField(choices=_CHOICES, required=False, label=gettext_lazy("Mode"))


class KeepBuildForm(forms.Form):
    """A build to be kept, with a note for later."""

    mode = forms.ChoiceField(choices=_CHOICES, label=gettext_lazy("Mode"))
    note = LineField(max_length=200, required=False, label=gettext_lazy("Note"))


class RowsField(forms.Field):
    """Any number of `text.120-480`."""

    widget = forms.MultipleHiddenInput

    def to_python(self, value: Any) -> list[range]:
        matches = [_STRETCH.fullmatch(str(item)) for item in value or ()]
        if len(matches) > _MOST_OPENED or not all(matches):
            raise ValidationError(_("There are no such rows."))
        return [range(int(match[1]), int(match[2])) for match in matches if match]


class SystemCompareForm(forms.Form):
    """Two builds by name: `now/full`, or the number of a kept one; a side left out is chosen for one."""

    w = forms.BooleanField(required=False)
    all = forms.BooleanField(required=False)
    open = RowsField(required=False)
    rows = RowsField(required=False)

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        # `from` is no name that Python allows in a class.
        self.fields["from"] = forms.RegexField(_SIDE, required=False, label=_("Earlier build"))
        self.fields["to"] = forms.RegexField(_SIDE, required=False, label=_("Later build"))
