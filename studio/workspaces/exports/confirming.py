"""The confirmation of a plan: what somebody saw becomes orders. Used by the export page and the API."""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from studio.models import PromptSet, Workspace
from studio.prompts.file_kinds import FileKind
from studio.shell.refusal import RequestRefused
from studio.workspaces.exports.plan import chosen_version
from studio.workspaces.exports.writing import Order, confirm
from studio.workspaces.file_kinds import kind_of_file, prompt_files_of
from studio.workspaces.models import LABELLED

Seen = Iterable[tuple[str, str]]
"""Keys of files, each with the hash of the file as it was shown; empty for no file."""


class NothingChosen(Exception):
    """No file is to be written."""


def confirm_seen(
    prompt_set: PromptSet,
    number: int,
    label: str,
    targets: Seen,
    overwrite: Seen,
    *,
    batch: UUID,
    by: User,
    at: datetime,
) -> None:
    """Carry the plan out. Raises ``NothingChosen``, a 404 for an unknown workspace, a 409 where the label
    points elsewhere by now, and what ``confirm`` raises."""
    version, label_name = chosen_version(prompt_set, number, label)
    if version.number != number:
        raise RequestRefused(
            409,
            _("%(label)s now points to v%(number)d, so nothing was written.")
            % {"label": label_name, "number": version.number},
            _("Go back and check the changes again."),
        )
    orders = orders_of(targets, overwrite, prompt_set.holds)
    if not orders:
        raise NothingChosen
    confirm(version, orders, batch=batch, by=by, at=at, label_name=label_name)


def orders_of(targets: Seen, overwrite: Seen, holds: str) -> list[Order]:
    """What to write where, each file as it was shown; those of ``overwrite`` knowingly."""
    knowingly = dict(overwrite)
    seen = dict(targets) | knowingly
    slugs = {key.partition("@")[0] for key in seen}
    workspaces = Workspace.objects.filter(archived=False, slug__in=slugs).select_related(*LABELLED)
    files = {
        workspace.slug + file.mark: (workspace, file)
        for workspace in workspaces
        for file in (prompt_files_of(workspace) if FileKind(holds).has_templates else [kind_of_file(holds)])
    }
    if missing := seen.keys() - files.keys():
        raise RequestRefused(404, _("There is no workspace «%(slug)s».") % {"slug": min(missing)})
    return [
        Order(workspace, sha256, key in knowingly, file)
        for key, sha256 in seen.items()
        for workspace, file in [files[key]]
    ]
