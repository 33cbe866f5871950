"""The audit: who changed what, when and from where; written once, in the transaction of the change.

Every function that changes something calls `record` beside its write; nobody else does. A version's text is
referred to by number and hash, a private draft's not at all.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models, transaction
from django.dispatch import receiver
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from studio.access.actors import Via, current_actor
from studio.access.webhooks import tell
from studio.shell.immutable import ImmutableModel


class ReadableJson(DjangoJSONEncoder):
    """JSON whose Japanese can be searched for as it is typed."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options | {"ensure_ascii": False})


LONGEST_TEXT = 300
"""Of a value before or after a change; an entry is no copy of what was changed."""
_ONCE_WITHIN = timedelta(minutes=1)


class Event(models.TextChoices):
    """Everything that is recorded."""

    SET_MADE = "set.made", _("Set created")
    SET_CHANGED = "set.changed", _("Set settings changed")
    SET_ARCHIVED = "set.archived", _("Set archived")
    SET_BACK = "set.back", _("Set restored from the archive")
    VERSION_SAVED = "version.saved", _("Version saved")
    DRAFT_DISCARDED = "draft.discarded", _("Draft discarded")
    LABEL_MOVED = "label.moved", _("Label moved")
    LABEL_REMOVED = "label.removed", _("Label removed")
    CONTEXT_MADE = "context.made", _("Context created")
    CONTEXT_CHANGED = "context.changed", _("Context changed")
    CONTEXT_DELETED = "context.deleted", _("Context deleted")
    WORKSPACE_REGISTERED = "workspace.registered", _("Workspace registered")
    WORKSPACE_CHANGED = "workspace.changed", _("Workspace settings changed")
    WORKSPACE_ARCHIVED = "workspace.archived", _("Workspace removed from the list")
    WORKSPACE_BACK = "workspace.back", _("Workspace restored to the list")
    WORKSPACE_RETRIED = "workspace.retried", _("Database read again")
    FOLDER_ALLOWED = "folder.allowed", _("Folder allowed")
    FOLDER_TAKEN_BACK = "folder.taken-back", _("Folder no longer allowed")
    EXPORT_WRITTEN = "export.written", _("Export written")
    EXPORT_UNDONE = "export.undone", _("Export undone")
    EXPORT_NOT_WRITTEN = "export.not-written", _("Export not written")
    BUILD_KEPT = "build.kept", _("System prompt build saved")
    MODEL_MADE = "model.made", _("Model added")
    MODEL_CHANGED = "model.changed", _("Model changed")
    MODEL_DELETED = "model.deleted", _("Model deleted")
    DATABASE_RESTORED = "database.restored", _("Database restored")
    EVERYTHING_WRITTEN = "everything.written", _("Everything written as files")
    EVERYTHING_READ = "everything.read", _("Everything read from files")
    DEMO_LOADED = "demo.loaded", _("Demo loaded")
    DEMO_REMOVED = "demo.removed", _("Demo removed")
    SIGNED_IN = "signin.done", _("Signed in")
    SIGNIN_REFUSED = "signin.refused", _("Sign-in refused")
    SIGNED_OUT = "signin.ended", _("Signed out")
    LINK_MADE = "signin.link", _("Sign-in link created")
    SESSIONS_ENDED = "sessions.ended", _("Sessions ended")
    PROPOSAL_MADE = "proposal.made", _("Release proposed")
    PROPOSAL_APPROVED = "proposal.approved", _("Release approved")
    PROPOSAL_DECLINED = "proposal.declined", _("Proposal declined")
    PROPOSAL_WITHDRAWN = "proposal.withdrawn", _("Proposal withdrawn")
    WEBHOOK_MADE = "webhook.made", _("Webhook created")
    WEBHOOK_CHANGED = "webhook.changed", _("Webhook changed")
    WEBHOOK_DELETED = "webhook.deleted", _("Webhook deleted")
    WEBHOOK_SENT_AGAIN = "webhook.sent-again", _("Webhook sent again")
    TOKEN_MADE = "token.made", _("API token created")
    TOKEN_ENDED = "token.ended", _("API token revoked")
    PASSWORD_CHANGED = "password.changed", _("Password changed")
    EMAIL_CHANGED = "email.changed", _("E-mail address changed")
    PERSON_INVITED = "person.invited", _("Person invited")
    INVITATION_WITHDRAWN = "person.invitation-withdrawn", _("Invitation withdrawn")
    PERSON_JOINED = "person.joined", _("Person joined")
    PERSON_CHANGED = "person.changed", _("Role or limits changed")
    PERSON_OFF = "person.off", _("Account disabled")
    PERSON_ON = "person.on", _("Account enabled")
    PERSON_REMOVED = "person.removed", _("Person removed")
    ACTION_REFUSED = "action.refused", _("Not allowed")
    AUDIT_CLEANED = "audit.cleaned", _("Old audit entries deleted")


class AuditEntry(ImmutableModel):
    """One change, or one refusal. Its names are those that stood there: what they name may be gone."""

    at = models.DateTimeField(db_index=True)
    # Numbers instead of foreign keys: an entry outlives the account and the thing.
    account = models.BigIntegerField(null=True, db_index=True)
    name = models.CharField(max_length=150, blank=True)
    action = models.CharField(max_length=40, db_index=True)
    # An `Event`, which is no matter of the schema: one more needs no migration.
    thing_kind = models.CharField(max_length=40, blank=True)
    thing_id = models.CharField(max_length=64, blank=True)
    thing_name = models.CharField(max_length=LONGEST_TEXT, blank=True)
    prompt_set = models.BigIntegerField(null=True)
    workspace = models.BigIntegerField(null=True)
    before = models.JSONField(null=True, encoder=ReadableJson)
    after = models.JSONField(null=True, encoder=ReadableJson)
    via = models.CharField(max_length=10, choices=Via)
    source = models.CharField(max_length=200, blank=True)
    address = models.CharField(max_length=64, blank=True)
    # Of an entry that says so: older ones may be deleted. The only way to delete any, see `clean_audit`.
    cut_before = models.DateTimeField(null=True)

    deletable_when = (
        'EXISTS (SELECT 1 FROM "studio_auditentry" AS cut WHERE cut."cut_before" > OLD."at"'
        ' AND cut."id" <> OLD."id")'
    )

    class Meta:
        ordering = ("-pk",)
        indexes = (
            models.Index(fields=["prompt_set", "-id"], name="audit_of_a_set"),
            models.Index(fields=["workspace", "-id"], name="audit_of_a_workspace"),
            models.Index(
                fields=["cut_before"], name="audit_cuts", condition=models.Q(cut_before__isnull=False)
            ),
        )

    @property
    def action_label(self) -> str:
        """In the reader's language; a word that is no longer used as it stands."""
        known = self.action in Event.values
        return str(Event(self.action).label) if known else self.action

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.name}: {self.action} {self.thing_name}"


_summed_up: ContextVar[bool] = ContextVar("summed_up", default=False)


@contextmanager
def recorded_as_one(action: Event) -> Iterator[None]:
    """One entry for all that is changed within this."""
    before = _summed_up.set(True)
    try:
        yield
    finally:
        _summed_up.reset(before)
    record(action)


def record(
    action: Event,
    thing: models.Model | None = None,
    *,
    kind: str = "",
    name: str = "",
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    prompt_set: int | None = None,
    workspace: int | None = None,
    by: User | None = None,
    cut_before: datetime | None = None,
) -> AuditEntry | None:
    """Write an entry, to be called in the transaction of the change.

    What is equal before and after is left out. Set and workspace are read from the thing where it has them;
    ``kind`` and ``name`` are for what has no row. ``by`` is for what somebody else than the actor began.
    """
    if _summed_up.get():
        return None
    actor = current_actor()
    old, new = _difference(before, after)
    entry: AuditEntry = AuditEntry.objects.create(
        at=timezone.now(),
        account=by.pk if by else actor.account,
        name=by.get_username() if by else actor.name,
        action=action,
        thing_kind=kind or (thing._meta.model_name or "" if thing else ""),
        thing_id=str(thing.pk) if thing else "",
        thing_name=(name or str(thing or ""))[:LONGEST_TEXT],
        prompt_set=prompt_set or _belongs_to(thing, "promptset", "prompt_set_id"),
        workspace=workspace or _belongs_to(thing, "workspace", "workspace_id"),
        before=old,
        after=new,
        via=actor.via,
        source=actor.source[:200],
        address=actor.address[:64],
        cut_before=cut_before,
    )
    tell(action, _message(entry), entry.at)
    return entry


def _message(entry: AuditEntry) -> dict[str, Any]:
    """An entry as webhooks tell it: without the address."""
    return {
        "by": entry.name,
        "thing": {"kind": entry.thing_kind, "id": entry.thing_id, "name": entry.thing_name},
        "set": entry.prompt_set,
        "workspace": entry.workspace,
        "before": entry.before,
        "after": entry.after,
        "via": entry.via,
    }


def _belongs_to(thing: models.Model | None, model: str, column: str) -> int | None:
    if thing is None:
        return None
    number = thing.pk if thing._meta.model_name == model else getattr(thing, column, None)
    return number if isinstance(number, int) else None


def _difference(
    before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    old, new = dict(before or {}), dict(after or {})
    for name in old.keys() & new.keys():
        if old[name] == new[name]:
            del old[name], new[name]
    return _short(old) if old else None, _short(new) if new else None


def _short(values: dict[str, Any]) -> dict[str, Any]:
    return {name: _cut(value) for name, value in values.items()}


def _cut(value: Any) -> Any:
    """The value itself, or the beginning of one that is too long."""
    text = value if isinstance(value, str) else json.dumps(value, cls=ReadableJson)
    return f"{text[:LONGEST_TEXT]}…" if len(text) > LONGEST_TEXT else value


# --- sign-ins and refusals ----------------------------------------------------------------


@receiver(user_logged_in)
def _signed_in(user: User, **_: object) -> None:
    record(Event.SIGNED_IN, user, by=user)


@receiver(user_logged_out)
def _signed_out(user: User | None, **_: object) -> None:
    if user is not None:
        record(Event.SIGNED_OUT, user, by=user)


@receiver(user_login_failed)
def _signin_failed(credentials: Mapping[str, Any], **_: object) -> None:
    record_refused_signin(str(credentials.get("username", "")), "password")


def record_refused_signin(username: str, why: str) -> None:
    """A sign-in that was refused. The name is recorded where an account has it: people type passwords into
    the wrong box."""
    known = User.objects.filter(username=username).first() if username else None
    _record_seldom(Event.SIGNIN_REFUSED, known, kind="user", after={"why": why})


def record_refusal(route: str) -> None:
    """A person, or a token, tried what it may not do."""
    if current_actor().account is not None:
        _record_seldom(Event.ACTION_REFUSED, kind="page", name=route)


def _record_seldom(action: Event, thing: User | None = None, *, kind: str, **more: Any) -> None:
    """One entry a minute of the same kind, person and address: anybody could fill the table otherwise."""
    actor = current_actor()
    again = AuditEntry.objects.filter(
        action=action,
        account=actor.account,
        thing_id=str(thing.pk) if thing else "",
        thing_name=str(more.get("name", thing or "")),
        address=actor.address[:64],
        at__gt=timezone.now() - _ONCE_WITHIN,
    )
    if not any(entry.after == more.get("after") for entry in again):
        record(action, thing, kind=kind, **more)


# --- keeping ------------------------------------------------------------------------------


def clean_audit(keep: timedelta | None, now: datetime) -> int:
    """Delete entries older than ``keep``, if any; returns how many.

    The triggers allow it for what is older than an entry's `cut_before`, so a deletion is itself on record.
    """
    if keep is None:
        return 0
    old = AuditEntry.objects.filter(at__lt=now - keep)
    with transaction.atomic():
        count = old.count()
        if count:
            record(Event.AUDIT_CLEANED, after={"entries": count}, cut_before=now - keep)
            old.order_by()._raw_delete(old.db)
    return count
