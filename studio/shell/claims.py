"""Claims: which process does a piece of background work, so that of several servers one does it.

Used by the background work and by `manage.py attribute`. A claim ends with the work; that of a process which
died ends by itself a while later, and the work is taken over. Claims spare double work, they guard no data:
whatever the work writes is held together by the constraints of its own tables.

Not django-tasks with django-tasks-db, which fits both engines: tried, a task whose worker is killed stays
"running" for good, and what is to be done here is found by looking at files, not by somebody who enqueues it.
"""

import os
import secrets
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta

from django.db import DatabaseError, connection, models, transaction
from django.utils import timezone

LIFETIME = timedelta(seconds=20)
"""Without a renewal; after so long the work of a server that died is free."""
RENEWED_EVERY = LIFETIME / 4
_LONGEST = 120


class WorkClaim(models.Model):
    """Who does what, until when. A row goes when its work is done."""

    what = models.CharField(max_length=_LONGEST, unique=True)
    # Machine and process, for whoever looks into the table, and a random word that tells claims apart.
    who = models.CharField(max_length=_LONGEST)
    until = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.what} by {self.who}"


@contextmanager
def claimed(what: str) -> Iterator[bool]:
    """Whether the work is ours. If so it stays ours until the end of the block, however long that takes."""
    who = f"{socket.gethostname()[:60]} {os.getpid()} {secrets.token_hex(8)}"
    if not _take(what, who):
        yield False
        return
    done = threading.Event()
    keeper = threading.Thread(target=_renew, args=(what, who, done), name="claim", daemon=True)
    keeper.start()
    try:
        yield True
    finally:
        done.set()
        keeper.join()
        # A database that does not answer: the claim ends by itself.
        with suppress(DatabaseError):
            WorkClaim.objects.filter(what=what, who=who).delete()


def _take(what: str, who: str) -> bool:
    with transaction.atomic():
        now = _now()
        until = now + LIFETIME
        made = WorkClaim(what=what, who=who, until=until)
        WorkClaim.objects.bulk_create([made], ignore_conflicts=True)
        # Nobody waits: a row that another server looks at this moment is another server's. On SQLite the
        # transaction itself keeps others out.
        row = WorkClaim.objects.select_for_update(skip_locked=True).filter(what=what).first()
        if row is None:
            return False
        # One far ahead was made by a clock that was wrong.
        held = now <= row.until <= until + LIFETIME
        if row.who != who and held:
            return False
        WorkClaim.objects.filter(pk=row.pk).update(who=who, until=until)
    return True


def _renew(what: str, who: str, done: threading.Event) -> None:
    try:
        while not done.wait(RENEWED_EVERY.total_seconds()):
            # One that cannot be renewed may be taken over meanwhile; so it is not taken back.
            with suppress(DatabaseError):
                WorkClaim.objects.filter(what=what, who=who).update(until=_now() + LIFETIME)
    finally:
        connection.close()


def _now() -> datetime:
    """The database's time: the clocks of several servers differ."""
    if connection.vendor != "postgresql":
        return timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        found: datetime = cursor.fetchone()[0]
    return found
