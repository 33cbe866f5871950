"""Language models: what vendors publish of them, dated, and corrected by whoever knows better."""

from decimal import Decimal

from django.contrib.auth.models import User
from django.core.validators import MinValueValidator
from django.db import models

_NOT_NEGATIVE = (MinValueValidator(Decimal(0)),)


def _price() -> "models.DecimalField[Decimal | None, Decimal | None]":
    """US dollars for a million tokens; none where it is not known."""
    return models.DecimalField(
        max_digits=10, decimal_places=4, null=True, blank=True, validators=_NOT_NEGATIVE
    )


class LanguageModel(models.Model):
    """One model that prompts are counted and priced for."""

    name = models.CharField(max_length=80, unique=True)
    """As MixSeek's configuration and the token counter know it."""
    provider = models.CharField(max_length=80, blank=True)
    context_tokens = models.PositiveIntegerField(null=True, blank=True)
    cache_minimum = models.PositiveIntegerField(null=True, blank=True)
    """Tokens of the shortest beginning that the vendor keeps; none where it keeps no cache."""
    cache_step = models.PositiveIntegerField(default=1, validators=[MinValueValidator(1)])
    """Beyond the minimum the vendor counts in so many tokens at a time."""
    input_price = _price()
    cached_price = _price()
    """For what is read from the cache."""
    cache_write_price = _price()
    """For what is put into it, where that costs more than the input itself."""
    output_price = _price()
    as_of = models.DateField()
    """When the figures were last read in the vendor's documentation."""
    note = models.CharField(max_length=300, blank=True)
    # Grows with every change; who does not know the newest one must not write over it.
    revision = models.PositiveIntegerField(default=1)
    changed_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    changed_at = models.DateTimeField(null=True, blank=True)
    """None while it is as it was shipped."""

    class Meta:
        ordering = ("provider", "name")

    def __str__(self) -> str:
        return self.name
