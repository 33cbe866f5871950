"""Which suggested order somebody takes; whose stable beginnings somebody looks at."""

from django import forms

from studio.compare.forms import SideField


class TakeForm(forms.Form):
    """A hint by its code, its line and the text that it suggested."""

    take = forms.RegexField(r"\AC[0-9]{3}-[0-9]{1,9}-[0-9a-f]{12}\Z")


class PrefixesForm(forms.Form):
    """Two texts of a set, or one alone, and the context at a round."""

    old = SideField()
    new = SideField()
    """The newest version where nobody says."""
    context = forms.RegexField(r"\A[-\w]{0,80}\Z", required=False)
    round = forms.IntegerField(min_value=1, max_value=2**63 - 1, required=False)
