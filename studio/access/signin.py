"""Sign-in: one-time links for whoever started the server, and growing pauses between guessed passwords."""

import hashlib
import secrets
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.db import models, transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from studio.access.accounts import Account, Role
from studio.access.audit import Event, record

LINK_LIFETIME = timedelta(hours=12)
# Wrong passwords without a pause; from then on each one doubles it. Counted by name and address together:
# whoever guesses at a name from elsewhere must not lock its owner out. People behind one proxy share an
# address, so it has more before all of its names have to wait.
FREE_FAILURES = 5
FREE_FAILURES_OF_ADDRESS = 20
LONGEST_PAUSE = timedelta(minutes=15)
FAILURE_WINDOW = timedelta(hours=12)
OPERATOR = "operator"
_DEFAULT_ADDRESS = "http://127.0.0.1:8000"


def digest(text: str) -> str:
    """What is stored of a token or a name that nobody shall read from the database."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


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

    def __init__(self, wait: timedelta) -> None:
        super().__init__(f"wait {wait}")
        self.wait = wait


class SignInAttemptManager(models.Manager["SignInAttempt"]):
    """Counts attempts to sign in by password."""

    def begin(self, username: str, address: str, now: datetime) -> "SignInAttempt":
        """Note an attempt before the password is looked at; raises TooManyAttempts within a pause.

        Noting it first means that guesses sent all at once are counted like guesses in a row.
        """
        who = digest(username.casefold())
        with transaction.atomic():
            self.filter(at__lt=now - FAILURE_WINDOW).delete()
            here = self.filter(address=address)
            wait = max(
                _pause(here.filter(who=who), FREE_FAILURES, now),
                _pause(here, FREE_FAILURES_OF_ADDRESS, now),
            )
            if wait > timedelta():
                raise TooManyAttempts(wait)
            return self.create(who=who, address=address, at=now)

    def forgive(self, attempt: "SignInAttempt") -> None:
        """The password was right: the name's earlier failures here no longer count."""
        self.filter(who=attempt.who, address=attempt.address).delete()


def _pause(failures: "models.QuerySet[SignInAttempt]", free: int, now: datetime) -> timedelta:
    """What is left of the pause after the last failure: none for the free ones, then 1, 2, 4… seconds."""
    counted = failures.aggregate(number=models.Count("pk"), last=models.Max("at"))
    if counted["number"] < free:
        return timedelta()
    doubled = min(counted["number"] - free, 20)  # far beyond the longest pause
    pause = min(timedelta(seconds=2**doubled), LONGEST_PAUSE)
    ends: datetime = counted["last"] + pause
    return ends - now


class SignInAttempt(models.Model):
    """A password attempt that has not succeeded."""

    # A hash: people type passwords into the wrong box.
    who = models.CharField(max_length=64, db_index=True)
    address = models.CharField(max_length=64, db_index=True)
    at = models.DateTimeField(db_index=True)

    objects = SignInAttemptManager()

    def __str__(self) -> str:
        return f"attempt from {self.address}"
