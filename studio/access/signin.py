"""Sign-in: one-time links for whoever started the server, and growing pauses between guessed passwords."""

import secrets
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from ipaddress import ip_network
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.db import models, transaction
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from studio.access.accounts import Account, Role, digest
from studio.access.audit import Event, record

LINK_LIFETIME = timedelta(hours=12)
OPERATOR = "operator"
_DEFAULT_ADDRESS = "http://127.0.0.1:8000"


def issue_link_token(now: datetime | None = None) -> str:
    """A fresh token for `/signin/<token>/`: good once, until it expires; only its hash is stored."""
    now = now or timezone.now()
    token = secrets.token_urlsafe(32)
    SignInLink.objects.filter(expires_at__lt=now).delete()
    with transaction.atomic():
        SignInLink.objects.create(digest=digest(token), expires_at=now + LINK_LIFETIME)
        record(Event.LINK_MADE)
    return token


def remember_address(data: Path, address: str) -> None:
    """Keep where the server listens, for commands that run beside it."""
    (data / "address").write_text(address)


def studio_address() -> str:
    """The first origin of the settings, else where the server last listened."""
    if settings.ENVIRONMENT.origins:
        return str(settings.ENVIRONMENT.origins[0])
    kept = settings.STUDIO_DATA / "address"
    return kept.read_text() if kept.is_file() else _DEFAULT_ADDRESS


def signin_link() -> str:
    """A fresh one-time link."""
    return studio_address() + reverse("signin-link", args=[issue_link_token()])


def reset_link(person: User) -> str:
    """An address at which the person's password can be set once, within a day."""
    record(Event.LINK_MADE, person)
    uid, token = urlsafe_base64_encode(force_bytes(person.pk)), default_token_generator.make_token(person)
    return studio_address() + reverse("password-reset-confirm", args=[uid, token])


class SignInLinkManager(models.Manager["SignInLink"]):
    """Links are redeemed through here."""

    def redeem(self, token: str, now: datetime) -> User | None:
        """The operator's account for a good token, which is spent by this; None for any other."""
        with transaction.atomic():
            # One statement finds and spends it: of two who follow the link at once, one gets in.
            spent, _by_table = self.filter(digest=digest(token), expires_at__gte=now).delete()
            if not spent:
                return None
            user, made = User.objects.get_or_create(username=OPERATOR)
            if made:
                user.set_unusable_password()
                user.save(update_fields=["password"])
                Account.objects.filter(user=user).update(role=Role.ADMINISTRATOR)
            return user if user.is_active else None


class SignInLink(models.Model):
    """A link that was printed and not yet followed; the row goes when it is."""

    digest = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()

    objects = SignInLinkManager()

    def __str__(self) -> str:
        return f"link until {self.expires_at:%Y-%m-%d %H:%M}"


class TooManyAttempts(Exception):
    """A password is not looked at yet."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"wait {seconds} s")
        self.seconds = seconds


def count_attempt(request: HttpRequest, name: str | None = None) -> None:
    """Count an attempt to sign in before it is looked at; raises TooManyAttempts within a pause.

    Counting first means that guesses sent all at once are counted like guesses in a row. What is refused is
    not counted.
    """
    from allauth.core import ratelimit

    with transaction.atomic():
        for action, seconds, key in _counters(request, name):
            if ratelimit.consume_or_429(request, action=action, key=key, limit_get=True):
                raise TooManyAttempts(seconds)


def forgive_attempts(request: HttpRequest, name: str) -> None:
    """The password was right: the name's earlier attempts from this address no longer count."""
    from allauth.core import ratelimit

    with transaction.atomic():
        for action, _seconds, key in _counters(request, name):
            if action.startswith("name"):
                ratelimit.clear(request, action=action, key=key)


def _counters(request: HttpRequest, name: str | None) -> Iterator[tuple[str, int, str]]:
    """Django-allauth's actions, the length of the pause of each, and what it counts by: the address, and name
    and address together, because whoever guesses at a name from elsewhere must not lock its owner out."""
    address = request.META.get("REMOTE_ADDR", "")
    with suppress(ValueError):
        # Somebody with one address of IPv6 has a whole network of them.
        address = str(ip_network((address, 64 if ":" in address else 32), strict=False))
    by_name = {} if name is None else {"name": f"{digest(name.casefold())} {address}"}
    for counted, key in (by_name | {"address": address}).items():
        for seconds in settings.SIGNIN_PAUSES[counted]:
            yield f"{counted}-{seconds}", seconds, key
