"""Whose templates the suggestions are about."""

from django import forms
from django.utils.translation import gettext_lazy


class SuggestionsForm(forms.Form):
    """A version's number, ``draft``, or nothing for the newest version."""

    version = forms.RegexField(
        r"\A(?:draft|[1-9][0-9]{0,8})?\Z", required=False, label=gettext_lazy("Version")
    )
