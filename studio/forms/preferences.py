"""How a person wants the studio to look and to listen."""

from django import forms
from django.utils.translation import gettext_lazy as _

from studio.layout import THEMES


class ThemeForm(forms.Form):
    """The switch between light and dark."""

    theme = forms.ChoiceField(choices=[(theme, theme) for theme in THEMES], label=_("Theme"))


class KeysForm(forms.Form):
    """The switch of the keyboard shortcuts."""

    keys = forms.ChoiceField(choices=[("on", "on"), ("off", "off")], label=_("Keyboard shortcuts"))
