"""Tokens of the API: whose they are, what they may be used for, and how often.

Used by the API, by the account page and by whatever ends an account. A token is shown once; the database has
its hash.
"""

import json
import secrets
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db import DatabaseError, connection, models, transaction
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from studio.access.accounts import Account, Role, digest
from studio.access.audit import Event, record

PREFIX = "pst_"
"""So that a token is recognised wherever somebody left it."""
SERVICE = "service:"
"""Begins the name of the user that a service writes under; nobody can sign in with one."""
_HINT = 10


class Scope(models.TextChoices):
    """What a token may be used for, within what its person may do."""

    READ = "read", _("Read")
    WRITE = "write", _("Write: versions, contexts, ordinary labels")
    RELEASE = "release", _("Release: protected labels, exports")
    MACHINE = "machine", _("Machine: report a workspace and carry out its exports")


# By hand: every request asks this, and to build the joins out of a queryset takes longer than to run them.
_FOUND = """\
SELECT t.id, t.person_id, t.name, t.scopes, t.role, u.username, u.is_active, a.role
FROM studio_apitoken t
JOIN auth_user u ON u.id = t.person_id
JOIN studio_account a ON a.user_id = u.id
WHERE t.digest = %s AND t.expires_at > %s
"""


class ApiTokenManager(models.Manager["ApiToken"]):
    """Tokens are made, found and ended here."""

    def make(
        self,
        person: User,
        name: str,
        *,
        scopes: Iterable[str],
        days: int,
        at: datetime,
        role: int | None = None,
        by: User | None = None,
    ) -> tuple["ApiToken", str]:
        """A new token, and what it is to be sent as, which nobody can find out later."""
        key = PREFIX + secrets.token_urlsafe(32)
        wanted = set(scopes)
        with transaction.atomic():
            token = self.create(
                person=person,
                name=name,
                digest=digest(key),
                hint=key[:_HINT],
                scopes=[scope.value for scope in Scope if scope in wanted],
                role=role,
                made_by=by or person,
                made_at=at,
                expires_at=at + timedelta(days=days),
            )
            after = {"of": person.get_username(), "scopes": token.scopes, "days": days, "role": role}
            record(Event.TOKEN_MADE, token, after=after)
        return token, key

    def make_for_service(
        self, name: str, *, role: int, scopes: Iterable[str], days: int, at: datetime, by: User
    ) -> tuple["ApiToken", str]:
        """A token of a program: it has a role of its own and writes under its own name."""
        with transaction.atomic():
            # Switched off from the start, so that it is a name of an author and no account.
            user, _made = User.objects.get_or_create(
                username=SERVICE + name, defaults={"is_active": False, "password": "!"}
            )
            return self.make(user, name, scopes=scopes, days=days, at=at, role=role, by=by)

    def find(self, key: str, at: datetime) -> "ApiToken | None":
        """The token that was sent, if it holds: neither expired nor that of an account switched off."""
        with connection.cursor() as cursor:
            cursor.execute(_FOUND, [digest(key), connection.ops.adapt_datetimefield_value(at)])
            row = cursor.fetchone()
        if row is None:
            return None
        *own, username, is_active, account_role = row
        own[3] = json.loads(own[3]) if isinstance(own[3], str) else own[3]
        # What else the rows hold is read where somebody asks for it; names in the order of the columns.
        token = ApiToken.from_db(self.db, ("id", "person_id", "name", "scopes", "role"), own)
        person = User.from_db(self.db, ("id", "username", "is_active"), (own[1], username, bool(is_active)))
        person.account = Account.from_db(self.db, ("user_id", "role"), (own[1], account_role))
        token.person = person
        return token if person.is_active or token.role is not None else None

    def of(self, person: User) -> "models.QuerySet[ApiToken]":
        """A person's own, the newest first."""
        return self.filter(person=person, role=None)

    def of_services(self) -> "models.QuerySet[ApiToken]":
        """All services', the newest first."""
        return self.exclude(role=None).select_related("person", "made_by")


class ApiToken(models.Model):
    """A key to the API: a person's, or with a ``role`` of its own, a service's."""

    person = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=80)
    digest = models.CharField(max_length=64, unique=True)
    # How the token begins, to tell one from another.
    hint = models.CharField(max_length=20)
    scopes = models.JSONField(default=list)
    role = models.PositiveSmallIntegerField(choices=Role.choices, null=True)
    made_by = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    made_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    # How many requests were let through in the minute of that number since 1970.
    minute = models.PositiveBigIntegerField(default=0)
    spent = models.PositiveIntegerField(default=0)

    objects = ApiTokenManager()

    class Meta:
        ordering = ("-pk",)

    def __str__(self) -> str:
        return self.name

    @property
    def actor(self) -> "User | ApiToken":
        """Whose role counts."""
        return self.person if self.role is None else self

    def end(self) -> None:
        """It opens nothing any more."""
        with transaction.atomic():
            record(Event.TOKEN_ENDED, self, before={"of": self.person.get_username()})
            self.delete()

    @property
    def scope_labels(self) -> list[str]:
        return [str(Scope(scope).label).partition(":")[0].partition("：")[0] for scope in self.scopes]


def end_tokens(person: User) -> int:
    """End every token of a person; returns how many."""
    tokens = list(ApiToken.objects.of(person).select_related("person"))
    for token in tokens:
        token.end()
    return len(tokens)


# --- how often ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Allowance:
    """What is left of a minute."""

    limit: int
    remaining: int
    seconds: int
    """Until the next one begins."""


class TooManyRequests(Exception):
    """This token has used all its requests for this minute."""

    def __init__(self, allowance: Allowance) -> None:
        super().__init__(allowance)
        self.allowance = allowance


@dataclass
class _Lease:
    minute: int
    left: int
    unclaimed: int
    """What no server had claimed when this was."""


class RequestCounter:
    """Counts the requests of tokens in the database, so that several servers agree.

    A server claims some at a time: one write for many requests, and never more than the limit in all.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._leases: dict[int, _Lease] = {}

    def take(self, token: ApiToken, now: datetime) -> Allowance:
        """Count one request, or raise ``TooManyRequests``."""
        limit: int = settings.STUDIO_API_RATE
        minute, second = divmod(int(now.timestamp()), 60)
        with self._lock:
            lease = self._leases.get(token.pk)
            if lease is None or lease.minute != minute or not lease.left:
                lease = _claim(token.pk, minute, now, limit)
                if len(self._leases) > 1_000:
                    self._leases = {key: some for key, some in self._leases.items() if some.minute == minute}
                self._leases[token.pk] = lease
            if not lease.left:
                raise TooManyRequests(Allowance(limit, 0, 60 - second))
            lease.left -= 1
            return Allowance(limit, lease.unclaimed + lease.left, 60 - second)


def _claim(key: int, minute: int, now: datetime, limit: int) -> _Lease:
    some = max(1, limit // 20)
    tokens = ApiToken.objects.filter(pk=key)
    # Servers' clocks differ by seconds; a minute further ahead is a clock that was wrong.
    other = Q(minute__lt=minute) | Q(minute__gt=minute + 1)
    try:
        if tokens.filter(other).update(minute=minute, spent=some, used_at=now):
            return _Lease(minute, some, limit - some)
        for _attempt in range(10):
            spent = tokens.values_list("spent", flat=True).first()
            if spent is None or spent >= limit:
                break
            mine = min(some, limit - spent)
            if tokens.filter(spent=spent).update(spent=F("spent") + mine, used_at=now):
                return _Lease(minute, mine, limit - spent - mine)
    except DatabaseError:
        # A database that takes no writes at the moment still answers questions.
        return _Lease(minute, some, limit - some)
    return _Lease(minute, 0, 0)


COUNTER = RequestCounter()
