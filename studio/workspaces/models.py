"""Workspaces: MixSeek folders on this machine that the studio knows."""

from dataclasses import dataclass
from pathlib import Path

from django.db import models
from django.urls import reverse

from builder.template.dialect import DIALECTS, MIXSEEK, Dialect
from studio.prompts.labels import Label

LABELLED = ("label__prompt_set", "label__version", "system_label__prompt_set", "system_label__version")
"""What a workspace follows, to be read along with it."""


@dataclass(frozen=True)
class FileFact:
    """A file as the folder lists it, without opening it."""

    path: Path
    size: int | None
    """Bytes; None where there is no such file."""

    @property
    def present(self) -> bool:
        return self.size is not None


@dataclass(frozen=True)
class WorkspaceFacts:
    """What a look at a workspace's folder shows."""

    folder_present: bool
    prompt_file: FileFact
    database: FileFact


class Workspace(models.Model):
    """A MixSeek folder: its files, its database, and the labels that it follows."""

    slug = models.SlugField(max_length=80, unique=True, allow_unicode=True)
    name = models.CharField(max_length=120)
    path = models.CharField(max_length=1000, unique=True)
    dialect = models.CharField(max_length=20, default="mixseek")
    label = models.ForeignKey(
        Label, on_delete=models.PROTECT, null=True, blank=True, related_name="workspaces"
    )
    # The same for the system prompt's file: a label of a set that holds one.
    system_label = models.ForeignKey(
        Label, on_delete=models.PROTECT, null=True, blank=True, related_name="system_workspaces"
    )
    # Taken off the lists; its exports stay, and registering the folder again brings it back.
    archived = models.BooleanField(default=False)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ("name", "pk")

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("workspace-detail", args=[self.slug])

    @property
    def folder(self) -> Path:
        return Path(self.path)

    @property
    def spoken(self) -> Dialect:
        """The dialect that its MixSeek speaks; what is rendered for the workspace is rendered in it."""
        return next((each for name, each in DIALECTS.items() if name == self.dialect), MIXSEEK)

    def facts(self) -> WorkspaceFacts:
        """Look at the folder; nothing in it is opened, so no run can notice."""
        return WorkspaceFacts(
            folder_present=self.folder.is_dir(),
            prompt_file=_fact(self.folder / "configs" / "prompt_builder.toml"),
            database=_fact(self.folder / "mixseek.db"),
        )


def _fact(path: Path) -> FileFact:
    try:
        return FileFact(path, path.stat().st_size if path.is_file() else None)
    except OSError:
        return FileFact(path, None)
