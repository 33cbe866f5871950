"""What needs attention: files out of step, contexts in which a version fails, runs that were not examined.

Used by the home page. What takes long is found out by the background work and kept in the database: the page
itself renders nothing and opens no leaderboard.
"""

import hashlib
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

from django.db.models import Count, Max
from django.urls import reverse

from builder.errors import BuilderError
from builder.files.answering import answers
from builder.files.reading import ORCHESTRATOR_FILE
from builder.messages import MESSAGES
from builder.template.variables import KINDS, PromptKind, field_name
from studio.models import (
    ContextTrial,
    ExportReceipt,
    FollowedFile,
    LabelMove,
    PromptSet,
    PromptVersion,
    SampleContext,
    UnexaminedRuns,
    Workspace,
)
from studio.preview.all_rounds import all_rounds
from studio.prompts.file_kinds import FileKind
from studio.results.attribution import AttributionPass
from studio.shell.sized_cache import SizedCache
from studio.workspaces.state import PromptFileState, prompt_states_of, states_of

MOST_LOOKED_AT = 6
"""Workspaces that one page looks at; of others it shows what the last look found."""
MOST_SETS = 100
MOST_SETS_TRIED = 3
"""Sets whose newest version one round of the watching thread tries in all of its contexts."""
LASTS_SECONDS = 120.0
"""What nobody can see from outside, such as a folder that is no longer allowed, is looked at again then."""

# --- workspaces out of step --------------------------------------------------------------

_Stamps = tuple[object, ...]


class _Look(NamedTuple):
    stamps: _Stamps
    until: float
    states: list[PromptFileState]
    """Those out of step."""
    paths: frozenset[Path]


_looks: SizedCache[_Look] = SizedCache(2_000)


def out_of_step(
    workspaces: Sequence[Workspace], most: int | None = MOST_LOOKED_AT
) -> Iterator[PromptFileState]:
    """The files that are not what their label says. Looks at what changed since the last look, at most at
    ``most`` workspaces."""
    stored = _stored_marks()
    known = {workspace.pk: _looks.get(workspace.pk) for workspace in workspaces}
    stamps = {workspace.pk: _stamps(workspace, known[workspace.pk], stored) for workspace in workspaces}
    stale = [one for one in workspaces if not _holds(known[one.pk], stamps[one.pk])]
    stale.sort(key=lambda one: known[one.pk] is not None)
    looked_at = stale[:most]
    states: dict[int, list[PromptFileState]] = {workspace.pk: [] for workspace in looked_at}
    if looked_at:
        for state in (*prompt_states_of(looked_at), *states_of(looked_at, FileKind.SYSTEM)):
            states[state.workspace.pk] += [state] if state.is_of_use else []
    for workspace in looked_at:
        own = states[workspace.pk]
        paths, drifted = frozenset(state.path for state in own), [state for state in own if not state.in_step]
        look = _Look(stamps[workspace.pk], time.monotonic() + LASTS_SECONDS, drifted, paths)
        known[workspace.pk] = look
        _looks.put(workspace.pk, look, 1 + len(drifted))
    for workspace in workspaces:
        if kept := known[workspace.pk]:
            yield from kept.states


def _holds(look: _Look | None, stamps: _Stamps) -> bool:
    return look is not None and look.stamps == stamps and time.monotonic() < look.until


def _stored_marks() -> _Stamps:
    """What changes with every version, move of a label, export and followed file."""
    newest = [
        model.objects.aggregate(Max("pk"))["pk__max"] for model in (PromptVersion, LabelMove, ExportReceipt)
    ]
    return (*newest, *FollowedFile.objects.aggregate(Max("pk"), Count("pk")).values())


def _stamps(workspace: Workspace, look: _Look | None, stored: _Stamps) -> _Stamps:
    """What changes with the workspace's settings and files; taken before they are read."""
    folder = workspace.folder
    if not answers(folder):
        return (stored, workspace.path)
    watched = {folder, folder / "configs", folder / ORCHESTRATOR_FILE, *(look.paths if look else ())}
    settings = (workspace.path, workspace.label_id, workspace.system_label_id, workspace.dialect)
    return (stored, settings, tuple((path, _stamp(path)) for path in sorted(watched)))


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        status = os.lstat(path)
    except OSError:
        return ()
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


# --- contexts in which the newest version fails ------------------------------------------


@dataclass(frozen=True)
class FailingContext:
    """A context for which the newest version of a set cannot be rendered."""

    prompt_set: PromptSet
    context: SampleContext
    kind: PromptKind
    round: int
    """The first that fails."""

    @property
    def url(self) -> str:
        """The editor, with that context and round beside the template."""
        place = {"kind": self.kind, "context": self.context.slug, "round": self.round}
        return f"{reverse('prompt-edit', args=[self.prompt_set.slug])}?{urlencode(place)}"


def try_contexts(most: int = MOST_SETS_TRIED) -> None:
    """Render the newest versions in all contexts, of the first few sets where something changed since."""
    columns = ("pk", "revision", "slug", "prompt_set_id")
    contexts = list(SampleContext.objects.order_by("pk").values_list(*columns))
    sets = watched_sets()
    trials = ContextTrial.objects.filter(prompt_set__in=sets).values_list("prompt_set", "revision", "stamp")
    known = {key: (revision, stamp) for key, revision, stamp in trials}
    for prompt_set in sets:
        own = {slug: (pk, revision) for pk, revision, slug, of in contexts if of in (None, prompt_set.pk)}
        stamp = hashlib.sha256(repr(sorted(own.values())).encode()).hexdigest()
        latest = prompt_set.latest if known.get(prompt_set.pk) != (prompt_set.revision, stamp) else None
        if latest is None:
            continue
        fails = []
        for kind in KINDS:
            text = getattr(latest, field_name(kind))
            tried = all_rounds(prompt_set, kind, text, ("", None), is_wanted=lambda: True)
            # The example that the studio ships is no context that somebody could mend.
            fails += [[kind, *own[slug], min(rounds)] for slug, rounds in tried.fails.items() if slug in own]
        ContextTrial.objects.update_or_create(
            prompt_set=prompt_set, defaults={"revision": prompt_set.revision, "stamp": stamp, "fails": fails}
        )
        most -= 1
        if most == 0:
            return


def watched_sets() -> list[PromptSet]:
    """The sets that changed last, whose newest versions are tried."""
    sets = PromptSet.objects.filter(archived=False, revision__gt=0).of_templates()
    return list(sets.order_by("-changed_at", "pk")[:MOST_SETS])


def failing_contexts(sets: Sequence[PromptSet]) -> list[FailingContext]:
    """What the last trial found, as far as neither version nor context has changed since."""
    own = {prompt_set.pk: prompt_set for prompt_set in sets}
    trials = ContextTrial.objects.filter(prompt_set__in=own).exclude(fails=[])
    failed = [
        (prompt_set, trial.fails)
        for trial in trials
        if (prompt_set := own[trial.prompt_set_id]).revision == trial.revision
    ]
    keys = {key for _, fails in failed for _, key, _, _ in fails}
    known = SampleContext.objects.filter(pk__in=keys).defer("data", "submission") if keys else ()
    contexts = {(context.pk, context.revision): context for context in known}
    return [
        FailingContext(prompt_set, context, kind, number)
        for prompt_set, fails in failed
        for kind, key, revision, number in fails
        if (context := contexts.get((key, revision)))
    ]


# --- runs that were not examined ---------------------------------------------------------


@dataclass(frozen=True)
class Unexamined:
    """A workspace whose runs were not all examined."""

    workspace: Workspace
    runs: int
    """0 where it is not known how many."""
    problem: BuilderError


def note_pass(workspace: Workspace, done: AttributionPass) -> None:
    """Remember how the last examination of a workspace's runs ended."""
    if done.problem is None:
        UnexaminedRuns.objects.filter(workspace=workspace).delete()
        return
    problem = done.problem
    told = {"runs": done.left, "code": problem.code, "line": problem.line, "params": problem.params}
    UnexaminedRuns.objects.update_or_create(workspace=workspace, defaults=told)


def unexamined(workspaces: Sequence[Workspace]) -> list[Unexamined]:
    """Those whose last examination could not be finished."""
    notes = {note.workspace_id: note for note in UnexaminedRuns.objects.all()}
    return [
        Unexamined(workspace, note.runs, BuilderError(note.code, line=note.line, **note.params))
        for workspace in workspaces
        # Another release of the studio may have had a reason that this one does not know.
        if (note := notes.get(workspace.pk)) and note.code in MESSAGES
    ]
