"""`manage.py export SET[@LABEL|@NUMBER] --workspace PATH`."""

import re
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError, ProgrammingError
from django.utils import timezone

from builder.errors import JailError
from studio.compare.versions import unified_text
from studio.editor.sets import reason
from studio.models import Export, PromptSet, PromptVersion, Workspace
from studio.preview.saving import Refused
from studio.shell.refusal import RequestRefused
from studio.shell.signin import OPERATOR
from studio.workspaces.exports.exporting import Order, confirm, reconcile
from studio.workspaces.exports.models import Outcome
from studio.workspaces.exports.page import chosen_version
from studio.workspaces.exports.plan import Target, plan
from studio.workspaces.exports.receipts import listed, with_receipts
from studio.workspaces.exports.tags import failure, failure_advice
from studio.workspaces.models import LABELLED
from studio.workspaces.registering import register, same_folder
from studio.workspaces.roots import allowed_folder

USAGE = 2
NOT_WRITTEN = 1


class Command(BaseCommand):
    """Export a version from the command line, as the pages do: with the same checks and receipts."""

    help = (
        "Write a version into workspaces. Exits with 0 where each file holds the version now, "
        "1 where one was not written, 2 for arguments that name nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """What, where, and how sure one is."""
        parser.add_argument(
            "what",
            metavar="SET[@LABEL|@NUMBER]",
            help="the set's address, and which version; the newest where none is named",
        )
        parser.add_argument(
            "--workspace",
            metavar="PATH",
            action="append",
            required=True,
            help="the folder of a workspace; registered if it is not yet. May be given more than once",
        )
        parser.add_argument("--dry-run", action="store_true", help="print what would change, write nothing")
        parser.add_argument(
            "--overwrite",
            action="store_true",
            help="also where somebody edited the file by hand; the edit is kept as a version first",
        )
        parser.add_argument("--user", metavar="NAME", help=f"whom the receipt names ({OPERATOR})")
        parser.add_argument("--data", metavar="DIR", help="folder for database, key and backups")

    def handle(self, *args: Any, **options: Any) -> None:
        """Plan, then print or write."""
        now = timezone.now()
        try:
            version, label_name = _version(options["what"])
            person = _person(options["user"])
            workspaces = [_workspace(path, now, keep=not options["dry_run"]) for path in options["workspace"]]
        except RequestRefused as problem:
            raise CommandError(f"{problem.what} {problem.advice}".strip(), returncode=USAGE) from problem
        except (OperationalError, ProgrammingError) as error:
            raise CommandError(
                "There is no database yet: start the studio first.", returncode=USAGE
            ) from error
        try:
            reconcile(now)
            made = plan(
                version,
                {each.path: each for each in workspaces}.values(),
                owner=person,
                today=timezone.localdate(now),
            )
            if made.errors:
                raise Refused(list(made.errors))
            if options["dry_run"]:
                done = [self._show(target, version, options["overwrite"]) for target in made.targets]
            else:
                batch = uuid4()
                orders = [
                    Order(each.workspace, each.hash_before, options["overwrite"]) for each in made.targets
                ]
                confirm(version, orders, batch=batch, by=person, at=now, label_name=label_name)
                exports = with_receipts(listed().filter(batch=batch).order_by("pk"), timezone.now())
                done = [self._tell(export) for export in exports]
        except Refused as refused:
            raise CommandError(
                f"{version} cannot be exported. {reason(refused)}", returncode=NOT_WRITTEN
            ) from refused
        except JailError as error:
            raise CommandError(f"{reason(error)} Nothing was written.", returncode=NOT_WRITTEN) from error
        if not all(done):
            raise SystemExit(NOT_WRITTEN)

    def _show(self, target: Target, version: PromptVersion, overwrite: bool) -> bool:
        path = str(target.state.path)
        if target.standing == "refused":
            self.stderr.write(f"{path}: {target.reason} {target.advice}".strip())
            return False
        if target.standing == "same":
            self.stdout.write(f"{path}: holds {version} already.")
            return True
        if target.unmergeable is not None:
            self.stderr.write(f"{target.unmergeable} The whole file would be replaced.")
        before = path if target.before is not None else "/dev/null"
        self.stdout.write(unified_text(target.diff, before, path), ending="")
        if target.standing == "edited" and not overwrite:
            self.stderr.write(
                f"{path} holds an edit that no version has: adopt it on the workspace's page, "
                "or say --overwrite, which keeps it as a version first."
            )
            return False
        return True

    def _tell(self, export: Export) -> bool:
        if not hasattr(export, "receipt"):
            self.stderr.write(f"{export.path}: not known yet whether it was written; see `manage.py drift`.")
            return False
        outcome = export.receipt.outcome
        if outcome == Outcome.WRITTEN:
            self.stdout.write(f"{export.path}: written, {export.version}, {export.hash_after[:12]}.")
            if export.kept_as:
                self.stdout.write(f"The edit that stood there is kept as {export.kept_as}.")
            if not export.receipt.owner_kept:
                self.stderr.write(f"{export.path}: its owner could not be kept.")
        elif outcome == Outcome.UNCHANGED:
            self.stdout.write(f"{export.path}: holds {export.version} already.")
        else:
            said = f"{failure(export.receipt)}. {failure_advice(export.receipt)}".strip()
            self.stderr.write(f"{export.path}: not written. {said}")
        return export.receipt.reached


def _version(what: str) -> tuple[PromptVersion, str]:
    slug, _at, name = what.partition("@")
    prompt_set = PromptSet.objects.filter(slug=slug).first()
    if prompt_set is None:
        known = ", ".join(PromptSet.objects.order_by("slug").values_list("slug", flat=True)[:10])
        raise RequestRefused(404, f"There is no prompt set {slug!r}.", f"Known sets: {known or 'none yet'}.")
    if not name:
        return chosen_version(prompt_set, prompt_set.revision or None, "")
    number = re.fullmatch(r"v?([1-9][0-9]{0,8})", name, re.ASCII)
    return chosen_version(prompt_set, int(number[1]) if number else None, "" if number else name)


def _person(name: str | None) -> User:
    found = User.objects.filter(username=name or OPERATOR, is_active=True).first()
    if found is None and name is None:
        people = User.objects.filter(is_active=True)
        found = people.first() if people.count() == 1 else None
    if found is None:
        raise RequestRefused(
            404, f"There is no active account {name or OPERATOR!r}.", "Name one with --user."
        )
    return found


def _workspace(path: str, now: datetime, *, keep: bool) -> Workspace:
    """The workspace of that folder; one that is not registered is, where the roots allow it."""
    folder = allowed_folder(str(Path(path).expanduser().absolute()) if path else path)
    known = same_folder(folder)
    labelled = Workspace.objects.select_related(*LABELLED)
    if known is not None and not known.archived:
        return labelled.get(pk=known.pk)
    if not keep:
        # For a look alone nothing is registered.
        return known or Workspace(slug=folder.name, name=folder.name, path=str(folder), created_at=now)
    dialect, label = (known.dialect, known.label) if known else ("mixseek", None)
    return register(folder, name="", dialect=dialect, label=label, at=now)
