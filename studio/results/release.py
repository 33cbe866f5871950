"""The release that a workspace runs, by the prompts that its runs delivered, the newest run first. Called
when its runs were examined; `studio.workspaces.release` knows the installed package."""

from builder.template.dialect import RELEASES
from studio.models import RunResult, Workspace
from studio.workspaces.models import FoundBy
from studio.workspaces.release import find_package, format_of_version, installed_version, keep_found

_MOST_LOOKED_AT = 50


def find_release(workspace: Workspace) -> None:
    """Keep with the workspace what its runs show, else what is installed there."""
    runs = RunResult.objects.filter(workspace=workspace, formats__isnull=False).order_by("-started_at", "-pk")
    for execution_id, names in runs.values_list("execution_id", "formats")[:_MOST_LOOKED_AT]:
        formats = [dialect for dialect in RELEASES if dialect.name in (names or ())]
        if 0 < len(formats) < len(RELEASES):
            version = installed_version(workspace) if len(formats) > 1 else ""
            installed = format_of_version(version) if version else formats[0]
            found = installed if installed in formats else formats[0]
            keep_found(workspace, found, FoundBy.PROMPTS, execution_id)
            return
    if workspace.found_by == FoundBy.PROMPTS:
        keep_found(workspace, None, "", "")
    find_package(workspace)
