"""Idempotency keys: a write that is sent again with the same key gets the first answer, and changes nothing.

Used around every write of the API. Answers are kept for a day.
"""

import hashlib
import re
from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from studio.access.tokens import ApiToken
from studio.api.models import StoredAnswer
from studio.api.problems import Refusal

KEPT = timedelta(days=1)
ABANDONED = timedelta(minutes=2)
"""A request that has had no answer for so long died with its server."""
_HEADERS = ("Content-Type", "ETag", "Location")
_KEY = re.compile(r"[\x21-\x7e]{1,200}")


def answered_once(request: HttpRequest, token: ApiToken, answer: Callable[[], HttpResponse]) -> HttpResponse:
    """The answer of ``answer``, or the stored one where the key was sent before."""
    key = request.headers.get("Idempotency-Key")
    if key is None:
        return answer()
    if not _KEY.fullmatch(key):
        raise Refusal(400, "idempotency-key-invalid")
    asked = f"{request.method} {request.get_full_path()}\n".encode() + request.body
    row = _claimed(token, key, hashlib.sha256(asked).hexdigest(), timezone.now())
    if row.status is not None:
        return _again(row)
    made = None
    try:
        made = answer()
    finally:
        # What may come out otherwise the next time is not kept: the same key tries it again.
        if made is None or made.status_code in (401, 429) or made.status_code >= 500:
            StoredAnswer.objects.filter(pk=row.pk).delete()
    if made.status_code not in (401, 429) and made.status_code < 500:
        headers = {name: made[name] for name in _HEADERS if name in made}
        StoredAnswer.objects.filter(pk=row.pk).update(
            status=made.status_code, headers=headers, body=made.content.decode()
        )
    return made


def _claimed(token: ApiToken, key: str, fingerprint: str, now: datetime) -> StoredAnswer:
    """The row to answer into, or the one that has an answer."""
    StoredAnswer.objects.filter(at__lt=now - KEPT).delete()
    try:
        with transaction.atomic():
            return StoredAnswer.objects.create(token=token, key=key, fingerprint=fingerprint, at=now)
    except IntegrityError:
        row = StoredAnswer.objects.filter(token=token, key=key).first()
    if row is not None and row.fingerprint != fingerprint:
        raise Refusal(422, "idempotency-key-reused")
    if row is not None and row.status is not None:
        return row
    abandoned = StoredAnswer.objects.filter(token=token, key=key, status=None, at__lt=now - ABANDONED)
    if row is not None and abandoned.update(at=now):
        return row
    raise Refusal(409, "idempotency-in-progress", headers={"Retry-After": "1"})


def _again(row: StoredAnswer) -> HttpResponse:
    answer = HttpResponse(row.body, status=row.status)
    for name, value in row.headers.items():
        answer[name] = value
    answer["Idempotent-Replayed"] = "true"
    return answer
