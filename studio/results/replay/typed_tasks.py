"""Tasks that somebody typed for runs that are not over: kept with the sign-in, stored nowhere else."""

from django.http import HttpRequest

from studio.models import Workspace

MOST_KEPT = 3
"""Of one browser; the oldest goes first."""
_KEY = "typed-tasks"


def typed_task(request: HttpRequest, workspace: Workspace, execution_id: str) -> str:
    """What this browser was told that the run's teams were asked to do."""
    kept: dict[str, str] = request.session.get(_KEY, {})
    return kept.get(_name(workspace, execution_id), "")


def keep_task(request: HttpRequest, workspace: Workspace, execution_id: str, task: str) -> None:
    """Remember it for the pages to come; a blank one is forgotten."""
    kept: dict[str, str] = dict(request.session.get(_KEY, {}))
    kept.pop(_name(workspace, execution_id), None)
    if task.strip():
        kept[_name(workspace, execution_id)] = task
    request.session[_KEY] = dict(list(kept.items())[-MOST_KEPT:])


def _name(workspace: Workspace, execution_id: str) -> str:
    return f"{workspace.pk} {execution_id}"
