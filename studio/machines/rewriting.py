"""Batches written anew: many merged into few, texts taken out of them, or all of a workspace deleted.

Used by the settings of a workspace on another machine and by the background work.
"""

import hashlib
import json
import shutil
import time
from contextlib import suppress
from pathlib import Path

from django.db import OperationalError, connection, transaction
from django.db.models import F
from django.utils import timezone

from builder.leaderboard import DATABASE_NAME
from studio.machines.mirror import is_whole, mirror_folder, refreshed, run_batches, scratch_folder
from studio.machines.models import RemoteBatch, RemoteWorkspace, drop_batches, new_stamp, store_batch

MOST_BATCHES = 400
"""More are merged in the background."""


_LOG_TRIES, _LOG_PAUSE = 20, 0.1


class NotRewritten(Exception):
    """The rows could not be written anew, or others came meanwhile; nothing changed."""


def merge_many() -> int:
    """Merge the batches of workspaces that have very many; tells of how many workspaces."""
    merged = 0
    for remote in RemoteWorkspace.objects.select_related("workspace").defer("digests"):
        if remote.batches.filter(sequence__lte=remote.committed).count() > MOST_BATCHES:
            with suppress(NotRewritten):  # the next look does better
                rewrite(remote, texts=True)
                merged += 1
    return merged


def rewrite(remote: RemoteWorkspace, *, texts: bool) -> None:
    """Replace the batches that pages see by as few as possible; without ``texts``, by scores alone."""
    remote.refresh_from_db()
    # After the row: what is committed from here on changes it, and then nothing is written.
    folder = refreshed(remote.workspace.path)
    database = folder / DATABASE_NAME
    if not is_whole(remote, folder):
        raise NotRewritten
    with scratch_folder(folder, ".merging-") as scratch:
        made = "[]"
        if database.exists():
            copy = Path(scratch) / DATABASE_NAME
            shutil.copyfile(database, copy)
            made = run_batches("merge", str(copy), scratch, "texts" if texts else "scores") or ""
        if not made:
            raise NotRewritten
        new = [(each, Path(each["path"]).read_bytes()) for each in json.loads(made)]
        with transaction.atomic():
            now = RemoteWorkspace.objects.select_for_update().get(pk=remote.pk)
            if (now.generation, now.committed) != (remote.generation, remote.committed):
                raise NotRewritten
            # Also those that wait for their commit: the agent is told to send them again.
            drop_batches(now.batches.all())
            for number, (each, data) in enumerate(new, start=now.committed + 1):
                batch = RemoteBatch(remote=now, sequence=number, table=each["table"], at=timezone.now())
                batch.sha256 = hashlib.sha256(data).hexdigest()
                store_batch(batch, data)
            RemoteWorkspace.objects.filter(pk=now.pk).update(
                generation=F("generation") + 1, committed=now.committed + len(new), stamp=new_stamp()
            )


def forget(remote: RemoteWorkspace) -> None:
    """Delete everything that the machine sent; this server's copy goes at once, others' a moment later."""
    drop_batches(remote.batches.all())
    RemoteWorkspace.objects.filter(pk=remote.pk).delete()
    shutil.rmtree(mirror_folder(remote.workspace.path), ignore_errors=True)


def overwrite_deleted() -> None:
    """Take what was deleted out of SQLite's log too; in the file itself it is overwritten (`secure_delete`).
    Where somebody reads all the time it stays until the log is begun anew."""
    if connection.vendor == "sqlite":
        transaction.on_commit(_empty_log)


def _empty_log() -> None:
    for _ in range(_LOG_TRIES):
        with suppress(OperationalError), connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            if cursor.fetchone()[0] == 0:
                return
        time.sleep(_LOG_PAUSE)
