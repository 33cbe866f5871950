"""The state of a workspace's file in words. Used by ``PromptFileState``."""

from typing import TYPE_CHECKING, Literal

from django.utils.translation import gettext as _

from studio.models import PromptVersion
from studio.workspaces.roots import FolderHangs, FolderMissing

if TYPE_CHECKING:
    from studio.workspaces.state import PromptFileState

Kind = Literal["in_sync", "behind", "edited", "unknown", "missing", "broken", "unchecked"]


def title_of(state: "PromptFileState") -> str:
    """The state in one or two words."""
    if state.is_elsewhere:
        return _("Another set")
    if state.is_ahead:
        return _("File newer than the label")
    if state.refusal is not None:
        if isinstance(state.refusal, FolderHangs):
            return _("Not responding")
        return _("Folder missing") if isinstance(state.refusal, FolderMissing) else _("Not allowed")
    titles: dict[Kind, str] = {
        "in_sync": _("In sync"),
        "behind": _("File older than the label"),
        "edited": _("Edited by hand"),
        "unknown": _("Unknown"),
        "missing": _("Missing"),
        "broken": _("Broken"),
        "unchecked": _("Not checked"),
    }
    return titles[state.kind]


def summary_of(state: "PromptFileState") -> str:
    """The state in one sentence."""
    if state.refusal is not None:
        return state.refusal.what
    if state.version is not None:
        return _held_version(state, state.version)
    if state.kind == "edited" and state.last_export and state.last_export.hash_after == state.sha256:
        return _("The file is as the last undo restored it; it matches no version.")
    sentences: dict[Kind, str] = {
        "edited": _("The file was edited since the last export; it matches no version."),
        "unknown": _("The file matches no version, and the studio has never exported to it."),
        "missing": str(state.file.is_missing),
        "broken": str(state.file.is_unusable),
        "unchecked": _("The studio has not read the file."),
    }
    return sentences.get(state.kind, "")


def _held_version(state: "PromptFileState", version: PromptVersion) -> str:
    label, names = state.label, {"set": version.prompt_set.name, "number": version.number}
    if label is None:
        return _("The file is v%(number)d of «%(set)s».") % names
    names |= {"label": label.name, "wanted": label.version.number, "followed": label.prompt_set.name}
    if state.kind == "in_sync":
        return _("The file is v%(number)d of «%(set)s», as is %(label)s.") % names
    if version.prompt_set_id == label.version.prompt_set_id:
        return _("The file is v%(number)d; %(label)s is v%(wanted)d.") % names
    return _("The file is v%(number)d of «%(set)s»; %(label)s of «%(followed)s» is v%(wanted)d.") % names
