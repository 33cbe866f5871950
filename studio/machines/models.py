"""What the agents of workspaces on other machines report: files, and rows of the database in batches."""

import uuid
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models


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
    """None where it lies in the shared folder that `STUDIO_BATCH_FOLDER` names, under its hash."""
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
        if self.data is not None:
            return bytes(self.data)
        folder = settings.STUDIO_BATCH_FOLDER
        if folder is None:
            raise FileNotFoundError("STUDIO_BATCH_FOLDER is not set, and a batch lies there")
        return (folder / self.sha256).read_bytes()


def stored(data: bytes, sha256: str) -> dict[str, Any]:
    """The columns of a batch's content, which goes into the shared folder where there is one."""
    folder = settings.STUDIO_BATCH_FOLDER
    if folder is None:
        return {"data": data, "size": len(data), "sha256": sha256}
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / sha256
    if not path.exists():
        part = folder / f".{sha256}.part"
        part.write_bytes(data)
        part.replace(path)
    return {"data": None, "size": len(data), "sha256": sha256}
