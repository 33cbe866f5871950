"""People: invitations, changes of accounts, and the rule that one administrator is always left."""

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import models, transaction
from django.utils.translation import gettext as _

from studio.access.accounts import Account, Role, digest
from studio.access.audit import Event, record
from studio.access.sessions import end_sessions
from studio.access.tokens import end_tokens
from studio.shell.refusal import RequestRefused

INVITATION_LIFETIME = timedelta(days=7)


class InvitationManager(models.Manager["Invitation"]):
    """Invitations are made, found and used up through here."""

    def invite(self, role: Role, note: str, *, by: User, at: datetime) -> str:
        """A token for `/invitation/<token>/`: good once and for seven days; only its hash is stored."""
        token = secrets.token_urlsafe(32)
        self.filter(expires_at__lt=at).delete()
        with transaction.atomic():
            self.create(
                digest=digest(token),
                role=role,
                note=note,
                made_by=by,
                made_at=at,
                expires_at=at + INVITATION_LIFETIME,
            )
            record(Event.PERSON_INVITED, kind="invitation", name=note, after={"role": role.name.lower()})
        return token

    def withdraw(self, pk: int) -> None:
        """The link is good no longer."""
        with transaction.atomic():
            invitation = self.filter(pk=pk).first()
            if invitation is not None and self.filter(pk=pk).delete()[0]:
                record(Event.INVITATION_WITHDRAWN, kind="invitation", name=invitation.note)

    def good(self, token: str, now: datetime) -> "Invitation | None":
        """The invitation of that token, where it was not used and is not too old."""
        return self.filter(digest=digest(token), expires_at__gte=now).first()

    def accept(self, invitation: "Invitation", name: str, password: str, email: str) -> User | None:
        """The new account; None where somebody else used the invitation a moment ago.

        Raises ``IntegrityError`` for a name that was taken a moment ago; the invitation stays good then.
        """
        with transaction.atomic():
            spent, _by_table = self.filter(pk=invitation.pk).delete()
            if not spent:
                return None
            person = User.objects.create_user(name, email, password)
            Account.objects.filter(user=person).update(role=invitation.role)
            role = Role(invitation.role).name.lower()
            record(
                Event.PERSON_JOINED,
                person,
                by=person,
                after={"role": role, "invited by": str(invitation.made_by)},
            )
        return User.objects.get(pk=person.pk)


class Invitation(models.Model):
    """A link that was given to somebody and not yet followed; the row goes when it is."""

    digest = models.CharField(max_length=64, unique=True)
    role = models.PositiveSmallIntegerField(choices=Role.choices)
    note = models.CharField(max_length=120, blank=True)
    made_by = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    made_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    objects = InvitationManager()

    def __str__(self) -> str:
        return f"invitation until {self.expires_at:%Y-%m-%d %H:%M}"


class LastAdministrator(RequestRefused):
    """409: somebody must be able to manage people."""

    def __init__(self) -> None:
        super().__init__(
            409,
            _("This is the only administrator who can sign in."),
            _("Make another person an administrator first."),
            title=_("One administrator must stay"),
        )


@contextmanager
def _managed_still() -> Iterator[None]:
    """A change of accounts, taken back where it would leave no administrator."""
    administrators = Account.objects.active().filter(role=Role.ADMINISTRATOR)
    with transaction.atomic():
        # Two who demote each other at once: the second waits here, and then finds itself the last one.
        before = list(administrators.select_for_update())
        yield
        if before and not administrators.exists():
            raise LastAdministrator


def change(person: User, values: Mapping[str, Any]) -> None:
    """Give another role or other limits; they count from the person's next request on."""
    with _managed_still():
        mine = Account.objects.filter(user=person)
        before = mine.values(*values).get()
        mine.update(**values)
        record(Event.PERSON_CHANGED, person, before=_named(before), after=_named(values))


def _named(values: Mapping[str, Any]) -> dict[str, Any]:
    return {**values, **({"role": Role(values["role"]).name.lower()} if "role" in values else {})}


def switch_off(person: User) -> None:
    """Nobody signs in with the account any more, and whoever is signed in no longer is."""
    with _managed_still():
        User.objects.filter(pk=person.pk).update(is_active=False)
        end_access(person)
        record(Event.PERSON_OFF, person)


def switch_on(person: User) -> None:
    """The account can be signed in with again; a person who was removed does not come back."""
    with transaction.atomic():
        if User.objects.filter(pk=person.pk, account__left_at=None).update(is_active=True):
            record(Event.PERSON_ON, person)


def remove(person: User, *, at: datetime) -> None:
    """Take the person off the list for good. The name stays: versions and receipts carry it."""
    with _managed_still():
        person.set_unusable_password()
        User.objects.filter(pk=person.pk).update(is_active=False, email="", password=person.password)
        Account.objects.filter(user=person).update(left_at=at, role=Role.VIEWER)
        end_access(person)
        record(Event.PERSON_REMOVED, person)


def end_access(person: User) -> None:
    """End every way in that is open now: sessions and personal tokens."""
    end_sessions(person)
    end_tokens(person)
