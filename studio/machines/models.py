"""What the agents of workspaces on other machines report: files, and rows of the database in batches."""

import uuid
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models, transaction


def new_stamp() -> str:
    return uuid.uuid4().hex


LEASE = timedelta(minutes=2)
"""How long a workspace belongs to the agent that was heard last."""


class RemoteWorkspace(models.Model):
    """The part of a workspace that only one on another machine has."""

    workspace = models.OneToOneField(
        "studio.Workspace", on_delete=models.CASCADE, related_name="remote", primary_key=True
    )
    machine = models.CharField(max_length=120)
    folder = models.CharField(max_length=800)
    """Its path there."""
    texts = models.BooleanField(default=True)
    """Whether prompts, submissions and comments are sent, or scores alone."""
    agent = models.CharField(max_length=64, blank=True)
    lease_until = models.DateTimeField(null=True)
    heard_at = models.DateTimeField()
    registered_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    committed = models.PositiveBigIntegerField(default=0)
    """The last batch that pages see; later ones wait for the agent to have sent all that belongs together."""
    generation = models.PositiveIntegerField(default=0)
    """Counts how often the batches were written anew: whoever built on older ones begins again."""
    stamp = models.CharField(max_length=32, blank=True)
    """Another one after each report: a number could come again after a backup was restored."""
    digests = models.JSONField(default=dict)
    """A hash over the rows of each execution, as of ``committed``."""
    facts = models.JSONField(default=dict)
    """What the machine says of itself, for system prompts and the release: see ``MachineFacts``."""

    def __str__(self) -> str:
        return f"{self.machine}:{self.folder}"


class RemoteFile(models.Model):
    """A configuration file or a log as the agent sent it."""

    remote = models.ForeignKey(RemoteWorkspace, on_delete=models.CASCADE, related_name="files")
    name = models.CharField(max_length=500)
    """As seen from the workspace."""
    sha256 = models.CharField(max_length=64)
    data = models.BinaryField()
    modified_at = models.DateTimeField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=["remote", "name"], name="file_once_per_workspace"),)

    def __str__(self) -> str:
        return self.name


class RemoteBatch(models.Model):
    """Rows of one table as Parquet; never changed, but several may be merged into one."""

    remote = models.ForeignKey(RemoteWorkspace, on_delete=models.CASCADE, related_name="batches")
    sequence = models.PositiveBigIntegerField()
    table = models.CharField(max_length=40)
    replaces = models.JSONField(default=list)
    """Executions whose rows of before go."""
    sha256 = models.CharField(max_length=64)
    size = models.PositiveIntegerField()
    data = models.BinaryField(null=True)
    """None where it lies in the shared folder that `STUDIO_BATCH_FOLDER` names."""
    at = models.DateTimeField()

    class Meta:
        ordering = ("sequence",)
        constraints = (
            models.UniqueConstraint(fields=["remote", "sequence"], name="batch_once_per_sequence"),
        )

    def __str__(self) -> str:
        return f"{self.remote} {self.sequence}"

    @property
    def content(self) -> bytes:
        return bytes(self.data) if self.data is not None else self.path.read_bytes()

    @property
    def path(self) -> Path:
        """In the shared folder. No two rows share a file, so that one goes with its row."""
        folder = settings.STUDIO_BATCH_FOLDER
        if folder is None:
            raise FileNotFoundError("STUDIO_BATCH_FOLDER is not set, and a batch lies there")
        return Path(folder) / f"{self.remote_id}-{self.sequence}-{self.sha256}.parquet"


def store_batch(batch: RemoteBatch, data: bytes) -> None:
    """Save a batch with its content, which goes into the shared folder where there is one."""
    batch.size = len(data)
    if settings.STUDIO_BATCH_FOLDER is None:
        batch.data = data
    else:
        settings.STUDIO_BATCH_FOLDER.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = batch.path.with_name(f".{uuid.uuid4().hex}.part")
        part.write_bytes(data)
        part.replace(batch.path)
    batch.save(force_insert=True)


def drop_batches(batches: "models.QuerySet[RemoteBatch]") -> None:
    """Delete batches, and their files once that is certain."""
    paths = [batch.path for batch in batches.filter(data=None).only("remote_id", "sequence", "sha256")]
    batches.delete()

    def unlink() -> None:
        for path in paths:
            path.unlink(missing_ok=True)

    transaction.on_commit(unlink)
