"""Exports: what was written into which workspace, by whom, and what came of it."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models, transaction
from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from builder.files.reading import PROMPT_FILE, sha256
from builder.messages import MESSAGES, advise, say
from studio.access.audit import Event, record
from studio.prompts.file_kinds import FileKind
from studio.prompts.models import PromptVersion
from studio.shell.immutable import ImmutableModel
from studio.shell.language import reader_language
from studio.workspaces.models import ScoringRecord, Workspace, mark_of


def hash_of(data: bytes | None) -> str:
    """Of a file, as exports store it: empty where there is none."""
    return "" if data is None else sha256(data)


class Export(ImmutableModel):
    """The intent to write one file of a workspace, recorded before the write.

    ``before`` and ``after`` are the file's bytes (None: no file), so that each export can be undone, and
    so that a start after a crash can tell by the file's hash what became of it.
    """

    batch = models.UUIDField(db_index=True)
    """Shared by the workspaces that one confirmation wrote to."""
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="exports")
    version = models.ForeignKey(PromptVersion, on_delete=models.PROTECT, null=True, related_name="exports")
    """None where an undo brings back what was no version."""
    label_name = models.CharField(max_length=40, blank=True)
    undoes = models.ForeignKey("self", on_delete=models.PROTECT, null=True, related_name="undone_by")
    kept_as = models.ForeignKey(PromptVersion, on_delete=models.PROTECT, null=True, related_name="+")
    """The version that holds the hand edit which this export overwrote knowingly."""
    holds = models.CharField(max_length=20, choices=FileKind, default=FileKind.PROMPTS)
    """Which of the workspace's files it is."""
    path = models.CharField(max_length=1000)
    before = models.BinaryField(null=True)
    after = models.BinaryField(null=True)
    hash_before = models.CharField(max_length=64, blank=True)
    hash_after = models.CharField(max_length=64, blank=True)
    by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()

    # Found out for the pages that list exports, see `receipts`.
    superseded: bool
    can_undo = False
    undo_obstacle = ""

    class Meta:
        ordering = ("-pk",)
        indexes = (models.Index(fields=["workspace", "-id"], name="exports_of_a_workspace"),)
        constraints = (
            # The same confirmation sent twice writes once.
            models.UniqueConstraint(fields=["batch", "workspace", "path"], name="file_once_per_batch"),
        )

    def __str__(self) -> str:
        return f"{self.version or self.batch} → {self.workspace}"

    @property
    def file_kind(self) -> FileKind:
        """Which of the workspace's files it is."""
        return FileKind(self.holds)

    @property
    def file(self) -> str:
        """Its path as seen from the workspace."""
        return self.workspace.relative(self.path)

    @property
    def shown_path(self) -> str:
        """Its path on the machine of the workspace."""
        shown: str = self.workspace.shown_path(self.path)
        return shown

    @property
    def place(self) -> Path:
        """Where the file lies now: the workspace may have been moved since."""
        return self.workspace.folder / self.file

    def get_absolute_url(self) -> str:
        return reverse("export-detail", args=[self.batch])

    @property
    def command_line(self) -> str:
        """The export as a command, for a script or another day."""
        if self.version is None:
            return ""
        what = f"{self.version.prompt_set.slug}@{self.label_name or self.version.number}"
        file = [] if self.is_usual_file else ["--file", self.file]
        command: str = settings.ENVIRONMENT.command("export", what, "--workspace", self.workspace.path, *file)
        return command

    @property
    def key(self) -> str:
        """What the file is called by in the addresses of export pages."""
        slug: str = self.workspace.slug
        return slug if self.is_usual_file else slug + mark_of(self.file)

    @property
    def is_usual_file(self) -> bool:
        """Whether it needs no name of its own beside the workspace's."""
        return not self.file_kind.has_templates or self.file == str(PROMPT_FILE)


class ExportScoring(ImmutableModel):
    """What runs of an orchestrator that reads the exported file were scored with when it was written."""

    export = models.ForeignKey(Export, on_delete=models.PROTECT, related_name="scorings")
    orchestrator = models.CharField(max_length=1000)
    record = models.ForeignKey(ScoringRecord, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ("orchestrator",)

    def __str__(self) -> str:
        return f"{self.export}: {self.orchestrator}"


class Outcome(models.TextChoices):
    """What came of an export."""

    WRITTEN = "written", _("Written")
    UNCHANGED = "unchanged", _("No change")
    FAILED = "failed", _("Not written")
    UNCLEAR = "unclear", _("Unclear")
    """Found after a crash, the file being neither the old nor the new one: somebody has edited it since."""


def _record(receipt: "ExportReceipt") -> None:
    export = receipt.export
    written = Event.EXPORT_UNDONE if export.undoes_id else Event.EXPORT_WRITTEN
    record(
        written if receipt.outcome == Outcome.WRITTEN else Event.EXPORT_NOT_WRITTEN,
        export,
        before={"hash": export.hash_before},
        after={
            "hash": receipt.hash_found,
            "outcome": receipt.outcome,
            "file": export.file,
            "version": export.version.number if export.version else None,
            "batch": str(export.batch),
        },
        prompt_set=export.version.prompt_set_id if export.version else None,
        by=export.by,
    )


class ExportReceipt(ImmutableModel):
    """What came of an export. One without a receipt was cut off; the next start looks at the file."""

    export = models.OneToOneField(Export, on_delete=models.PROTECT, related_name="receipt", primary_key=True)
    outcome = models.CharField(max_length=20, choices=Outcome)
    hash_found = models.CharField(max_length=64, blank=True)
    """Of the file as the write, or the look after a crash, left it; empty where there is none."""
    error_code = models.CharField(max_length=60, blank=True)
    error_params = models.JSONField(default=dict)
    owner_kept = models.BooleanField(default=True)
    durable = models.BooleanField(default=True)
    reconciled = models.BooleanField(default=False)
    """Written by a later start and not by the export itself."""
    at = models.DateTimeField()

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(outcome="failed") | Q(error_code=""), name="only_a_failure_has_an_error"
            ),
        )

    def __str__(self) -> str:
        return f"{self.export}: {self.outcome}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Insert it and record what came of the export, whoever found that out."""
        with transaction.atomic():
            super().save(*args, **kwargs)
            _record(self)

    @property
    def reached(self) -> bool:
        """Whether the file held what was to be written once this was noted."""
        return self.outcome in (Outcome.WRITTEN, Outcome.UNCHANGED)

    @property
    def failure(self) -> str:
        """Why nothing was written, in the reader's language; empty where the receipt does not know."""
        # A receipt may be older than the sentence that it names.
        known = self.error_code in MESSAGES
        return say(self.error_code, self.error_params, reader_language()) if known else self.error_code

    @property
    def failure_advice(self) -> str:
        """What to do about it."""
        known = self.error_code in MESSAGES
        return advise(self.error_code, self.error_params, reader_language()) if known else ""
