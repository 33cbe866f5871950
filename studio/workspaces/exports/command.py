"""What `manage.py export` does: reading its arguments, and the lines that it prints."""

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from uuid import uuid4

from django.contrib.auth.models import User
from django.utils import timezone

from studio.access.roles import Action, require
from studio.access.signin import OPERATOR
from studio.compare.versions import unified_text
from studio.models import Export, PromptSet, PromptVersion, Workspace
from studio.shell.refusal import RequestRefused
from studio.workspaces.exports.models import Outcome
from studio.workspaces.exports.plan import Target, chosen_version, plan
from studio.workspaces.exports.receipts import listed, with_receipts
from studio.workspaces.exports.reconciling import reconcile
from studio.workspaces.exports.writing import Order, confirm
from studio.workspaces.file_kinds import WorkspaceFile, kind_of_file, prompt_files_of
from studio.workspaces.models import LABELLED
from studio.workspaces.registering import register, same_folder
from studio.workspaces.roots import allowed_folder
from studio.workspaces.state import states_of_files

Say = Callable[[str], object]
"""Prints a line."""


def version_named(what: str) -> tuple[PromptVersion, str]:
    """The version of `SET`, `SET@LABEL` or `SET@NUMBER`, and the label's name."""
    slug, _at, name = what.partition("@")
    prompt_set = PromptSet.objects.filter(slug=slug).first()
    if prompt_set is None:
        known = ", ".join(PromptSet.objects.order_by("slug").values_list("slug", flat=True)[:10])
        raise RequestRefused(404, f"There is no prompt set {slug!r}.", f"Known sets: {known or 'none yet'}.")
    if not name:
        return chosen_version(prompt_set, prompt_set.revision or None, "")
    number = re.fullmatch(r"v?([1-9][0-9]{0,8})", name, re.ASCII)
    return chosen_version(prompt_set, int(number[1]) if number else None, "" if number else name)


def person_named(name: str | None) -> User:
    """Whom the receipts name: the account of that name, else the operator's, else the only one."""
    person = User.objects.filter(username=name or OPERATOR, is_active=True).first()
    if person is None and name is None:
        people = User.objects.filter(is_active=True)
        person = people.first() if people.count() == 1 else None
    if person is None:
        raise RequestRefused(
            404, f"There is no active account {name or OPERATOR!r}.", "Name one with --user."
        )
    return person


def workspace_at(path: str, now: datetime, *, by: User, keep: bool) -> Workspace:
    """The workspace of that folder; one that is not registered is, where roots and role allow it."""
    folder = allowed_folder(str(Path(path).expanduser().absolute()) if path else path)
    known = same_folder(folder)
    if known is not None and not known.archived:
        return Workspace.objects.select_related(*LABELLED).get(pk=known.pk)
    if not keep:
        # For a look alone nothing is registered.
        return known or Workspace(slug=folder.name, name=folder.name, path=str(folder), created_at=now)
    require(by, Action.WORKSPACE)
    dialect, label = (known.dialect, known.label) if known else ("", None)
    return register(folder, name="", dialect=dialect, label=label, by=by, at=now)


def export(
    version: PromptVersion,
    label_name: str,
    workspaces: Sequence[Workspace],
    *,
    by: User,
    at: datetime,
    file: str = "",
    overwrite: bool,
    dry_run: bool,
    say: Say,
    warn: Say,
) -> bool:
    """Plan, then say what would change, or write and say what came of it; whether every file is right then.

    Raises ``Refused`` for a version that may not be exported, and the jail's errors.
    """
    reconcile(at)
    each_once = {workspace.path: workspace for workspace in workspaces}.values()
    states = states_of_files((workspace, _file(workspace, version, file)) for workspace in each_once)
    targets = plan(version, states, owner=by, today=timezone.localdate(at))
    if dry_run:
        return all([_shown(target, version, overwrite, say, warn) for target in targets])
    batch = uuid4()
    orders = [Order(target.workspace, target.hash_before, overwrite, target.state.file) for target in targets]
    confirm(version, orders, batch=batch, by=by, at=at, label_name=label_name)
    exports = with_receipts(listed().filter(batch=batch).order_by("pk"), timezone.now())
    return all([_told(made, say, warn) for made in exports])


def _file(workspace: Workspace, version: PromptVersion, name: str) -> WorkspaceFile:
    """The main file of the version's kind, or another prompt file by its name."""
    if not name:
        return kind_of_file(version.prompt_set.holds)
    files = prompt_files_of(workspace)
    states = states_of_files((workspace, file) for file in files)
    for file, state in zip(files, states, strict=True):
        if state.relative == name and version.prompt_set.file_kind.has_templates:
            return file
    known = ", ".join(state.relative for state in states)
    raise RequestRefused(
        404,
        f"{name} is no prompt file that an orchestrator of {workspace.name} reads.",
        f"Those are: {known}.",
    )


def _shown(target: Target, version: PromptVersion, overwrite: bool, say: Say, warn: Say) -> bool:
    path = str(target.state.path)
    if target.standing == "refused":
        warn(f"{path}: {target.reason} {target.advice}".strip())
        return False
    if target.standing == "same":
        say(f"{path}: holds {version} already.")
        return True
    if target.unmergeable is not None:
        warn(f"{target.unmergeable} The whole file would be replaced.")
    before = path if target.before is not None else "/dev/null"
    say(unified_text(target.diff, before, path).removesuffix("\n"))
    if target.standing == "edited" and not overwrite:
        warn(
            f"{path} holds an edit that no version has: adopt it on the workspace's page, "
            "or say --overwrite, which keeps it as a version first."
        )
        return False
    return True


def _told(made: Export, say: Say, warn: Say) -> bool:
    path = made.path
    if not hasattr(made, "receipt"):
        warn(f"{path}: not known yet whether it was written; see `manage.py drift`.")
        return False
    receipt = made.receipt
    if receipt.outcome == Outcome.WRITTEN:
        say(f"{path}: written, {made.version}, {made.hash_after[:12]}.")
        if made.kept_as:
            say(f"The edit that stood there is kept as {made.kept_as}.")
        if not receipt.owner_kept:
            warn(f"{path}: its owner could not be kept.")
    elif receipt.outcome == Outcome.UNCHANGED:
        say(f"{path}: holds {made.version} already.")
    else:
        warn(f"{path}: not written. {f'{receipt.failure}. {receipt.failure_advice}'.strip()}")
    return bool(receipt.reached)
