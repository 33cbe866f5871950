"""The form for a language model of the table."""

from datetime import date
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.formats import localize
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from studio.prompts.forms import LineField
from studio.prompts.language_models import LanguageModel

_MOST_TOKENS = 10**9


class TokensField(forms.IntegerField):
    """A number of tokens; commas and blanks between its digits do no harm."""

    def __init__(self, *, min_value: int | None = 1, **more: Any) -> None:
        super().__init__(
            min_value=min_value,
            max_value=_MOST_TOKENS,
            widget=forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "off"}),
            **more,
        )

    def to_python(self, value: Any) -> int | None:
        text = str(value if value is not None else "")
        return super().to_python(text.replace(",", "").replace("_", "").replace(" ", ""))


class PriceField(forms.DecimalField):
    """US dollars for a million tokens."""

    def __init__(self, **more: Any) -> None:
        super().__init__(
            required=False,
            min_value=0,
            max_digits=10,
            decimal_places=4,
            widget=forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"}),
            **more,
        )


class LanguageModelForm(forms.Form):
    """All that the table says of a model."""

    name = LineField(
        max_length=80,
        label=gettext_lazy("Name"),
        help_text=gettext_lazy("As MixSeek's configuration has it, such as `openai:gpt-4o`."),
    )
    provider = LineField(max_length=80, required=False, label=gettext_lazy("Provider"))
    context_tokens = TokensField(
        required=False,
        label=gettext_lazy("Context length"),
        help_text=gettext_lazy("Tokens of prompt and answer together."),
    )
    cache_minimum = TokensField(
        required=False,
        label=gettext_lazy("Cached from"),
        help_text=gettext_lazy("Shortest prefix that the vendor caches, in tokens; empty if it caches none."),
    )
    cache_step = TokensField(
        required=False,
        label=gettext_lazy("Cached in steps of"),
        help_text=gettext_lazy("Step size beyond the minimum, in tokens; 1 if not documented."),
    )
    input_price = PriceField(label=gettext_lazy("Input"))
    cached_price = PriceField(label=pgettext_lazy("price", "Cached"))
    cache_write_price = PriceField(
        label=gettext_lazy("Cache write"),
        help_text=gettext_lazy("Empty if it costs the same as other input."),
    )
    output_price = PriceField(label=gettext_lazy("Output"))
    as_of = forms.DateField(
        label=gettext_lazy("Prices as of"),
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        input_formats=["%Y-%m-%d"],
        help_text=gettext_lazy("Date on which they were checked in the vendor's documentation."),
    )
    note = LineField(max_length=300, required=False, label=gettext_lazy("Note"))

    def __init__(self, data: Any = None, *, model: LanguageModel | None = None, today: date) -> None:
        initial = (
            {name: _typed(getattr(model, name)) for name in self.base_fields} if model else {"as_of": today}
        )
        super().__init__(data, initial=initial)
        self.model, self.today = model, today

    def clean_name(self) -> str:
        """One that no other model of the table has."""
        name: str = self.cleaned_data["name"]
        others = LanguageModel.objects.filter(name=name)
        if (others.exclude(pk=self.model.pk) if self.model else others).exists():
            raise ValidationError(name_taken())
        return name

    def clean_cache_step(self) -> int:
        """Every token counts where nobody says otherwise."""
        return self.cleaned_data["cache_step"] or 1

    def clean_as_of(self) -> date:
        """A day that has been."""
        day: date = self.cleaned_data["as_of"]
        if day > self.today:
            raise ValidationError(_("This date is in the future."))
        return day

    def differences(self, stored: LanguageModel) -> list[tuple[str, str, str]]:
        """What somebody else saved in the meantime: the field, theirs, and what was sent."""
        return [
            (str(self.fields[name].label), _shown(getattr(stored, name)), _shown(mine))
            for name, mine in self.cleaned_data.items()
            if mine != getattr(stored, name)
        ]


class SeenModelForm(forms.Form):
    """Which state of a model a decision was made on, and how many sets named it then."""

    revision = forms.IntegerField(min_value=1, max_value=2**31 - 1, label=gettext_lazy("Revision"))
    sets = forms.IntegerField(
        min_value=0, max_value=2**31 - 1, required=False, label=gettext_lazy("Prompt sets")
    )


def name_taken() -> str:
    """Why a model cannot have this name."""
    return _("Another model of the table has this name.")


def _typed(value: Any) -> Any:
    """A price without idle noughts, as a person would type it."""
    return f"{value.normalize():f}" if isinstance(value, Decimal) else value


def _shown(value: Any) -> str:
    return "" if value is None else str(localize(_typed(value)))
