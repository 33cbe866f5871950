"""What the background work found out for the home page: any server shows what any other one found."""

from django.db import models

from studio.prompts.models import PromptSet
from studio.workspaces.models import Workspace


class ContextTrial(models.Model):
    """The last trial of a set's newest version in all of its contexts."""

    prompt_set = models.OneToOneField(PromptSet, on_delete=models.CASCADE, related_name="+")
    revision = models.PositiveIntegerField()
    # A hash over the contexts and their revisions: with another one there is something to try.
    stamp = models.CharField(max_length=64)
    fails = models.JSONField(default=list)
    """Template, context, the context's revision, and the first round that fails, of each failure."""

    def __str__(self) -> str:
        return f"{self.prompt_set} {self.revision}"


class UnexaminedRuns(models.Model):
    """A workspace whose last examination could not be finished; the row goes with one that could."""

    workspace = models.OneToOneField(Workspace, on_delete=models.CASCADE, related_name="+")
    # 0 where it is not known how many.
    runs = models.PositiveIntegerField()
    # The builder's message, so that each reader gets it in their language.
    code = models.CharField(max_length=80)
    line = models.PositiveIntegerField(null=True)
    params = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"{self.workspace}: {self.runs}"
