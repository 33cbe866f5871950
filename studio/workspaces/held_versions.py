"""What the studio knows about the files of workspaces: the versions they may hold, and the last exports.

Used by the states of files, which are looked up together.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.db.models import Max, Q

from studio.models import Export, PromptVersion
from studio.workspaces.exports.models import Outcome

if TYPE_CHECKING:
    from studio.workspaces.state import PromptFileState


def candidates_for(states: Sequence["PromptFileState"]) -> list[PromptVersion]:
    """The versions that the files may hold, looked up together."""
    read = [state for state in states if state.templates]
    if not read:
        return []
    hashes = {state.templates.content_hash for state in read if state.templates}
    labels = [label for state in read if (label := state.label)]
    matching = PromptVersion.objects.filter(content_hash__in=hashes)
    # The default templates may be version 1 of a thousand sets: the newest will do.
    newest = matching.values("content_hash").annotate(newest=Max("pk")).values_list("newest", flat=True)
    of_followed = (
        matching.filter(prompt_set__in={label.prompt_set_id for label in labels})
        .values("content_hash", "prompt_set")
        .annotate(newest=Max("pk"))
        .values_list("newest", flat=True)
    )
    pointed_at = Q(pk__in={label.version_id for label in labels}, content_hash__in=hashes)
    return list(
        PromptVersion.objects.filter(Q(pk__in=newest) | Q(pk__in=of_followed) | pointed_at)
        .select_related("prompt_set")
        .prefetch_related("labels")
        .order_by("pk")
    )


def held_version(state: "PromptFileState", candidates: Sequence[PromptVersion]) -> PromptVersion | None:
    """Of equal versions the one that the label points at, else of its set, else the newest."""
    if state.templates is None:
        return None
    content_hash, label = state.templates.content_hash, state.label
    equal = [version for version in candidates if version.content_hash == content_hash]
    if label is not None:
        of_set = [version for version in equal if version.prompt_set_id == label.prompt_set_id]
        equal = [version for version in of_set if version.pk == label.version_id] or of_set or equal
    return equal[-1] if equal else None


def place_of(state: "PromptFileState") -> tuple[int, str, str]:
    return state.workspace.pk, state.file.holds, state.relative


def last_exports(states: Sequence["PromptFileState"]) -> dict[tuple[int, str, str], Export]:
    reached = Export.objects.filter(
        workspace__in={state.workspace.pk for state in states},
        receipt__outcome__in=(Outcome.WRITTEN, Outcome.UNCHANGED),
    ).order_by()
    newest = reached.values("workspace", "holds", "path").annotate(newest=Max("pk"))
    exports = (
        Export.objects.filter(pk__in=newest.values_list("newest", flat=True))
        .select_related("workspace", "version__prompt_set", "receipt", "by")
        .defer("before", "after")
        .order_by("pk")
    )
    return {(export.workspace_id, export.holds, export.file): export for export in exports}
