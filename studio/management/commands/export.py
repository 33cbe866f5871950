"""`manage.py export SET[@LABEL|@NUMBER] --workspace PATH`."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import OperationalError, ProgrammingError
from django.utils import timezone

from builder.errors import JailError
from studio.access.actors import StudioCommand
from studio.access.roles import Action, require
from studio.access.signin import OPERATOR
from studio.editor.sets import reason
from studio.preview.saving import Refused
from studio.shell.refusal import RequestRefused
from studio.workspaces.exports.command import export, person_named, version_named, workspace_at

USAGE = 2
NOT_WRITTEN = 1


class Command(StudioCommand):
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
            help="the set's address, and the version (default: the newest)",
        )
        parser.add_argument(
            "--workspace",
            metavar="PATH",
            action="append",
            required=True,
            help="the folder of a workspace; registered if necessary. Can be repeated",
        )
        parser.add_argument(
            "--file",
            default="",
            help="another prompt file, which an orchestrator file of the workspace refers to",
        )
        parser.add_argument("--dry-run", action="store_true", help="print what would change; write nothing")
        parser.add_argument(
            "--overwrite",
            action="store_true",
            help="also if the file was edited by hand; the edit is saved as a version first",
        )
        parser.add_argument(
            "--user", metavar="NAME", help=f"the user named in the export record (default: {OPERATOR})"
        )
        parser.add_argument("--data", metavar="DIR", help="folder for database, key and backups")

    def handle(self, *args: Any, **options: Any) -> None:
        """Plan, then print or write."""
        now, dry_run = timezone.now(), options["dry_run"]
        try:
            version, label_name = version_named(options["what"])
            person = person_named(options["user"])
            require(person, Action.EXPORT)
            workspaces = [
                workspace_at(path, now, by=person, keep=not dry_run) for path in options["workspace"]
            ]
        except RequestRefused as refused:
            raise CommandError(f"{refused.what} {refused.advice}".strip(), returncode=USAGE) from refused
        except (OperationalError, ProgrammingError) as error:
            raise CommandError(
                "There is no database yet: start the studio first.", returncode=USAGE
            ) from error
        try:
            is_right = export(
                version,
                label_name,
                workspaces,
                by=person,
                at=now,
                file=options["file"],
                overwrite=options["overwrite"],
                dry_run=dry_run,
                say=self.stdout.write,
                warn=self.stderr.write,
            )
        except RequestRefused as refused:
            raise CommandError(f"{refused.what} {refused.advice}".strip(), returncode=USAGE) from refused
        except Refused as refused:
            raise CommandError(
                f"{version} cannot be exported. {reason(refused)}", returncode=NOT_WRITTEN
            ) from refused
        except JailError as error:
            raise CommandError(f"{reason(error)} Nothing was written.", returncode=NOT_WRITTEN) from error
        if not is_right:
            raise SystemExit(NOT_WRITTEN)
