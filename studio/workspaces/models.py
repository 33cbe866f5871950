"""Workspaces: MixSeek folders, on this machine or another one, that the studio knows."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from django.contrib.auth.models import User
from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from builder.files.answering import answers
from builder.leaderboard import DATABASE_NAME
from builder.orchestrators.finder import RunSurroundings
from builder.orchestrators.scoring_settings import ScoringSettings
from builder.template.dialect import MIXSEEK, Dialect, dialect_named
from studio.machines.mirror import is_remote, mirror_folder, within_mirror
from studio.prompts.labels import Label
from studio.shell.immutable import ImmutableModel

LABELLED = ("label__prompt_set", "label__version", "system_label__prompt_set", "system_label__version")
"""What a workspace follows, to be read along with it."""


def mark_of(name: str) -> str:
    """What a prompt file beside the main one is called by, behind its workspace's address."""
    return "@" + hashlib.sha256(name.encode()).hexdigest()[:12]


@dataclass(frozen=True)
class FileFact:
    """A file as the folder lists it, without opening it."""

    path: Path
    size: int | None
    """Bytes; None where there is no such file."""

    @property
    def present(self) -> bool:
        return self.size is not None


class FoundBy(models.TextChoices):
    """How the release that a workspace runs was found out."""

    PROMPTS = "prompts", _("Prompts of a run")
    PACKAGE = "package", _("Installed package")


class Workspace(models.Model):
    """A MixSeek folder: its files, its database, and the labels that it follows."""

    slug = models.SlugField(max_length=80, unique=True, allow_unicode=True)
    name = models.CharField(max_length=120)
    path = models.CharField(max_length=1000, unique=True)
    # Where the folder was before it was moved, so that receipts of then still name their files.
    former_paths = models.JSONField(default=list, blank=True)
    # The format that somebody fixed; empty where it is found out.
    dialect = models.CharField(max_length=20, blank=True, default="")
    # What was found out, from the prompts of which run or from which installed version.
    found_dialect = models.CharField(max_length=20, blank=True, default="")
    found_by = models.CharField(max_length=20, blank=True, choices=FoundBy, default="")
    found_in = models.CharField(max_length=255, blank=True, default="")
    label = models.ForeignKey(
        Label, on_delete=models.PROTECT, null=True, blank=True, related_name="workspaces"
    )
    # The same for the system prompt's file: a label of a set that holds one.
    system_label = models.ForeignKey(
        Label, on_delete=models.PROTECT, null=True, blank=True, related_name="system_workspaces"
    )
    # What its runs are started with, as far as somebody said so: both can override the prompt file.
    working_directory = models.CharField(max_length=1000, blank=True)
    run_variables = models.JSONField(default=dict, blank=True)
    # Taken off the lists; its exports stay, and registering the folder again brings it back.
    archived = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    made_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        ordering = ("name", "pk")

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("workspace-detail", args=[self.slug])

    @property
    def is_remote(self) -> bool:
        """Whether it lies on another machine; an agent there reports it, and ``folder`` is a copy."""
        return is_remote(self.path)

    @property
    def texts_withheld(self) -> bool:
        """Whether its machine sends scores without prompts, submissions and comments."""
        return self.is_remote and hasattr(self, "remote") and not self.remote.texts

    @property
    def folder(self) -> Path:
        return mirror_folder(self.path) if self.is_remote else Path(self.path)

    def relative(self, path: str) -> str:
        """A file's path as seen from the folder, also where the folder was elsewhere then."""
        if self.is_remote:
            return within_mirror(path, self.path) or path
        for folder in (self.path, *reversed(self.former_paths)):
            if Path(path).is_relative_to(folder):
                return str(Path(path).relative_to(folder))
        return path

    def shown_path(self, path: Path | str) -> str:
        """A file's path as people of its machine know it."""
        return f"{self.path}/{self.relative(str(path))}" if self.is_remote else str(path)

    @property
    def spoken(self) -> Dialect:
        """The format of its MixSeek's release: fixed, found out, or else the newest. What is rendered for the
        workspace is rendered in it."""
        return dialect_named(self.dialect) or self.found

    @property
    def found(self) -> Dialect:
        """What was found out; the newest release's where nothing was."""
        return dialect_named(self.found_dialect) or MIXSEEK

    @property
    def surroundings(self) -> RunSurroundings:
        """What its runs are started with, as its settings state; the studio's own never count."""
        # Of one on another machine it is not on this server's disk.
        folder = Path(self.working_directory) if self.working_directory and not self.is_remote else None
        return RunSurroundings(self.run_variables, folder)

    @property
    def database_file(self) -> FileFact:
        """The database, as the folder lists it now; it is not opened, so no run can notice."""
        path = self.folder / DATABASE_NAME
        if not answers(self.folder):
            return FileFact(path, None)
        try:
            return FileFact(path, path.stat().st_size if path.is_file() else None)
        except OSError:
            return FileFact(path, None)


class FollowedFile(models.Model):
    """A prompt file beside the workspace's main one, with the label that it follows."""

    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="followed_files")
    file = models.CharField(max_length=1000)
    """As seen from the workspace."""
    label = models.ForeignKey(Label, on_delete=models.PROTECT, related_name="followed_files")

    class Meta:
        ordering = ("file",)
        constraints = (
            models.UniqueConstraint(fields=["workspace", "file"], name="one_label_per_prompt_file"),
        )

    def __str__(self) -> str:
        return f"{self.workspace}: {self.file}"


class FoundDrift(models.Model):
    """A file that was out of step at the last look; the row goes when it is in step again."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    path = models.CharField(max_length=1000)
    mark = models.CharField(max_length=60)
    """In which way: another one is told anew."""
    found_at = models.DateTimeField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=["workspace", "path"], name="one_drift_per_file"),)

    def __str__(self) -> str:
        return f"{self.workspace}: {self.path} ({self.mark})"


class ScoringRecord(ImmutableModel):
    """What scores were measured with: models, metrics, instructions and teams. Stored once per hash."""

    sha256 = models.CharField(max_length=64, unique=True)
    content = models.JSONField()
    """Allowed keys of evaluator, judgment, team and orchestrator files, as lines."""
    at = models.DateTimeField()

    def __str__(self) -> str:
        return self.sha256[:12]

    @property
    def settings(self) -> ScoringSettings:
        return ScoringSettings.from_json(self.content)
