"""Results: which version a run was made with, as found by rendering again, and what it scored."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from studio.prompts.models import PromptVersion
from studio.workspaces.models import ScoringRecord, Workspace

LONGEST_ID = 200
LARGEST_NUMBER = 2**31 - 1


class Found(models.TextChoices):
    """What attribution found out about a run or one of its rounds."""

    EXACT = "exact", _("Exact")
    SEVERAL = "several", _("Several")
    EDITED = "edited", _("Edited by hand")
    UNKNOWN = "unknown", _("Unknown")


class Basis(models.TextChoices):
    """What says which evaluator and judgment templates a run used: MixSeek does not store them."""

    MANIFEST = "manifest", _("Manifest of the run")
    RECEIPT = "receipt", _("Export record")
    FILE = "file", _("File on disk")
    NONE = "", _("Only the team's prompt")


class RunResult(models.Model):
    """An execution of a workspace: the version behind it and the figures that pages compare.

    Cached, so that a run is examined once. One that no version explains is looked at again when there are
    versions newer than ``examined_up_to``; one that was not over, when it has gone on.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="results")
    execution_id = models.CharField(max_length=LONGEST_ID)
    over = models.BooleanField()
    state = models.CharField(max_length=20)
    task = models.TextField(blank=True)
    task_key = models.CharField(max_length=64, blank=True)
    """Equal for equal tasks; empty while the task is not known."""
    started_at = models.DateTimeField(null=True)
    teams = models.PositiveIntegerField()
    rounds = models.PositiveIntegerField()
    best_score = models.FloatField(null=True)
    metrics = models.JSONField(default=list)
    """The names of the metrics in ``score_details``, sorted: with another list, scores do not compare."""
    partial_teams = models.JSONField(default=list)
    """Teams, by their ids, that ended by a failure or a timeout after some rounds."""
    whole_score = models.FloatField(null=True)
    """The best score of the other teams; told only where there are such teams."""
    scoring = models.ForeignKey(ScoringRecord, on_delete=models.PROTECT, null=True, related_name="results")
    """What it was scored with, where the studio saw it start or end."""
    orchestrator = models.CharField(max_length=1000, blank=True)
    """The orchestrator file that it was a run of, as far as teams and prompts tell."""
    found = models.CharField(max_length=20, choices=Found)
    version = models.ForeignKey(PromptVersion, on_delete=models.PROTECT, null=True, related_name="results")
    """The one, where it is exact; the nearest, where the file was edited by hand."""
    candidates = models.ManyToManyField(PromptVersion, related_name="+")
    """Where several versions give the same prompts: which."""
    basis = models.CharField(max_length=20, choices=Basis, blank=True)
    pinned = models.CharField(max_length=320, blank=True)
    """What a manifest of the run says it ran, such as `research@7`; its prompts may say otherwise."""
    likeness = models.FloatField(null=True)
    formats = models.JSONField(null=True, default=None)
    """The names of the formats that its prompts may be in, the newest first; None where nobody has looked."""
    examined_up_to = models.PositiveBigIntegerField()
    """The newest version's key then."""
    examined_at = models.DateTimeField()

    class Meta:
        ordering = ("-started_at", "-pk")
        constraints = (
            models.UniqueConstraint(fields=["workspace", "execution_id"], name="one_result_per_run"),
        )
        indexes = (
            models.Index(fields=["version", "found"], name="results_of_a_version"),
            models.Index(fields=["workspace", "found"], name="results_of_a_workspace"),
        )

    def __str__(self) -> str:
        return f"{self.workspace} {self.execution_id}"

    @property
    def last_state(self) -> str:
        """The state for whoever cannot look at the database: a run that was going on may have ended since."""
        return "was-running" if self.state == "running" else self.state


class RoundResult(models.Model):
    """One round of one team: what made its prompt, and its score."""

    run = models.ForeignKey(RunResult, on_delete=models.CASCADE, related_name="round_results")
    team_id = models.CharField(max_length=LONGEST_ID)
    team_name = models.CharField(max_length=LONGEST_ID)
    round_number = models.PositiveIntegerField()
    score = models.FloatField(null=True)
    found = models.CharField(max_length=20, choices=Found)
    versions = models.JSONField(default=list)
    """Keys of the versions whose template gives the delivered prompt exactly."""

    class Meta:
        ordering = ("team_id", "round_number")
        constraints = (
            models.UniqueConstraint(fields=["run", "team_id", "round_number"], name="one_result_per_round"),
        )

    def __str__(self) -> str:
        return f"{self.run} {self.team_id} {self.round_number}"
