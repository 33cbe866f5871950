"""Batches written anew: many merged into few, texts taken out of them, or all of a workspace deleted.

Used by the settings of a workspace on another machine and by the background work.
"""

import hashlib
import json
import shutil
import tempfile
from pathlib import Path

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from builder.leaderboard import DATABASE_NAME
from studio.machines.mirror import mirror_folder, mirror_root, refreshed, run_batches
from studio.machines.models import RemoteBatch, RemoteWorkspace, new_stamp, stored

MOST_BATCHES = 400
"""More are merged in the background."""


class NotRewritten(Exception):
    """The rows could not be written anew, or others came meanwhile; nothing changed."""


def merge_many() -> int:
    """Merge the batches of workspaces that have very many; tells of how many workspaces."""
    merged = 0
    for remote in RemoteWorkspace.objects.select_related("workspace").defer("digests"):
        if remote.batches.filter(sequence__lte=remote.committed).count() > MOST_BATCHES:
            rewrite(remote, texts=True)
            merged += 1
    return merged


def rewrite(remote: RemoteWorkspace, *, texts: bool) -> None:
    """Replace the batches that pages see by as few as possible; without ``texts``, by scores alone."""
    path = remote.workspace.path
    database = refreshed(path) / DATABASE_NAME
    remote.refresh_from_db()
    with tempfile.TemporaryDirectory(prefix=".merging-", dir=mirror_root()) as scratch:
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
            now.batches.all().delete()
            for number, (each, data) in enumerate(new, start=now.committed + 1):
                RemoteBatch.objects.create(
                    remote=now,
                    sequence=number,
                    table=each["table"],
                    at=timezone.now(),
                    **stored(data, hashlib.sha256(data).hexdigest()),
                )
            RemoteWorkspace.objects.filter(pk=now.pk).update(
                generation=F("generation") + 1, committed=now.committed + len(new), stamp=new_stamp()
            )


def forget(remote: RemoteWorkspace) -> None:
    """Delete everything that the machine sent; this server's copy goes at once, others' when they look."""
    RemoteWorkspace.objects.filter(pk=remote.pk).delete()
    shutil.rmtree(mirror_folder(remote.workspace.path), ignore_errors=True)
