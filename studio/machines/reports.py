"""Reports of agents: registering, the lease, files and batches. Used by the API."""

import hashlib
import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Max, Q, Sum

from builder.client.file_names import LARGEST_FILE, MOST_FILES, is_shared_name
from builder.leaderboard.schema import COLUMNS
from studio.machines.mirror import run_batches
from studio.machines.models import (
    LEASE,
    RemoteBatch,
    RemoteFile,
    RemoteWorkspace,
    drop_batches,
    new_stamp,
    store_batch,
)

MOST_WAITING = 4 * 1024**3
"""Bytes of batches that are not committed."""


class AnotherAgent(Exception):
    """Another agent reported this workspace a moment ago; ``until`` its lease ends."""

    def __init__(self, until: datetime) -> None:
        super().__init__(until)
        self.until = until


class AnotherAccount(Exception):
    """The workspace is reported by another account, which the text names."""


class BadReport(Exception):
    """A report that cannot be right; the text says why."""


class BeginAgain(Exception):
    """The batches were merged, or the settings changed, while the agent was sending."""


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
    # One far ahead was given by a clock that was wrong.
    over = Q(lease_until=None) | Q(lease_until__lt=at) | Q(lease_until__gt=at + 2 * LEASE)
    free = Q(agent=agent) | Q(agent="") | over
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
        if not is_shared_name(file.name):
            raise BadReport(f"not the name of a file that is kept: {file.name!r}")
        if len(file.data) > LARGEST_FILE:
            raise BadReport(f"{file.name}: more than {LARGEST_FILE} bytes")
    with transaction.atomic():
        remote.files.filter(name__in=list(gone)).delete()
        for file in files:
            RemoteFile.objects.update_or_create(
                remote=remote,
                name=file.name,
                defaults={"data": file.data, "sha256": file.sha256, "modified_at": file.modified_at},
            )
        names = set(remote.files.values_list("name", flat=True))
        if len(names) > MOST_FILES:
            raise BadReport(f"more than {MOST_FILES} files")
        if odd := next((name for name in names if names & {*map(str, PurePosixPath(name).parents)}), None):
            raise BadReport(f"a file lies where {odd!r} needs a folder")
        RemoteWorkspace.objects.filter(pk=remote.pk).update(stamp=new_stamp())


def keep_batch(
    remote: RemoteWorkspace, batch: RemoteBatch, data: bytes, *, generation: int, texts: bool
) -> bool:
    """Keep a batch that waits for its commit; whether it is new. One that was sent before is no mistake."""
    if batch.table not in COLUMNS:
        raise BadReport(f"no table of MixSeek's: {batch.table!r}")
    batch.remote, batch.sha256 = remote, hashlib.sha256(data).hexdigest()
    known = remote.batches.filter(sequence=batch.sequence).values_list("sha256", "table").first()
    if known == (batch.sha256, batch.table):
        return False
    if problem := _problem_of(data, batch.table):
        raise BadReport(problem)
    try:
        with transaction.atomic():
            # Merging and the deletion of texts take the same lock: a batch lies before or after them.
            mine = RemoteWorkspace.objects.select_for_update().get(pk=remote.pk)
            _require_same(mine, generation, texts=texts)
            if batch.sequence == mine.committed + 1:
                drop_uncommitted(mine)  # the agent begins anew after something went wrong
            elif known is not None:
                raise BadReport("another batch has this number")
            waiting = mine.batches.aggregate(
                last=Max("sequence"), size=Sum("size", filter=Q(sequence__gt=mine.committed))
            )
            if batch.sequence != max(waiting["last"] or 0, mine.committed) + 1:
                raise BadReport("batches come in the order of their numbers")
            if (waiting["size"] or 0) + len(data) > MOST_WAITING:
                raise BadReport(f"more than {MOST_WAITING} bytes that are not committed")
            store_batch(batch, data)
    except IntegrityError:
        return False
    return True


def _require_same(now: RemoteWorkspace, generation: int, *, texts: bool) -> None:
    if (now.generation, now.texts) != (generation, texts):
        raise BeginAgain


def _problem_of(data: bytes, table: str) -> str:
    """Why a batch could not be put together; looked at in a process of its own."""
    with tempfile.NamedTemporaryFile(prefix="studio-batch-", suffix=".parquet") as file:
        file.write(data)
        file.flush()
        said = run_batches("check", file.name, table)
    return "not a Parquet file that can be read" if said is None else str(json.loads(said))


def drop_uncommitted(remote: RemoteWorkspace) -> None:
    """Forget batches whose agent never came to commit them: it begins anew."""
    drop_batches(remote.batches.filter(sequence__gt=remote.committed))


def commit(
    remote: RemoteWorkspace,
    up_to: int,
    digests: Mapping[str, str],
    gone: Iterable[str],
    *,
    generation: int,
    texts: bool,
) -> None:
    """Let pages see the batches; ``digests`` of the executions that they hold."""
    with transaction.atomic():
        mine = RemoteWorkspace.objects.select_for_update().get(pk=remote.pk)
        _require_same(mine, generation, texts=texts)
        is_news = up_to > mine.committed and mine.batches.filter(sequence=up_to).exists()
        if up_to != mine.committed and not is_news:
            raise BadReport("there is no batch of this number")
        left = set(gone)
        kept = {name: digest for name, digest in mine.digests.items() if name not in left}
        RemoteWorkspace.objects.filter(pk=mine.pk).update(
            committed=up_to, digests={**kept, **digests}, stamp=new_stamp()
        )


def registered(
    workspace_pk: int,
    *,
    machine: str,
    folder: str,
    facts: dict[str, str],
    agent: str,
    by: User,
    at: datetime,
) -> RemoteWorkspace:
    """The remote part of a workspace, made or found, with the lease taken."""
    remote, _made = RemoteWorkspace.objects.get_or_create(
        workspace_id=workspace_pk,
        defaults={"machine": machine, "folder": folder, "heard_at": at, "registered_by": by},
    )
    require_owner(remote, by)
    take_lease(remote, agent, at)
    if remote.facts != facts:
        RemoteWorkspace.objects.filter(pk=remote.pk).update(facts=facts, stamp=new_stamp())
    drop_uncommitted(remote)
    remote.refresh_from_db()
    return remote


def require_owner(remote: RemoteWorkspace, person: User) -> None:
    """One account reports a workspace: a token that leaked from one machine cannot speak for another's."""
    owner = remote.registered_by
    if owner is not None and owner.is_active and owner != person:
        raise AnotherAccount(owner.get_username())
