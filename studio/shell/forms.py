"""Forms that many pages use: search boxes and preferences."""

from django import forms
from django.utils.translation import gettext_lazy as _

from studio.shell.layout import THEMES


class ThemeForm(forms.Form):
    """The switch between light and dark."""

    theme = forms.ChoiceField(choices=[(theme, theme) for theme in THEMES], label=_("Theme"))


class KeysForm(forms.Form):
    """The switch of the keyboard shortcuts."""

    keys = forms.ChoiceField(choices=[("on", "on"), ("off", "off")], label=_("Keyboard shortcuts"))


class SearchForm(forms.Form):
    """The search box above a list."""

    q = forms.CharField(
        required=False,
        max_length=200,
        label=_("Search"),
        error_messages={"max_length": _("Search for at most %(limit_value)d characters.")},
    )


class PromptSearchForm(SearchForm):
    """Sets by text and tag, or those that were archived."""

    tag = forms.CharField(required=False, max_length=40, label=_("Tag"))
    archived = forms.BooleanField(required=False, label=_("Archived"))
    page = forms.IntegerField(required=False, min_value=1, max_value=10_000, label=_("Page"))
