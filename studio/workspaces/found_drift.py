"""Drift that was found: which files are out of step, so that webhooks are told once. Used by the watch."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from studio.access.webhooks import Told, tell
from studio.workspaces.models import FoundDrift
from studio.workspaces.state import PromptFileState


def note_drift(states: Sequence[PromptFileState], at: datetime) -> None:
    """Tell webhooks of files that are newly out of step. One that could not be checked stays as it was."""
    drifted = {(state.workspace.pk, str(state.path)): state for state in states}
    known = {(row.workspace_id, row.path): row for row in FoundDrift.objects.all()}
    gone = [row.pk for place, row in known.items() if place not in drifted]
    FoundDrift.objects.filter(pk__in=gone).delete()
    for place, state in drifted.items():
        mark = f"{state.kind}:{state.expected.number if state.expected else ''}"
        if state.kind == "unchecked" or (place in known and known[place].mark == mark):
            continue
        with transaction.atomic():
            FoundDrift.objects.update_or_create(
                workspace=state.workspace, path=str(state.path), defaults={"mark": mark, "found_at": at}
            )
            tell(Told.DRIFT_FOUND, _message(state), at)


def _message(state: PromptFileState) -> dict[str, object]:
    return {
        "workspace": state.workspace.slug,
        "file": state.relative,
        "state": state.kind,
        "set": state.label.prompt_set.slug if state.label else None,
        "label": state.label.name if state.label else None,
        "expected": state.expected.number if state.expected else None,
        "found": state.version.number if state.version else None,
    }
