"""Removing the demo: what goes, what stays because a person added or changed it, and the removal itself.

Used by the home page. What is removed goes in one transaction, its folders right after it.
"""

import hashlib
import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.db import connection, models, transaction
from django.db.models import ProtectedError, Q
from django.utils.translation import gettext as _

from builder.files.reading import PROMPT_FILE
from studio.access.audit import Event, record
from studio.contexts.samples import SAMPLES
from studio.home.demo.story import STORIES, Story
from studio.home.demo.workspaces import RUNNING_NOTE, WORKSPACES, DemoWorkspace, demo_file
from studio.models import (
    Draft,
    DraftCopy,
    Export,
    ExportReceipt,
    ExportScoring,
    FollowedFile,
    Label,
    LabelMove,
    PromptSet,
    PromptVersion,
    RunResult,
    SampleContext,
    ScoringRecord,
    Tag,
    Workspace,
)
from studio.shell.immutable import triggers_lifted
from studio.workspaces.stores import forget_gone

CHARACTERS = {chapter.author for story in STORIES for chapter in story.chapters}
"""The people of the story; nobody can sign in as one of them."""


@dataclass(frozen=True)
class Kept:
    """Something of the demo that stays, and why."""

    what: PromptSet | SampleContext | Workspace
    why: str


@dataclass(frozen=True)
class Removal:
    """What goes and what stays."""

    sets: tuple[PromptSet, ...]
    contexts: tuple[SampleContext, ...]
    workspaces: tuple[Workspace, ...]
    kept: tuple[Kept, ...]

    def __bool__(self) -> bool:
        return bool(self.sets or self.workspaces)

    @cached_property
    def exports(self) -> int:
        return Export.objects.filter(workspace__in=self.workspaces).count()

    @cached_property
    def runs(self) -> int:
        return self._results.count()

    @property
    def _results(self) -> "models.QuerySet[RunResult]":
        """Also of other workspaces, where one of these versions explains them: they are examined again."""
        versions = PromptVersion.objects.filter(prompt_set__in=self.sets).values("pk")
        return RunResult.objects.filter(
            Q(workspace__in=self.workspaces) | Q(version__in=versions) | Q(candidates__in=versions)
        ).distinct()

    @property
    def mark(self) -> str:
        """The same for the same removal: what a person confirms is what they saw."""
        goes = [(type(one).__name__, one.pk) for one in (*self.sets, *self.contexts, *self.workspaces)]
        return hashlib.sha256(repr(goes).encode()).hexdigest()[:16]


def is_loaded() -> bool:
    """Whether something of the demo is there."""
    return _workspaces().exists() or _sets().exists()


def planned_removal() -> Removal:
    """What would go now."""
    workspaces, kept_workspaces = [], []
    for workspace in _workspaces():
        demo = next(demo for demo in WORKSPACES if demo.slug == workspace.slug)
        why = _why_workspace_stays(workspace, demo)
        if why:
            kept_workspaces.append(Kept(workspace, why))
        else:
            workspaces.append(workspace)
    sets, kept_sets = [], []
    for prompt_set in _sets():
        story = next(story for story in STORIES if story.slug == prompt_set.slug)
        why = _why_set_stays(prompt_set, story, workspaces)
        if why:
            kept_sets.append(Kept(prompt_set, why))
        else:
            sets.append(prompt_set)
    samples = SampleContext.objects.filter(slug__in=[sample.slug for sample in SAMPLES], author=None)
    contexts = [context for context in samples if context.revision == 1 and context.prompt_set_id is None]
    changed = [Kept(context, _("You changed it.")) for context in samples if context not in contexts]
    return Removal(tuple(sets), tuple(contexts), tuple(workspaces), (*kept_sets, *kept_workspaces, *changed))


def _workspaces() -> "models.QuerySet[Workspace]":
    """Those whose folder the demo made."""
    ours = Q()
    for demo in WORKSPACES:
        ours |= Q(slug=demo.slug, path__endswith=f"/demo/{demo.slug}")
    return Workspace.objects.filter(ours)


def _sets() -> "models.QuerySet[PromptSet]":
    """Those whose first version a character of the story wrote."""
    first = PromptVersion.objects.filter(
        number=1, author__is_active=False, author__username__in=CHARACTERS
    ).values("prompt_set")
    return PromptSet.objects.filter(slug__in=[story.slug for story in STORIES], pk__in=first)


def _why_workspace_stays(workspace: Workspace, demo: DemoWorkspace) -> str:
    if workspace.exports.exclude(by__username__in=CHARACTERS).exists():
        return _("You exported to it.")
    followed = workspace.label is not None and workspace.label.prompt_set.slug == demo.story.slug
    changed = workspace.name != demo.name or workspace.system_label_id or workspace.working_directory
    if not followed or changed or workspace.run_variables or workspace.followed_files.exists():
        return _("You changed its settings.")
    if workspace.results.count() > demo.runs:
        return _("It has runs of yours.")
    if workspace.system_builds.exists():
        return _("You kept builds of its system prompt.")
    try:
        if (workspace.folder / PROMPT_FILE).read_bytes() != demo_file(demo, workspace.folder):
            return _("You changed its prompt file.")
    except OSError:
        pass  # there is no file any more that anybody could miss
    return ""


def _why_set_stays(prompt_set: PromptSet, story: Story, going: Iterable[Workspace]) -> str:
    versions = prompt_set.versions.all()
    if versions.exclude(author__username__in=CHARACTERS).exists():
        return _("You saved a version.")
    if prompt_set.label_moves.exclude(moved_by__username__in=CHARACTERS).exists():
        return _("You moved a label.")
    if prompt_set.contexts.exists():
        return _("It has contexts of its own.")
    drafts = Draft.objects.filter(prompt_set=prompt_set)
    if any(Draft.objects.unsaved(prompt_set, draft.person) for draft in drafts) or (
        DraftCopy.objects.filter(prompt_set=prompt_set).exists()
    ):
        return _("There is a draft.")
    if prompt_set.name != story.name or prompt_set.round_config or prompt_set.budgets:
        return _("You changed its settings.")
    elsewhere = Export.objects.exclude(workspace__in=list(going)).filter(
        Q(version__in=versions) | Q(kept_as__in=versions)
    )
    own = Q(label__prompt_set=prompt_set) | Q(system_label__prompt_set=prompt_set)
    followers = Workspace.objects.exclude(pk__in=[one.pk for one in going]).filter(own)
    followed = FollowedFile.objects.filter(label__prompt_set=prompt_set)
    if elsewhere.exists() or followers.exists() or followed.exclude(workspace__in=list(going)).exists():
        return _("A workspace that stays uses it.")
    return ""


def remove_demo(seen: str, data_dir: Path) -> Removal | None:
    """Remove what the person saw; ``None``, and nothing is removed, where that is no longer what would go."""
    with transaction.atomic(), triggers_lifted(connection):
        removal = planned_removal()
        if removal.mark != seen:
            return None
        _delete(removal)
        record(
            Event.DEMO_REMOVED,
            after={
                "sets": [one.slug for one in removal.sets],
                "workspaces": [one.slug for one in removal.workspaces],
                "contexts": len(removal.contexts),
            },
        )
    _remove_folders(removal.workspaces, data_dir.resolve() / "demo")
    forget_gone()
    return removal


def _delete(removal: Removal) -> None:
    versions = PromptVersion.objects.filter(prompt_set__in=removal.sets)
    exports = Export.objects.filter(workspace__in=removal.workspaces)
    results = RunResult.objects.filter(pk__in=list(removal._results.values_list("pk", flat=True)))
    scorings = ExportScoring.objects.filter(export__in=exports)
    records = {
        None,
        *results.values_list("scoring", flat=True),
        *scorings.values_list("record", flat=True),
    } - {None}
    results.delete()
    for rows in (scorings, ExportReceipt.objects.filter(export__in=exports), exports):
        _delete_rows(rows)
    still = [
        *RunResult.objects.filter(scoring__in=records).values_list("scoring", flat=True),
        *ExportScoring.objects.filter(record__in=records).values_list("record", flat=True),
    ]
    _delete_rows(ScoringRecord.objects.filter(pk__in=records.difference(still)))
    FollowedFile.objects.filter(workspace__in=removal.workspaces).delete()
    Workspace.objects.filter(pk__in=[workspace.pk for workspace in removal.workspaces]).delete()
    Label.objects.filter(prompt_set__in=removal.sets).delete()
    _delete_rows(LabelMove.objects.filter(prompt_set__in=removal.sets))
    _delete_rows(versions)
    PromptSet.objects.filter(pk__in=[prompt_set.pk for prompt_set in removal.sets]).delete()
    SampleContext.objects.filter(pk__in=[context.pk for context in removal.contexts]).delete()
    Tag.objects.filter(name__in=[tag for story in STORIES for tag in story.tags], prompt_sets=None).delete()
    for person in User.objects.filter(username__in=CHARACTERS, is_active=False):
        try:
            with transaction.atomic():
                person.delete()
        except ProtectedError:
            pass  # of something that stays


def _delete_rows(rows: "models.QuerySet[Any]") -> None:
    """Rows that are written once: neither their model nor its rows allow anything else."""
    rows.order_by()._raw_delete(rows.db)


def _remove_folders(workspaces: Iterable[Workspace], folder: Path) -> None:
    """Those that the demo made in the data folder, and no others."""
    for workspace in workspaces:
        own = folder / workspace.slug
        if workspace.folder == own and not own.is_symlink():
            aside = folder / f".{workspace.slug}.gone"
            shutil.rmtree(aside, ignore_errors=True)
            if own.is_dir():
                os.replace(own, aside)
                shutil.rmtree(aside, ignore_errors=True)
    if not any(folder.glob("*/")):
        (folder / RUNNING_NOTE).unlink(missing_ok=True)
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
