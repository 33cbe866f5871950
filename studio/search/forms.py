"""Forms of the search page and of the palette."""

from django import forms
from django.utils.translation import pgettext_lazy

from studio.prompts.forms import WordsForm
from studio.shell.forms import SearchForm

PARTS = ("prompts", "contexts", "runs")
"""Where the page looks."""
_MOST_ACTIONS = 40
_LONGEST_ACTION = 80


class SearchPageForm(WordsForm):
    """Words, where to look for them, and from which match on."""

    part = forms.ChoiceField(
        choices=[(part, part) for part in PARTS], required=False, label=pgettext_lazy("search", "Where")
    )
    start = forms.IntegerField(
        min_value=0, max_value=10**9, required=False, label=pgettext_lazy("search", "From")
    )


class PaletteForm(SearchForm):
    """A name as far as it is typed."""

    def actions(self) -> list[str]:
        """What can be done on the page that asks, as it names it."""
        sent: list[str] = self.data.getlist("action")  # type: ignore[attr-defined]
        return [" ".join(name.split())[:_LONGEST_ACTION] for name in sent[:_MOST_ACTIONS]]
