"""Idempotency keys: a write that is sent again with the same key gets the first answer, and changes nothing.

Used around every write of the API. An operation that writes calls `keep` in the transaction of its write, so
that a server that dies leaves both or neither. Answers are kept for a day.
"""

import hashlib
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID, uuid4, uuid5

from django.db import IntegrityError, models, transaction
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
_BATCHES = UUID("0b6f5c0e-6f0a-5d3c-9d57-1f2a3f5f8a11")


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
    request.claim = row  # type: ignore[attr-defined]
    made = None
    try:
        made = answer()
    finally:
        # What may come out otherwise the next time is not kept: the same key tries it again.
        if made is None or made.status_code in (401, 429) or made.status_code >= 500:
            _mine(row).delete()
    if made.status_code not in (401, 429) and made.status_code < 500:
        _store(row, made)
    return made


def keep(request: HttpRequest, answer: HttpResponse) -> HttpResponse:
    """The answer, stored with the write that it tells of: to be called in the same transaction."""
    row: StoredAnswer | None = getattr(request, "claim", None)
    # Where this took so long that the same request was begun again, that one writes.
    if row is not None and not _store(row, answer):
        raise Refusal(409, "idempotency-in-progress", headers={"Retry-After": "1"})
    return answer


def batch_of(request: HttpRequest) -> UUID:
    """The id of an export, which writes files and so cannot be one transaction: the same for the same key."""
    row: StoredAnswer | None = getattr(request, "claim", None)
    return uuid4() if row is None else uuid5(_BATCHES, f"{row.token_id} {row.key}")


def _mine(row: StoredAnswer) -> "models.QuerySet[StoredAnswer]":
    return StoredAnswer.objects.filter(pk=row.pk, at=row.at, status=None)


def _store(row: StoredAnswer, answer: HttpResponse) -> int:
    headers = {name: answer[name] for name in _HEADERS if name in answer}
    return _mine(row).update(status=answer.status_code, headers=headers, body=answer.content.decode())


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
        row.at = now
        return row
    raise Refusal(409, "idempotency-in-progress", headers={"Retry-After": "1"})


def _again(row: StoredAnswer) -> HttpResponse:
    answer = HttpResponse(row.body, status=row.status)
    for name, value in row.headers.items():
        answer[name] = value
    answer["Idempotent-Replayed"] = "true"
    return answer
