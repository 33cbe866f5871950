"""Webhooks: signed messages from an outbox, tried again when they fail, never to where they must not go."""

import json
import socket
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from ipaddress import ip_network
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from django.utils import timezone
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from studio.access import deliveries
from studio.access.audit import AuditEntry, Event, record
from studio.access.deliveries import PAUSES, may_be_called, send_due
from studio.access.webhooks import DeliveryState, Told, WebhookDelivery, WebhookEndpoint, clean_deliveries
from studio.models import FoundDrift, Label, RunResult, Workspace
from studio.operations.watching import Watch
from tests.studio.access.receiver import Receiver
from tests.studio.clock import NOW
from tests.studio.editing import make_set

LOOPBACK = ip_network("127.0.0.0/8")


@pytest.fixture
def allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The operator lets webhooks go to this machine."""
    monkeypatch.setattr(settings, "ENVIRONMENT", replace(settings.ENVIRONMENT, webhook_networks=(LOOPBACK,)))


@pytest.fixture
def receiver(allowed: None) -> Iterator[Receiver]:
    with Receiver() as running:
        yield running


def endpoint(url: str, *events: str) -> WebhookEndpoint:
    return WebhookEndpoint.objects.create(name="chat", url=url, events=list(events) or ["version.saved"])


def only() -> WebhookDelivery:
    return WebhookDelivery.objects.get()


def test_a_message_is_signed_and_tells_what_happened(receiver: Receiver, person: User) -> None:
    asked = endpoint(receiver.url)
    make_set(person)
    assert send_due() == 1 and send_due() == 0
    ((headers, body),) = receiver.received
    message = Webhook(asked.secret).verify(body, headers)
    assert message["type"] == "version.saved" and message["data"]["thing"]["name"] == "Set v1"
    assert message["data"]["after"]["version"] == 1 and "user_prompt" not in body.decode()
    with pytest.raises(WebhookVerificationError):
        Webhook(asked.secret).verify(body.replace(b"Set", b"Bet"), headers)
    assert only().state == DeliveryState.SENT and only().answers[0]["status"] == 204


def test_what_is_rolled_back_is_not_told(person: User, db: None) -> None:
    endpoint("https://example.org/")
    with pytest.raises(RuntimeError), transaction.atomic():
        make_set(person)
        raise RuntimeError
    assert not WebhookDelivery.objects.exists() and not AuditEntry.objects.exists()


def test_a_receiver_that_fails_hangs_and_then_works_gets_it_in_the_end(
    receiver: Receiver, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliveries, "SECONDS", 0.3)
    receiver.answers = [500, "hang", "drip", 302, 502, 200]
    asked = endpoint(receiver.url)
    make_set(person)
    now = timezone.now()
    for number in range(6):
        assert send_due(now) == 1, number
        assert send_due(now) == 0, "not before the pause is over"
        if number < 5:
            waiting = only()
            assert waiting.state == DeliveryState.WAITING and waiting.next_at == now + PAUSES[number]
            now += PAUSES[number]
    done = only()
    assert (done.state, done.tries, done.next_at) == (DeliveryState.SENT, 6, None)
    assert [answer["status"] for answer in done.answers] == [500, None, None, 302, 502, 200]
    assert done.answers[0]["text"] == "answered 500" and "No answer within" in done.answers[1]["text"]
    assert len(done.answers[4]["text"]) == 500
    assert len(receiver.received) == 6, "a redirect is not followed"
    assert len({headers["webhook-id"] for headers, _ in receiver.received}) == 1
    for headers, body in receiver.received:
        Webhook(asked.secret).verify(body, headers)


def test_after_about_a_day_it_is_given_up_and_can_be_sent_again(
    receiver: Receiver, signed_in: Client, person: User
) -> None:
    receiver.answers = [500]
    asked = endpoint(receiver.url)
    make_set(person)
    now = start = timezone.now()
    while (waiting := only()).next_at is not None:
        now = max(now, waiting.next_at)
        send_due(now)
    assert only().state == DeliveryState.GIVEN_UP and only().tries == len(PAUSES) + 1
    assert timedelta(hours=23) < now - start < timedelta(hours=25)
    page = signed_in.get(asked.get_absolute_url()).content.decode()
    assert "Gave up" in page and "answered 500" in page
    receiver.answers = [200]
    signed_in.post(f"/deliveries/{only().pk}/again/")
    send_due()
    assert only().state == DeliveryState.SENT


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.215.14", True), ("2606:2800:21f:cb07:6820:80da:af6b:8b2c", True),
        ("127.0.0.1", False), ("10.1.2.3", False), ("192.168.0.1", False), ("169.254.169.254", False),
        ("100.64.0.1", False), ("0.0.0.0", False), ("224.0.0.1", False), ("255.255.255.255", False),
        ("::1", False), ("fe80::1%eth0", False), ("fc00::1", False), ("::ffff:127.0.0.1", False),
        ("64:ff9b::7f00:1", False), ("2002:7f00:1::", False), ("2001:0:4136:e378:8000:63bf:3fff:fdd2", False),
        ("::127.0.0.1", False), ("::ffff:0:127.0.0.1", False), ("64:ff9b:1::7f00:1", False),
        ("fec0::1", False), ("5f00::1", False),
    ],
)  # fmt: skip
def test_only_public_addresses_are_called(address: str, public: bool) -> None:
    assert may_be_called(address, ()) is public


def test_an_address_of_this_machine_needs_the_operators_leave(person: User, db: None) -> None:
    with Receiver() as receiver:
        endpoint(receiver.url)
        make_set(person)
        send_due()
        assert not receiver.received and "127.0.0.1: not allowed" in only().answers[0]["text"]


def test_a_name_that_resolves_anew_is_judged_by_the_address_that_is_connected_to(
    person: User, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up = []

    def resolve(host: str, port: int, **more: Any) -> list[Any]:
        looked_up.append(host)
        address = "127.0.0.1" if len(looked_up) == 1 else "93.184.215.14"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    with Receiver() as receiver:
        endpoint(receiver.url.replace("127.0.0.1", "rebound.example"))
        make_set(person)
        send_due()
        assert looked_up == ["rebound.example"] and not receiver.received


def test_plain_http_goes_to_the_operators_networks_alone(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.215.14", 80))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **more: found)
    with pytest.raises(deliveries.NotSent, match="not allowed"):
        deliveries.post("http://example.org/", b"", {}, [LOOPBACK])


def test_each_endpoint_gets_what_it_asked_for_and_one_that_is_off_nothing(person: User, db: None) -> None:
    endpoint("https://a.example/", "label.moved")
    WebhookEndpoint.objects.create(
        name="off", url="https://b.example/", events=list(Told.values), active=False
    )
    version = make_set(person).latest
    assert version is not None and not WebhookDelivery.objects.exists()
    Label.objects.move("staging", version, by=person, at=NOW)
    assert json.loads(only().body)["data"]["after"]["label"] == "staging"
    record(Event.SIGNED_IN)
    assert WebhookDelivery.objects.count() == 1


def test_runs_and_drift_are_told_once(demo: object) -> None:
    endpoint("https://a.example/", "run.examined", "drift.found")
    Watch().look()
    told = list(WebhookDelivery.objects.values_list("event", flat=True))
    assert told.count("run.examined") == RunResult.objects.filter(over=True).count() > 0
    assert told.count("drift.found") == FoundDrift.objects.count() > 0
    Watch().look()
    assert WebhookDelivery.objects.count() == len(told)
    Workspace.objects.update(archived=True)
    Watch().look()
    assert not FoundDrift.objects.exists() and WebhookDelivery.objects.count() == len(told)


def test_old_deliveries_go_unless_they_are_on_their_way(db: None) -> None:
    asked = endpoint("https://a.example/")
    now = timezone.now()
    for state, days in (("sent", 31), ("waiting", 31), ("sent", 29)):
        made = now - timedelta(days=days)
        WebhookDelivery.objects.create(
            endpoint=asked, event="version.saved", body="{}", made_at=made, state=state
        )
    assert clean_deliveries(timedelta(days=30), now) == 1 and clean_deliveries(None, now) == 0
    assert sorted(WebhookDelivery.objects.values_list("state", flat=True)) == ["sent", "waiting"]


@pytest.mark.parametrize(
    "url",
    ["ftp://a.example/", "https://", "https://a@b.example/", "https://a.example/ b", "https://a.example:x/"],
)
def test_an_odd_address_is_refused(signed_in: Client, url: str) -> None:
    answer = signed_in.post("/webhooks/", {"name": "x", "url": url, "events": "label.moved"})
    assert answer.status_code == 422 and not WebhookEndpoint.objects.exists()


def test_the_key_is_shown_once_and_can_be_made_anew(signed_in: Client) -> None:
    sent = {"name": "x", "url": "https://a.example/", "events": ["label.moved"], "active": "on"}
    page = signed_in.post("/webhooks/", sent).content.decode()
    made = WebhookEndpoint.objects.get()
    assert made.secret in page
    assert made.secret not in signed_in.get(made.get_absolute_url()).content.decode()
    signed_in.post(f"/webhooks/{made.pk}/secret/")
    assert WebhookEndpoint.objects.get().secret != made.secret
    kept = json.dumps([entry.after for entry in AuditEntry.objects.all()])
    assert made.secret not in kept and "https://a.example/" in kept
