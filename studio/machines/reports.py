"""Reports of agents: registering, the lease, files and batches. Used by the API."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Max, Q

from builder.leaderboard.schema import COLUMNS
from studio.machines.models import LEASE, RemoteBatch, RemoteFile, RemoteWorkspace, new_stamp, stored

MOST_FILES = 2_000
AREAS = ("configs", "logs")


class AnotherAgent(Exception):
    """Another agent reported this workspace a moment ago; ``until`` its lease ends."""

    def __init__(self, until: datetime) -> None:
        super().__init__(until)
        self.until = until


class BadReport(Exception):
    """A report that cannot be right; the text says why."""


@dataclass(frozen=True)
class SentFile:
    """A file of the workspace as it stands there."""

    name: str
    data: bytes
    modified_at: datetime
    sha256: str
    """Of the file there, which may hold more than was sent."""


def take_lease(remote: RemoteWorkspace, agent: str, at: datetime) -> None:
    """Let the agent go on, or raise ``AnotherAgent``; decided by the database, whichever server is asked."""
    free = Q(agent=agent) | Q(agent="") | Q(lease_until=None) | Q(lease_until__lt=at)
    mine = RemoteWorkspace.objects.filter(free, pk=remote.pk)
    if not mine.update(agent=agent, lease_until=at + LEASE, heard_at=at):
        remote.refresh_from_db(fields=["lease_until"])
        raise AnotherAgent(remote.lease_until or at)


def end_lease(remote: RemoteWorkspace, agent: str, at: datetime) -> None:
    """The agent stops: the next one need not wait."""
    RemoteWorkspace.objects.filter(pk=remote.pk, agent=agent).update(lease_until=None, heard_at=at)


def keep_files(remote: RemoteWorkspace, files: Sequence[SentFile], gone: Iterable[str]) -> None:
    """Keep what changed; all of a report or nothing."""
    for file in files:
        _require_name(file.name)
    with transaction.atomic():
        remote.files.filter(name__in=list(gone)).delete()
        for file in files:
            RemoteFile.objects.update_or_create(
                remote=remote,
                name=file.name,
                defaults={"data": file.data, "sha256": file.sha256, "modified_at": file.modified_at},
            )
        if remote.files.count() > MOST_FILES:
            raise BadReport(f"more than {MOST_FILES} files")
        RemoteWorkspace.objects.filter(pk=remote.pk).update(stamp=new_stamp())


def _require_name(name: str) -> None:
    path = PurePosixPath(name)
    if (
        path.is_absolute()
        or str(path) != name
        or ".." in path.parts
        or len(path.parts) < 2
        or path.parts[0] not in AREAS
        or any(part.startswith(".") for part in path.parts)
        or not name.isprintable()
        or len(name) > 500
    ):
        raise BadReport(f"not the name of a file that is kept: {name!r}")


def keep_batch(
    remote: RemoteWorkspace, sequence: int, table: str, replaces: list[str], data: bytes, *, at: datetime
) -> bool:
    """Keep a batch that waits for its commit; whether it is new. One that was sent before is no mistake."""
    if table not in COLUMNS:
        raise BadReport(f"no table of MixSeek's: {table!r}")
    digest = hashlib.sha256(data).hexdigest()
    known = remote.batches.filter(sequence=sequence).values_list("sha256", "table").first()
    if known == (digest, table):
        return False
    if sequence == remote.committed + 1:
        drop_uncommitted(remote)  # the agent begins anew after something went wrong
    elif known is not None:
        raise BadReport("another batch has this number")
    last = remote.batches.aggregate(last=Max("sequence"))["last"] or 0
    if sequence != max(last, remote.committed) + 1:
        raise BadReport("batches come in the order of their numbers")
    columns = stored(data, digest)
    try:
        with transaction.atomic():
            RemoteBatch.objects.create(
                remote=remote, sequence=sequence, table=table, replaces=replaces, at=at, **columns
            )
    except IntegrityError:
        return False
    return True


def drop_uncommitted(remote: RemoteWorkspace) -> None:
    """Forget batches whose agent never came to commit them: it begins anew."""
    remote.batches.filter(sequence__gt=remote.committed).delete()


def commit(
    remote: RemoteWorkspace, up_to: int, digests: Mapping[str, str], gone: Iterable[str], *, texts: bool
) -> None:
    """Let pages see the batches; ``digests`` of the executions that they hold."""
    with transaction.atomic():
        mine = RemoteWorkspace.objects.select_for_update().get(pk=remote.pk)
        if mine.texts != texts:
            raise BadReport("the workspace's settings changed meanwhile")
        is_news = up_to > mine.committed and mine.batches.filter(sequence=up_to).exists()
        if up_to != mine.committed and not is_news:
            raise BadReport("there is no batch of this number")
        left = set(gone)
        kept = {name: digest for name, digest in mine.digests.items() if name not in left}
        RemoteWorkspace.objects.filter(pk=mine.pk).update(
            committed=up_to, digests={**kept, **digests}, stamp=new_stamp()
        )


def registered(
    workspace_pk: int, *, machine: str, folder: str, agent: str, by: User, at: datetime
) -> RemoteWorkspace:
    """The remote part of a workspace, made or found, with the lease taken."""
    remote, _made = RemoteWorkspace.objects.get_or_create(
        workspace_id=workspace_pk,
        defaults={"machine": machine, "folder": folder, "heard_at": at, "registered_by": by},
    )
    take_lease(remote, agent, at)
    return remote
