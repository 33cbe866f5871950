"""The home page: what needs attention, runs under way, score changes, activity, and what to do first."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Max
from django.urls import reverse
from django.utils.translation import gettext as _

from studio.access.roles import may
from studio.home.activity import Event, newest_events
from studio.home.attention import (
    FailingContext,
    Unexamined,
    failing_contexts,
    out_of_step,
    unexamined,
    watched_sets,
)
from studio.home.demo.highlights import Highlight, highlights
from studio.home.demo.removal import is_loaded
from studio.home.running import RunningRun, running_runs
from studio.models import Export, PromptSet, RunResult, SampleContext, Workspace
from studio.results.models import Found
from studio.results.version_scores import VersionScore, scores_of, versions_that_ran
from studio.shell.language import reader_language
from studio.shell.paging import Paging
from studio.workspaces.exports.page import continue_address
from studio.workspaces.models import LABELLED
from studio.workspaces.state import PromptFileState

MOST_OF_EACH = 5
"""Rows of each kind of attention; of more the page says how many."""
MOST_EVENTS = 12
MOST_SETS = 5
_SETS_AT_ONCE = 25
_NEWEST_RESULTS = 300


@dataclass(frozen=True)
class OutOfStep:
    """A file of a workspace that is not what its label says, with the page that puts it right."""

    state: PromptFileState

    @property
    def workspace(self) -> Workspace:
        return self.state.workspace

    @property
    def url(self) -> str:
        """Where the version that the label points at can be exported; of anything else the workspace's page
        says what to do."""
        label = self.state.label
        if self.state.awaits_label and self.state.version is not None:
            return continue_address(self.state.version, label)
        if self.state.kind == "behind" and label is not None:
            plan = reverse("prompt-export", args=[label.prompt_set.slug])
            return f"{plan}?label={label.name}&workspace={self.state.key}"
        return self.workspace.get_absolute_url()

    @property
    def action(self) -> str:
        state = self.state
        if state.awaits_label and state.version is not None:
            return _("Continue with v%(number)d") % {"number": state.version.number}
        if state.kind == "behind" and state.label is not None:
            return _("Export v%(number)d") % {"number": state.label.version.number}
        return _("Adopt or overwrite") if state.kind == "edited" else _("Open the workspace")


@dataclass(frozen=True)
class Attention:
    """Everything that somebody has to look at."""

    out_of_step: Sequence[OutOfStep]
    failing: Sequence[FailingContext]
    unexamined: Sequence[Unexamined]
    left_out: int
    """Rows beyond those shown."""

    def __bool__(self) -> bool:
        return bool(self.out_of_step or self.failing or self.unexamined)


@dataclass(frozen=True)
class ScoreChange:
    """The newest version of a set that ran, beside the one that ran before it."""

    prompt_set: PromptSet
    score: VersionScore
    message: str


@dataclass(frozen=True)
class Step:
    """One of the first things to do, and whether it is done."""

    title: str
    why: str
    url: str
    done: bool


@dataclass(frozen=True)
class HomePage:
    """The page before it is rendered."""

    attention: Attention
    running: Sequence[RunningRun]
    changes: Sequence[ScoreChange]
    more_changes: bool
    """Whether other sets may have one, too."""
    events: Sequence[Event]
    demo: bool
    """Whether something of the demo is there."""
    story: Sequence[Highlight]
    """What the reader may look at and do in it; nothing where its sets are gone."""
    steps: Sequence[Step]
    """What to do first; nothing where there is a demo, or where all of it is done."""


def home_page(now: datetime, reader: Any) -> HomePage:
    """Everything out of what is stored or was found out before: nothing is rendered, no database read."""
    workspaces = list(Workspace.objects.filter(archived=False).select_related(*LABELLED))
    demo = is_loaded()
    return HomePage(
        _attention(workspaces),
        running_runs(workspaces, now),
        *_changes(),
        newest_events(MOST_EVENTS),
        demo,
        [step for step in highlights(reader_language()) if may(reader, step.action)] if demo else [],
        [] if demo else _steps(workspaces),
    )


def _attention(workspaces: Sequence[Workspace]) -> Attention:
    drifted = [OutOfStep(state) for state in out_of_step(workspaces)]
    found = (drifted, failing_contexts(watched_sets()), unexamined(workspaces))
    left_out = sum(max(0, len(rows) - MOST_OF_EACH) for rows in found)
    return Attention(drifted[:MOST_OF_EACH], found[1][:MOST_OF_EACH], found[2][:MOST_OF_EACH], left_out)


def _changes() -> tuple[list[ScoreChange], bool]:
    """Of the sets that ran last, and whether more ran. Only the newest results are looked through, however
    many there are."""
    newest = RunResult.objects.filter(found=Found.EXACT, over=True).order_by("-pk")
    ran = newest.values_list("version__prompt_set", flat=True)[:_NEWEST_RESULTS]
    keys = list(dict.fromkeys(ran))
    return _changes_of(keys[:MOST_SETS]), len(keys) > MOST_SETS or len(ran) == _NEWEST_RESULTS


def _changes_of(keys: Sequence[int]) -> list[ScoreChange]:
    sets = PromptSet.objects.filter(archived=False).in_bulk(keys)
    changes = []
    for prompt_set in (sets[key] for key in keys if key in sets):
        numbers = versions_that_ran(prompt_set, before=None, most=2)
        scores = scores_of(prompt_set, numbers)
        if numbers and (last := scores.get(numbers[0])) and last.measured:
            message = prompt_set.versions.values_list("message", flat=True).get(number=last.number)
            changes.append(ScoreChange(prompt_set, last, message))
    return changes


@dataclass(frozen=True)
class ChangesPage:
    """The last score change of every set, some at a time."""

    changes: Sequence[ScoreChange]
    paging: Paging


def changes_page(number: int) -> ChangesPage:
    """Those whose runs are the newest first."""
    counted = RunResult.objects.filter(found=Found.EXACT, over=True, version__prompt_set__archived=False)
    sets = counted.order_by().values_list("version__prompt_set").annotate(last=Max("pk")).order_by("-last")
    keys = [key for key, _last in sets]
    paging = Paging(number, len(keys), _SETS_AT_ONCE)
    return ChangesPage(_changes_of(keys[paging.offset : paging.offset + paging.size]), paging)


def _steps(workspaces: Sequence[Workspace]) -> list[Step]:
    """From an empty studio to the first export."""
    first = workspaces[0] if workspaces else None
    prompt_set = PromptSet.objects.filter(archived=False, revision__gt=0).order_by("-changed_at").first()
    steps = [
        Step(
            _("Register a workspace"),
            _("The folder in which MixSeek runs. The studio reads copies of its database."),
            reverse("workspace-new"),
            first is not None,
        ),
        Step(
            _("Import its prompts"),
            _("Its prompt file becomes version 1 of a prompt set."),
            reverse("workspace-import", args=[first.slug]) if first else reverse("prompt-import"),
            prompt_set is not None,
        ),
        Step(
            _("Add a sample context"),
            _("A task with a few rounds, to see what a team receives."),
            reverse("context-list"),
            SampleContext.objects.exists(),
        ),
        Step(
            _("Export a version"),
            _("You see what changes in the file before it is written."),
            reverse("prompt-export", args=[prompt_set.slug]) if prompt_set else reverse("prompt-list"),
            Export.objects.exists(),
        ),
    ]
    return [] if all(step.done for step in steps) else steps
