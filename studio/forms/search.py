"""What a list is searched for, and which stretch of it is shown."""

from django import forms
from django.utils.translation import gettext_lazy as _


class SearchForm(forms.Form):
    """The search box above a list."""

    q = forms.CharField(
        required=False,
        max_length=200,
        label=_("Search"),
        error_messages={"max_length": _("Search for at most %(limit_value)d characters.")},
    )


class PromptSearchForm(SearchForm):
    """Sets by text and tag."""

    tag = forms.CharField(required=False, max_length=40, label=_("Tag"))


class HistoryForm(forms.Form):
    """Which stretch of a history to show: what is older than this version number."""

    before = forms.IntegerField(required=False, min_value=1, max_value=10**9, label=_("Before version"))
