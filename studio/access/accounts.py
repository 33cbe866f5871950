"""Accounts: what the studio keeps of a person beside Django's user, above all their role."""

import hashlib
from typing import Any

from django.contrib.auth.models import User
from django.db import models
from django.db.models.signals import post_save
from django.dispatch import receiver
from django.utils import timezone
from django.utils.translation import pgettext_lazy


class Role(models.IntegerChoices):
    """For the whole studio, not for one thing; each may do what those before it may."""

    VIEWER = 1, pgettext_lazy("role", "Viewer")
    EDITOR = 2, pgettext_lazy("role", "Editor")
    RELEASER = 3, pgettext_lazy("role", "Releaser")
    ADMINISTRATOR = 4, pgettext_lazy("role", "Administrator")


# Of a user that neither an invitation nor the sign-in link made, such as one from a Django shell.
FIRST_ROLE = Role.VIEWER


def digest(secret: str) -> str:
    """What stands in the database for a key or a token, which is random, so that a plain hash is enough; and
    for a name that somebody typed, which may be a password."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


class AccountManager(models.Manager["Account"]):
    """Accounts of people who can sign in."""

    def active(self) -> "models.QuerySet[Account]":
        """Neither switched off nor gone."""
        return self.filter(user__is_active=True, left_at=None)


class Account(models.Model):
    """One for each user, made with it."""

    user = models.OneToOneField(User, on_delete=models.CASCADE, primary_key=True, related_name="account")
    role = models.PositiveSmallIntegerField(choices=Role.choices, default=FIRST_ROLE)
    # Set for a person who was removed: the user stays, because versions and receipts name it.
    left_at = models.DateTimeField(null=True, blank=True)
    # What the person may make; see `limits`.
    most_sets = models.PositiveIntegerField(default=1_000)
    most_contexts = models.PositiveIntegerField(default=2_000)
    most_drafts = models.PositiveIntegerField(default=1_000)

    objects = AccountManager()

    def __str__(self) -> str:
        return f"{self.user.get_username()}, {Role(self.role).name.lower()}"


@receiver(post_save, sender=User)
def _make_account(instance: User, created: bool, raw: bool = False, **_kwargs: Any) -> None:
    if created and not raw:
        Account.objects.create(
            user=instance,
            role=Role.ADMINISTRATOR if instance.is_superuser else FIRST_ROLE,
            # Nobody can sign in as the demo's colleagues: they are names of authors alone.
            left_at=None if instance.is_active else timezone.now(),
        )
