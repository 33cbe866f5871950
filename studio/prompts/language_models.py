"""Language models: their table, the figures that the studio ships, and how people correct them.

Used by the pages of models, by budgets and by the first migration, which fills the table.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User
from django.core.validators import MinValueValidator
from django.db import IntegrityError, models, transaction
from django.db.models import Count, F
from django.utils.translation import gettext

from studio.access.audit import Event, record
from studio.prompts.models import PromptSet

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


AS_OF = date(2026, 1, 31)
STALE_AFTER = timedelta(days=180)
"""Vendors change their prices about twice a year."""

# Said honestly: nobody read the vendors' pages when these were written down.
_UNCHECKED = "From memory of the vendor's price list as of 2026-01-31: not checked."
_SHORT_PROMPTS = f"{_UNCHECKED} Prompts up to 200,000 tokens."


def _figures(
    name: str, provider: str, context: int, cache: tuple[int, int], prices: str, note: str = _UNCHECKED
) -> dict[str, Any]:
    """A model as it comes with the studio, as columns of the table.

    ``prices`` are input, read from the cache, written to it and output; «-» for what costs no more.
    """
    dollars = [None if price == "-" else Decimal(price) for price in prices.split()]
    named = dict(
        zip(("input_price", "cached_price", "cache_write_price", "output_price"), dollars, strict=True)
    )
    about = {"name": name, "provider": provider, "context_tokens": context, "as_of": AS_OF, "note": note}
    return {**about, "cache_minimum": cache[0], "cache_step": cache[1], **named}


def _claude(name: str, minimum: int, prices: str) -> dict[str, Any]:
    return _figures(f"anthropic:{name}", "Anthropic", 200_000, (minimum, 1), prices)


def _gpt(name: str, context: int, prices: str) -> dict[str, Any]:
    return _figures(f"openai:{name}", "OpenAI", context, (1_024, 128), prices)


def _gemini(name: str, minimum: int, prices: str, note: str = _UNCHECKED) -> dict[str, Any]:
    return _figures(f"google-gla:{name}", "Google", 1_048_576, (minimum, 1), prices, note)


SHIPPED: Mapping[str, dict[str, Any]] = {
    figures["name"]: figures
    for figures in (
        _claude("claude-opus-4-5", 4_096, "5 0.50 6.25 25"),
        _claude("claude-sonnet-4-5", 1_024, "3 0.30 3.75 15"),
        _claude("claude-haiku-4-5", 4_096, "1 0.10 1.25 5"),
        _gemini("gemini-2.5-flash", 1_024, "0.30 0.03 - 2.50"),
        _gemini("gemini-2.5-pro", 4_096, "1.25 0.125 - 10", _SHORT_PROMPTS),
        _gemini("gemini-3-flash-preview", 1_024, "0.50 0.05 - 3"),
        _gemini("gemini-3-pro-preview", 4_096, "2 0.20 - 12", _SHORT_PROMPTS),
        _gpt("gpt-4o", 128_000, "2.50 1.25 - 10"),
        _gpt("gpt-4o-mini", 128_000, "0.15 0.075 - 0.60"),
        _gpt("gpt-4.1", 1_047_576, "2 0.50 - 8"),
        _gpt("gpt-4.1-mini", 1_047_576, "0.40 0.10 - 1.60"),
        _gpt("gpt-4.1-nano", 1_047_576, "0.10 0.025 - 0.40"),
        _gpt("gpt-5", 400_000, "1.25 0.125 - 10"),
        _gpt("gpt-5-mini", 400_000, "0.25 0.025 - 2"),
        _gpt("gpt-5-nano", 400_000, "0.05 0.005 - 0.40"),
    )
}


class NameTaken(Exception):
    """Another model of the table has this name."""


class ModelConflict(Exception):
    """The model was changed, deleted or put to use since the page that the decision was made on."""


@dataclass(frozen=True)
class ListedModel:
    """A row of the table as a page shows it."""

    model: LanguageModel
    today: date
    sets: int = 0
    """How many sets name it."""

    @property
    def is_stale(self) -> bool:
        return self.today - self.model.as_of > STALE_AFTER

    @property
    def is_shipped(self) -> bool:
        """Whether the studio came with a model of this name."""
        return self.model.name in SHIPPED

    @property
    def is_changed(self) -> bool:
        return self.model.changed_at is not None

    @property
    def note(self) -> str:
        """What is special about this one; what holds for all shipped ones stands above the table."""
        if self.model.note == _SHORT_PROMPTS:
            return gettext("Prompts up to 200,000 tokens")
        return "" if self.model.note == _UNCHECKED else self.model.note


def listed(today: date) -> list[ListedModel]:
    """Every model, by provider."""
    named = PromptSet.objects.exclude(language_model=None).values_list("language_model")
    used = dict(named.annotate(sets=Count("pk")).order_by())
    models_of_table = LanguageModel.objects.select_related("changed_by")
    return [ListedModel(model, today, used.get(model.pk, 0)) for model in models_of_table]


def missing() -> list[dict[str, Any]]:
    """Models that the studio ships and the table has not."""
    there = set(LanguageModel.objects.values_list("name", flat=True))
    return [figures for name, figures in SHIPPED.items() if name not in there]


def add_missing() -> int:
    """Put those into the table; how many that were."""
    with transaction.atomic():
        before = LanguageModel.objects.count()
        added = [LanguageModel(**figures) for figures in missing()]
        LanguageModel.objects.bulk_create(added, ignore_conflicts=True)
        for model in added:
            record(Event.MODEL_MADE, kind="languagemodel", name=model.name)
        return LanguageModel.objects.count() - before


def make(values: Mapping[str, Any], *, by: User, at: datetime) -> LanguageModel:
    """Store a new model, or raise ``NameTaken``."""
    try:
        with transaction.atomic():
            made = LanguageModel.objects.create(**values, changed_by=by, changed_at=at)
            record(Event.MODEL_MADE, made, after=values)
            return made
    except IntegrityError:
        raise NameTaken from None


def change(
    model: LanguageModel, values: Mapping[str, Any], *, revision: int, by: User | None, at: datetime | None
) -> None:
    """Store new figures over those that the person saw; else ``ModelConflict`` or ``NameTaken``."""
    seen = LanguageModel.objects.filter(pk=model.pk, revision=revision)
    try:
        with transaction.atomic():
            before = seen.values(*values).first()
            changed = seen.update(**values, revision=F("revision") + 1, changed_by=by, changed_at=at)
            if changed:
                record(Event.MODEL_CHANGED, model, before=before, after=values)
    except IntegrityError:
        raise NameTaken from None
    if not changed:
        raise ModelConflict


def back_to_shipped(model: LanguageModel, *, revision: int) -> None:
    """The figures that the studio came with, as if nobody had changed them."""
    change(model, SHIPPED[model.name], revision=revision, by=None, at=None)


def discard(model: LanguageModel, *, revision: int, sets: int) -> None:
    """Delete the model that the person saw, which so many sets named; these have none then."""
    try:
        with transaction.atomic():
            if PromptSet.objects.filter(language_model=model).count() != sets:
                raise ModelConflict
            if not LanguageModel.objects.filter(pk=model.pk, revision=revision).delete()[0]:
                raise ModelConflict
            record(Event.MODEL_DELETED, model)
    except IntegrityError:
        # A set named it in the same moment.
        raise ModelConflict from None
