"""Webhooks: endpoints that are told of events, and the outbox of what is on its way to them.

A delivery is written in the transaction of what it tells, so nothing is told that did not happen, and nothing
is forgotten. `deliveries.py` sends them.
"""

import json
import secrets
import threading
from base64 import b64encode
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models, transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

LONGEST_ADDRESS = 500
WAKE = threading.Event()
"""Set when there is something to send: the sender need not wait for its next look."""


class Told(models.TextChoices):
    """The events that an endpoint may ask for. The first ones are entries of the audit, by the same words."""

    VERSION_SAVED = "version.saved", _("Version saved")
    LABEL_MOVED = "label.moved", _("Label moved")
    EXPORT_WRITTEN = "export.written", _("Export written")
    PROPOSAL_MADE = "proposal.made", _("Release proposed")
    PROPOSAL_APPROVED = "proposal.approved", _("Release approved")
    DRIFT_FOUND = "drift.found", _("Workspace out of sync")
    RUN_EXAMINED = "run.examined", _("Run analyzed")


def new_secret() -> str:
    """A key for signatures, as receivers' libraries take it."""
    return f"whsec_{b64encode(secrets.token_bytes(32)).decode()}"


class WebhookEndpoint(models.Model):
    """An address that is told of events."""

    name = models.CharField(max_length=80)
    url = models.CharField(max_length=LONGEST_ADDRESS)
    events = models.JSONField(default=list)
    secret = models.CharField(max_length=80, default=new_secret)
    active = models.BooleanField(default=True)
    made_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("name", "pk")

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("webhook-detail", args=[self.pk])

    @property
    def event_labels(self) -> list[str]:
        return [str(event.label) for event in Told if event in self.events]


class DeliveryState(models.TextChoices):
    """Where a delivery stands."""

    WAITING = "waiting", _("Waiting")
    SENT = "sent", _("Delivered")
    GIVEN_UP = "given-up", _("Gave up")


class WebhookDelivery(models.Model):
    """One message to one endpoint: what is sent, when next, and what was answered."""

    endpoint = models.ForeignKey(WebhookEndpoint, models.CASCADE, related_name="deliveries")
    message_id = models.CharField(max_length=60)
    event = models.CharField(max_length=40)
    body = models.TextField()
    made_at = models.DateTimeField(db_index=True)
    state = models.CharField(max_length=10, choices=DeliveryState, default=DeliveryState.WAITING)
    # When it is tried next; nothing once it is sent or given up.
    next_at = models.DateTimeField(null=True, db_index=True)
    tries = models.PositiveSmallIntegerField(default=0)
    # The last ones: when, the status or nothing, and the beginning of the answer or what went wrong.
    answers = models.JSONField(default=list)

    class Meta:
        ordering = ("-pk",)

    def __str__(self) -> str:
        return f"{self.event} to {self.endpoint}"

    @property
    def event_label(self) -> str:
        return str(Told(self.event).label) if self.event in Told.values else self.event

    def send_again(self) -> None:
        """From the first try on, with the same id, so that a receiver knows it."""
        WebhookDelivery.objects.filter(pk=self.pk).update(
            state=DeliveryState.WAITING, next_at=timezone.now(), tries=0
        )
        transaction.on_commit(WAKE.set)


def tell(event: str, data: Mapping[str, Any], at: datetime) -> None:
    """Put a message into the outbox for each endpoint that asked for it, in the caller's transaction."""
    if event not in Told.values:
        return
    asked = [one for one in WebhookEndpoint.objects.filter(active=True) if event in one.events]
    if not asked:
        return
    body = json.dumps(
        {"type": event, "timestamp": at.isoformat(), "data": data}, cls=DjangoJSONEncoder, ensure_ascii=False
    )
    number = uuid4().hex
    WebhookDelivery.objects.bulk_create(
        WebhookDelivery(
            endpoint=endpoint, message_id=f"msg_{number}", event=event, body=body, made_at=at, next_at=at
        )
        for endpoint in asked
    )
    transaction.on_commit(WAKE.set)


def clean_deliveries(keep: timedelta | None, now: datetime) -> int:
    """Delete what is older than ``keep`` and no longer on its way; returns how many."""
    if keep is None:
        return 0
    old = WebhookDelivery.objects.filter(made_at__lt=now - keep).exclude(state=DeliveryState.WAITING)
    return old.delete()[0]
