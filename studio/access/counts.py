"""Counts of attempts to sign in: in the database, so that all servers of one studio count together.

Django's `CACHES`, in which django-allauth keeps its rate limits. With JSON instead of the pickles of Django's
own cache in a database: a backup that somebody hands over must not run code once it is restored.
"""

from datetime import datetime, timedelta
from typing import Any

from django.core.cache.backends.base import BaseCache
from django.db import IntegrityError, models, transaction
from django.utils import timezone


class Count(models.Model):
    """The moments at which something was tried lately, or a lock."""

    key = models.CharField(primary_key=True, max_length=255)
    value = models.JSONField()
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.key


class Counts(BaseCache):
    """The part of Django's interface that rate limits use."""

    def __init__(self, _location: str, params: dict[str, Any]) -> None:
        super().__init__(params)

    def get(self, key: str, default: Any = None, version: int | None = None) -> Any:
        """The value, as long as it holds."""
        known = Count.objects.filter(key=key, expires_at__gt=timezone.now())
        return next(iter(known.values_list("value", flat=True)), default)

    def add(self, key: str, value: Any, timeout: Any = 300, version: int | None = None) -> bool:
        """Whether the key was free: of several who add it at once, for one it was."""
        Count.objects.filter(key=key, expires_at__lte=timezone.now()).delete()
        try:
            with transaction.atomic():
                Count.objects.create(key=key, value=value, expires_at=_end(timeout))
        except IntegrityError:
            return False
        return True

    def set(self, key: str, value: Any, timeout: Any = 300, version: int | None = None) -> None:
        """Put the value there."""
        Count.objects.update_or_create(key=key, defaults={"value": value, "expires_at": _end(timeout)})

    def delete(self, key: str, version: int | None = None) -> bool:
        """Whether there was one."""
        return bool(Count.objects.filter(key=key).delete()[0])


def clean_counts(now: datetime) -> None:
    """Forget what holds no longer."""
    Count.objects.filter(expires_at__lte=now).delete()


def _end(seconds: float) -> datetime:
    return timezone.now() + timedelta(seconds=seconds)
