"""Builds of system prompts that were kept, for the next one to be compared with."""

from django.contrib.auth.models import User
from django.db import models

from builder.system.built_prompt import BuiltPrompt
from studio.workspaces.models import Workspace


class SystemBuild(models.Model):
    """A workspace's system prompt in one mode, as it was at one moment."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="system_builds")
    mode = models.CharField(max_length=20)
    sha256 = models.CharField(max_length=64)
    built = models.JSONField()
    """`BuiltPrompt.as_json`."""
    note = models.CharField(max_length=200, blank=True)
    by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    at = models.DateTimeField()

    class Meta:
        ordering = ("-at", "-pk")
        indexes = (models.Index(fields=["workspace", "mode", "-at"], name="builds_of_a_workspace"),)

    def __str__(self) -> str:
        return f"{self.workspace} {self.mode} {self.at:%Y-%m-%d %H:%M}"

    @property
    def prompt(self) -> BuiltPrompt:
        """The build itself."""
        return BuiltPrompt.from_json(self.built)
