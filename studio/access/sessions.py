"""Sessions: stored under the hash of their key, with whose they are. Django's `SESSION_ENGINE`.

Whoever reads the database, or an old copy of it, finds no key that a cookie could carry.
"""

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in
from django.contrib.sessions.backends.db import SessionStore as DatabaseSessionStore
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import DatabaseError, models, transaction
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone

from studio.access.accounts import digest
from studio.access.audit import Event, record

# A request writes down when the session was last used, but not every request.
_NOTED_EVERY = timedelta(minutes=10)
_ORIGIN = "origin"
_LONGEST_AGENT = 300


class StudioSession(AbstractBaseSession):
    """A session. Its `session_key` is the hash of the cookie's."""

    session_key = models.CharField(primary_key=True, max_length=64)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, null=True, related_name="sessions")
    used_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "studio_session"

    @classmethod
    def get_session_store_class(cls) -> type["SessionStore"]:
        """As Django asks for it."""
        return SessionStore

    @property
    def origin(self) -> dict[str, str]:
        """Address and browser of the sign-in."""
        found: dict[str, str] = self.get_decoded().get(_ORIGIN, {})
        return found


class SessionStore(DatabaseSessionStore):
    """Django's sessions in the database, by hashed keys.

    The class keeps Django's name: it is part of what signs a session's content.
    """

    @classmethod
    def get_model_class(cls) -> type[StudioSession]:
        """The table."""
        return StudioSession

    def _get_session_from_db(self) -> StudioSession | None:
        now = timezone.now()
        try:
            row = StudioSession.objects.get(session_key=digest(self.session_key or ""), expire_date__gt=now)
        except StudioSession.DoesNotExist:
            self._session_key = None
            return None
        if row.used_at < now - _NOTED_EVERY:
            # A database that takes no writes at the moment still shows pages.
            with suppress(DatabaseError):
                StudioSession.objects.filter(pk=row.pk).update(used_at=now)
        return row

    def exists(self, session_key: str) -> bool:
        """Whether the key is taken."""
        return StudioSession.objects.filter(session_key=digest(session_key)).exists()

    def create_model_instance(self, data: dict[str, Any]) -> StudioSession:
        """The row to save."""
        return StudioSession(
            session_key=digest(self._get_or_create_session_key()),  # type: ignore[attr-defined]
            session_data=self.encode(data),
            expire_date=self.get_expiry_date(),
            person_id=data.get(SESSION_KEY),
        )

    def delete(self, session_key: str | None = None) -> None:
        """End the session."""
        key = session_key or self.session_key
        if key is not None:
            StudioSession.objects.filter(session_key=digest(key)).delete()


@receiver(user_logged_in)
def _note_origin(request: HttpRequest, **_: object) -> None:
    request.session[_ORIGIN] = {
        "address": request.META.get("REMOTE_ADDR", ""),
        "agent": request.headers.get("User-Agent", "")[:_LONGEST_AGENT],
    }


def own_sessions(person: User, now: datetime) -> models.QuerySet[StudioSession]:
    """A person's sessions that have not ended, the last used first."""
    return StudioSession.objects.filter(person=person, expire_date__gt=now).order_by("-used_at", "pk")


def end_sessions(person: User, *, but: str | None = None) -> int:
    """Sign a person out everywhere, ``but`` the session of that key; returns how many ended."""
    sessions = StudioSession.objects.filter(person=person)
    if but is not None:
        sessions = sessions.exclude(session_key=digest(but))
    return _ended(person, sessions)


def end_session(person: User, key: str) -> int:
    """End one of a person's sessions, by its stored key."""
    return _ended(person, StudioSession.objects.filter(person=person, pk=key))


def _ended(person: User, sessions: "models.QuerySet[StudioSession]") -> int:
    with transaction.atomic():
        ended = sessions.delete()[0]
        if ended:
            record(Event.SESSIONS_ENDED, person, after={"sessions": ended})
    return ended
