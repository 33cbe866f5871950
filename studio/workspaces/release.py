"""The MixSeek release that a workspace runs, as far as its folder tells: the package installed there.

What the prompts of its runs show counts more; attribution looks at those and keeps what was found.
"""

import re

from builder.errors import BuilderError
from builder.orchestrators.installed import version_in
from builder.template.dialect import MIXSEEK, MIXSEEK_A15, MIXSEEK_A18, Dialect
from studio.machines.models import RemoteWorkspace
from studio.prompts.models import PromptSet
from studio.workspaces.models import FoundBy, Workspace
from studio.workspaces.roots import FolderRefused, require_allowed, root_of

_ALPHA = re.compile(r"0\.1\.0a([0-9]{1,4})")
_ENVIRONMENTS = (".venv", "venv")


def format_of_version(version: str) -> Dialect:
    """The format of a released version. Between two that are known it is the earlier one's, but 0.1.0a17 has
    the later one's: its documents call «0.1.0a16 and before» the old way.

    >>> format_of_version("0.1.0a17").name
    'mixseek-0.1.0a18'
    """
    alpha = _ALPHA.fullmatch(version)
    number = int(alpha[1]) if alpha else 10_000
    return MIXSEEK_A15 if number < 17 else MIXSEEK_A18 if number < 19 else MIXSEEK


def installed_version(workspace: Workspace) -> str:
    """The version of MixSeek in a virtual environment of the folder, or of one above it within the roots;
    empty where none is seen. Only names of folders are read."""
    try:
        folder = require_allowed(workspace)
    except (FolderRefused, BuilderError):
        return ""
    if workspace.is_remote:
        return str(RemoteWorkspace.objects.get(workspace=workspace.pk).facts.get("mixseek", ""))
    root = root_of(folder)
    while folder.is_relative_to(root):
        for name in _ENVIRONMENTS:
            if version := version_in(folder / name):
                return version
        if folder == folder.parent:
            break
        folder = folder.parent
    return ""


def other_releases(prompt_set: PromptSet) -> list[Workspace]:
    """Workspaces that follow a set and run another release than its previews are made for."""
    followers = Workspace.objects.filter(label__prompt_set=prompt_set, archived=False)
    return [workspace for workspace in followers if workspace.spoken.name != prompt_set.dialect]


def keep_found(workspace: Workspace, dialect: Dialect | None, by: str, where: str) -> None:
    """Note what was found out, where that is another thing than before."""
    name = dialect.name if dialect is not None else ""
    known = (workspace.found_dialect, workspace.found_by, workspace.found_in)
    if known != (name, by, where):
        workspace.found_dialect, workspace.found_by, workspace.found_in = name, by, where
        Workspace.objects.filter(pk=workspace.pk).update(found_dialect=name, found_by=by, found_in=where)


def find_package(workspace: Workspace) -> None:
    """What the installed package says; it leaves what prompts showed."""
    if workspace.found_by == FoundBy.PROMPTS:
        return
    version = installed_version(workspace)
    dialect = format_of_version(version) if version else None
    keep_found(workspace, dialect, FoundBy.PACKAGE if version else "", version)
