"""How a round's page is looked at."""

from django import forms
from django.utils.translation import gettext_lazy as _


class RoundViewForm(forms.Form):
    """A submission as Markdown, or as the team wrote it."""

    raw = forms.BooleanField(required=False, label=_("As it was written"))
