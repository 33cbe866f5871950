"""Roots: a workspace lies below one of the folders that are allowed, with no link on the way.

`STUDIO_WORKSPACE_ROOTS` says which; where it is not set, the demo's folder and those that were allowed since.
Used before any folder is read or written.
"""

import os
import shlex
import stat
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from builder.files.answering import answers
from studio.machines.mirror import MirrorMissing, refreshed
from studio.models import Workspace
from studio.shell.refusal import RequestRefused
from studio.shell.turns import COME_BACK_SECONDS
from studio.workspaces.allowed_folders import usable_folders

LONGEST_PATH = 1000
"""Characters; as many as a workspace's row holds."""


class FolderRefused(RequestRefused):
    """A folder that is neither read nor written; uncaught it is a page that says why."""

    def __init__(self, what: str, advice: str = "") -> None:
        super().__init__(403, what, advice)


class FolderMissing(FolderRefused):
    """There is no such folder, or not any more."""


class FolderHangs(FolderRefused):
    """A folder that does not answer, mostly one on a network; uncaught it is a page to come back to."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            _("The folder %(folder)s does not respond.") % {"folder": folder},
            _("If it is on a network, check the connection. The page works again when the folder responds."),
        )
        self.status = 503

    def page(self, request: HttpRequest) -> HttpResponse:
        """With the time for programs, too."""
        answer = super().page(request)
        answer["Retry-After"] = str(COME_BACK_SECONDS)
        return answer


class FolderOutside(FolderRefused):
    """A folder below none of the roots; ``folder`` may be allowed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        how = (
            _("The administrator can allow it with `%(setting)s` and a restart.")
            if are_fixed()
            else _("The administrator can allow it with `%(setting)s`.")
        )
        super().__init__(
            _("%(path)s is not in an allowed folder (%(roots)s).")
            % {"path": folder, "roots": _(", ").join(map(str, named_roots()))},
            how % {"setting": operator_setting(folder)},
        )


def are_fixed() -> bool:
    """Whether the environment says which folders may be used: then nobody allows any other."""
    return bool(settings.STUDIO_WORKSPACE_ROOTS)


def named_roots() -> list[Path]:
    """The roots as somebody named them."""
    if are_fixed():
        return [*settings.STUDIO_WORKSPACE_ROOTS]
    return [settings.STUDIO_DATA / "demo", *usable_folders()]


def roots() -> list[Path]:
    """The roots as they really lie: the operator may well have named a link."""
    return [_real(root) for root in named_roots()]


_reals: dict[Path, Path] = {}


def _real(root: Path) -> Path:
    """Where a root really lies; of one that does not respond, where it last did."""
    if answers(root):
        _reals[root] = Path(os.path.realpath(root))
    return _reals.get(root, root)


def allowed_folder(path_text: str) -> Path:
    """The folder of that path, once it is sure that the studio may use it; else ``FolderRefused``."""
    path = absolute(path_text)
    root, rest = _below_root(path)
    folder = root
    if not answers(root / rest):
        raise FolderHangs(root / rest)
    _require_folder(folder)
    for part in rest.parts:
        folder = folder / part
        _require_folder(folder)
    if not os.access(folder, os.R_OK | os.X_OK):
        raise FolderRefused(
            _("The studio has no read access to %(folder)s.") % {"folder": folder},
            _("Give the user that runs the studio read access, then try again."),
        )
    return folder


def require_allowed(workspace: Workspace) -> Path:
    """A registered workspace's folder, looked at anew: it may have become a link or left the roots since.

    Of one on another machine it is the copy that this server has, as new as the last report.
    """
    if not workspace.is_remote:
        return allowed_folder(workspace.path)
    try:
        return refreshed(workspace.path)
    except MirrorMissing:
        raise FolderMissing(_("Its machine has never reported it.")) from None


def folder_refusal(workspace: Workspace) -> FolderRefused | None:
    """Why a registered workspace's folder is not used; None where it is."""
    try:
        require_allowed(workspace)
    except FolderRefused as refusal:
        return refusal
    return None


def root_of(folder: Path) -> Path:
    """The root that an allowed folder lies below."""
    return next((root for root in roots() if folder.is_relative_to(root)), folder)


def is_below_roots(path: Path) -> bool:
    """Whether the roots alone would allow the path; nothing is looked at."""
    return any(path.is_relative_to(root) for root in roots())


def is_text(path: str) -> bool:
    """Whether the path is UTF-8: a folder may be called by any bytes, but no page or database takes them."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def operator_setting(folder: Path) -> str:
    """What the operator sets, or runs, so that the folder is allowed beside those that are already."""
    if not are_fixed():
        command: str = settings.ENVIRONMENT.command("allow", str(folder))
        return command
    value = os.pathsep.join(map(str, [*settings.STUDIO_WORKSPACE_ROOTS, folder]))
    return f"STUDIO_WORKSPACE_ROOTS={shlex.quote(value)}"


def absolute(text: str) -> Path:
    """The path as somebody wrote it, links and all; ``FolderRefused`` where it is none."""
    if not is_text(text):
        raise FolderRefused(
            _("The name of this folder is not UTF-8."),
            _("Give the folder a name in UTF-8, then try again."),
        )
    if not text.startswith("/"):
        raise FolderRefused(
            _("%(path)s is not a full path.") % {"path": text or "«»"},
            _("Enter the full path, beginning with a slash, as `pwd` prints it."),
        )
    if "\0" in text or len(text) > LONGEST_PATH:
        raise FolderRefused(_("This is not the path of a folder."), _("Enter the path as `pwd` prints it."))
    if ".." in text.split("/"):
        raise FolderRefused(
            _("%(path)s contains `..`.") % {"path": text},
            _("Enter the full path, beginning with a slash, as `pwd` prints it."),
        )
    # Not resolved: a link on the way is to be refused, not followed.
    return Path("/" + os.path.normpath(text).lstrip("/"))


def _below_root(path: Path) -> tuple[Path, Path]:
    for named in named_roots():
        real = _real(named)
        for root in (named, real):
            if path.is_relative_to(root):
                return real, path.relative_to(root)
    raise FolderOutside(path)


def _require_folder(folder: Path) -> None:
    try:
        mode = os.lstat(folder).st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise FolderMissing(
            _("The folder %(folder)s does not exist.") % {"folder": folder},
            _("Restore it, or correct the path."),
        ) from None
    except OSError as error:
        raise FolderRefused(
            _("%(folder)s cannot be accessed: %(reason)s")
            % {"folder": folder, "reason": error.strerror or error},
            _("Give the user that runs the studio read access, then try again."),
        ) from error
    if stat.S_ISLNK(mode):
        raise FolderRefused(
            _("%(folder)s is a symbolic link, which the studio does not follow.") % {"folder": folder},
            _("Use its target: %(target)s") % {"target": os.path.realpath(folder)},
        )
    if not stat.S_ISDIR(mode):
        raise FolderRefused(
            _("%(folder)s is not a folder.") % {"folder": folder},
            _("Choose the folder that contains `configs/` and `mixseek.db`."),
        )
