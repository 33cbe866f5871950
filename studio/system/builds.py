"""Kept builds of system prompts, for later ones to be compared with: how many, and which go first.

Used by the pages of system prompts.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Literal

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Case, IntegerField, QuerySet, When
from django.utils import timezone

from builder.system.built_prompt import BuiltPrompt
from builder.system.input import MODES, PromptMode
from studio.access.audit import Event, record
from studio.models import SystemBuild, Workspace

MOST_KEPT = 50
"""Of one workspace in one mode."""
LONGEST_KEPT = 400_000
"""Characters of a build that is kept: a row holds its text about three times."""

Outcome = Literal["kept", "noted", "too_long", "unwritable"]


def kept_builds(workspace: Workspace, mode: PromptMode | None = None) -> QuerySet[SystemBuild]:
    """The newest first, without their texts."""
    builds = workspace.system_builds.defer("built").select_related("by")
    return builds.filter(mode=mode) if mode else builds


def newest_builds(workspace: Workspace) -> dict[PromptMode, SystemBuild]:
    """The last one of each mode, with its text."""
    newest = {mode: workspace.system_builds.filter(mode=mode).first() for mode in MODES}
    return {mode: build for mode, build in newest.items() if build is not None}


def keep_changes(workspace: Workspace, builds: Iterable[BuiltPrompt], at: datetime) -> None:
    """Keep those whose text is not the newest kept one of their mode; looking twice costs no row."""
    for built in builds:
        newest = workspace.system_builds.filter(mode=built.mode).values_list("sha256", flat=True).first()
        if newest != built.sha256:
            keep(workspace, built, at=at)


def keep(
    workspace: Workspace, built: BuiltPrompt, *, at: datetime, note: str = "", by: User | None = None
) -> Outcome:
    """Keep a build. One that is the newest already is not kept twice: it takes the note."""
    if built.chars > LONGEST_KEPT:
        return "too_long"
    data = built.as_json()
    if any("\0" in text for text in _texts(data)):
        return "unwritable"  # no database takes a NUL
    with transaction.atomic():
        Workspace.objects.select_for_update().get(pk=workspace.pk)
        newest = kept_builds(workspace, built.mode).first()
        if newest is not None and newest.sha256 == built.sha256:
            if note:
                SystemBuild.objects.filter(pk=newest.pk).update(note=note, by=by)
                _record(newest, note)
            return "noted"
        made = workspace.system_builds.create(
            mode=built.mode, sha256=built.sha256, built=data, note=note, by=by, at=at
        )
        if by is not None:  # else the page kept it by itself, because it was new
            _record(made, note)
        _forget_oldest(workspace, built.mode)
    return "kept"


def _record(build: SystemBuild, note: str) -> None:
    after = {"mode": build.mode, "hash": build.sha256, "note": note}
    record(Event.BUILD_KEPT, build, name=str(build.workspace), after=after)


def build_before(workspace: Workspace, mode: PromptMode, sha256: str, now: datetime) -> SystemBuild | None:
    """What the present build is first compared with: the last one of an earlier day, else of another text."""
    midnight = timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)
    kept = kept_builds(workspace, mode)
    return kept.filter(at__lt=midnight).first() or kept.exclude(sha256=sha256).first()


def _forget_oldest(workspace: Workspace, mode: PromptMode) -> None:
    """Those without a note go first; where all others have one, the new one without a note is not kept."""
    kept = workspace.system_builds.filter(mode=mode)
    too_many = kept.count() - MOST_KEPT
    if too_many > 0:
        noted = Case(When(note="", then=0), default=1, output_field=IntegerField())
        oldest = kept.order_by(noted, "at", "pk").values_list("pk", flat=True)[:too_many]
        SystemBuild.objects.filter(pk__in=list(oldest)).delete()


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)
