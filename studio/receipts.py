"""Exports with their receipts, as pages list them."""

from django.db.models import Exists, OuterRef, QuerySet

from studio.models import Export, Workspace
from studio.models.exports import Outcome

NEWEST = 10


def listed() -> "QuerySet[Export]":
    """Everything that a row shows, without the files' contents; ``undone`` where the way back was taken."""
    undone = Export.objects.filter(undoes=OuterRef("pk"), receipt__outcome=Outcome.WRITTEN)
    exports: QuerySet[Export] = (
        Export.objects.select_related(
            "receipt", "workspace", "version__prompt_set", "kept_as__prompt_set", "undoes", "by"
        )
        .defer("before", "after", "undoes__before", "undoes__after")
        .annotate(undone=Exists(undone))
    )
    return exports


def newest_of(workspace: Workspace, most: int = NEWEST) -> list[Export]:
    """The newest of one workspace, for its page."""
    return list(listed().filter(workspace=workspace)[:most])
