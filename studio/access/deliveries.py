"""Sending of webhooks: who may be called, one signed request, and the pauses between tries.

Used by the sending thread. Whoever names an address must not reach what only this machine can reach, so the
address that a name resolves to is judged, and that address, and no other, is connected to.
"""

import http.client
import socket
import ssl
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from standardwebhooks.webhooks import Webhook

from builder import __version__
from studio.access.webhooks import DeliveryState, WebhookDelivery
from studio.shell.proxies import Network

PAUSES = tuple(
    timedelta(seconds=seconds) for seconds in (5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 28_800, 28_800)
)
"""After each try that failed: about a day in all."""
SECONDS = 15.0
"""For the whole request, and for its answer."""
LARGEST_ANSWER = 64 * 1024
AT_ONCE = 4
_KEPT_ANSWER = 500
_KEPT_ANSWERS = 12
_CLAIMED = timedelta(minutes=2)
_NAT64 = ip_network("64:ff9b::/96")
# All that is routed; what lies outside may lead to this machine or its network, in one of many notations.
_ROUTED = ip_network("2000::/3")


class NotSent(Exception):
    """Why there was no answer."""


@dataclass(frozen=True)
class Answer:
    """What came of one try."""

    status: int | None
    text: str

    @property
    def good(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


def may_be_called(address: str, allowed: Sequence[Network]) -> bool:
    """Whether a resolved address is a public one, or one that the operator allows."""
    found: IPv4Address | IPv6Address | None = ip_address(address.partition("%")[0])
    if isinstance(found, IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour
        if found in _NAT64:
            inner = IPv4Address(int(found) & 0xFFFFFFFF)
        found = inner or (None if found.teredo else found)
    if found is None:
        return False
    routed = found.version == 4 or found in _ROUTED
    return any(found in network for network in allowed) or (
        routed and found.is_global and not found.is_multicast
    )


def post(url: str, body: bytes, headers: dict[str, str], allowed: Sequence[Network]) -> Answer:
    """One request; redirects are not followed. Raises ``NotSent``."""
    parts = urlsplit(url)
    host, secure = parts.hostname or "", parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    connection = http.client.HTTPConnection(host, port, timeout=SECONDS)
    overdue = threading.Event()
    watchdog: threading.Timer | None = None
    try:
        raw = _connected(host, port, allowed, secure)
        # A timeout counts each byte anew; this one counts all of it.
        watchdog = threading.Timer(SECONDS, _end, [raw, overdue])
        watchdog.daemon = True
        watchdog.start()
        context = ssl.create_default_context() if secure else None
        connection.sock = context.wrap_socket(raw, server_hostname=host) if context else raw
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("POST", target, body, headers)
        response = connection.getresponse()
        data = response.read(LARGEST_ANSWER)
        return Answer(response.status, data.decode("utf-8", "replace").replace("\0", ""))
    except (OSError, http.client.HTTPException, ValueError) as error:
        if overdue.is_set() or isinstance(error, TimeoutError):
            raise NotSent(f"No answer within {SECONDS:.0f} s") from error
        raise NotSent(f"{type(error).__name__}: {error}"[:_KEPT_ANSWER]) from error
    finally:
        if watchdog is not None:
            watchdog.cancel()
        connection.close()


def _connected(host: str, port: int, allowed: Sequence[Network], secure: bool) -> socket.socket:
    """A connection to an address that may be called: the name is resolved once, here."""
    refused: list[str] = []
    failure: OSError | None = None
    for family, kind, protocol, _name, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        number = str(address[0])
        own = any(ip_address(number.partition("%")[0]) in network for network in allowed)
        # Outside the operator's own networks nothing is sent that others on the way could read.
        if not may_be_called(number, allowed) or not (secure or own):
            refused.append(number)
            continue
        raw = socket.socket(family, kind, protocol)
        raw.settimeout(SECONDS)
        try:
            raw.connect(address)
            return raw
        except OSError as error:
            raw.close()
            failure = error
    if failure is not None:
        raise failure
    raise NotSent(f"{', '.join(refused)}: not allowed. STUDIO_WEBHOOK_NETWORKS allows private networks.")


def _end(raw: socket.socket, overdue: threading.Event) -> None:
    overdue.set()
    with suppress(OSError):
        raw.shutdown(socket.SHUT_RDWR)


def send_due(now: datetime | None = None) -> int:
    """Try what is due; returns how much that was. Several servers of one database share the work."""
    now = now or timezone.now()
    due = WebhookDelivery.objects.filter(state=DeliveryState.WAITING, next_at__lte=now, endpoint__active=True)
    with transaction.atomic():
        # What another server looks at this moment is another server's; SQLite lets one in at a time.
        free = due.select_related("endpoint").select_for_update(skip_locked=True, of=("self",))
        mine = list(free.order_by("next_at", "pk")[: AT_ONCE * 4])
        # Whoever moves the time has it; if that one dies, another has it after a while.
        WebhookDelivery.objects.filter(pk__in=[delivery.pk for delivery in mine]).update(
            next_at=now + _CLAIMED
        )
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for delivery, answer in zip(mine, pool.map(_try, mine), strict=True):
            _note(delivery, answer, now)
    return len(mine)


def _try(delivery: WebhookDelivery) -> Answer:
    """Without the database: threads of a pool have connections that nobody closes."""
    at = datetime.now(UTC)
    headers = {
        "Content-Type": "application/json",
        "User-Agent": f"Prompt-Studio/{__version__}",
        "webhook-id": delivery.message_id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": Webhook(delivery.endpoint.secret).sign(delivery.message_id, at, delivery.body),
    }
    try:
        networks = settings.ENVIRONMENT.webhook_networks
        return post(delivery.endpoint.url, delivery.body.encode(), headers, networks)
    except NotSent as reason:
        return Answer(None, str(reason))


def _note(delivery: WebhookDelivery, answer: Answer, now: datetime) -> None:
    tries = delivery.tries + 1
    if answer.good:
        state, next_at = DeliveryState.SENT, None
    elif tries > len(PAUSES):
        state, next_at = DeliveryState.GIVEN_UP, None
    else:
        state, next_at = DeliveryState.WAITING, now + PAUSES[tries - 1]
    told = {"at": now.isoformat(), "status": answer.status, "text": answer.text[:_KEPT_ANSWER]}
    WebhookDelivery.objects.filter(pk=delivery.pk).update(
        state=state, next_at=next_at, tries=tries, answers=[*delivery.answers, told][-_KEPT_ANSWERS:]
    )
