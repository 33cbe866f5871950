"""Template tags of workspaces: the sentence about a folder that is missing or not allowed."""

from typing import Any

from django import template

from studio.models import Workspace
from studio.workspaces.roots import FolderOutside, are_fixed, folder_refusal

register = template.Library()


@register.inclusion_tag("workspaces/_folder_refused.html", takes_context=True)
def folder_refused(context: template.RequestContext, workspace: Workspace) -> dict[str, Any]:
    """What stands first on each page of a workspace whose folder cannot be used; else nothing."""
    refusal = folder_refusal(workspace)
    may_be_allowed = isinstance(refusal, FolderOutside) and not are_fixed()
    return {
        "refusal": refusal,
        "workspace": workspace,
        "may_be_allowed": may_be_allowed,
        "may": context["may"],
    }
