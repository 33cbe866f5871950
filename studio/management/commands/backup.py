"""`manage.py backup FILE`."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from studio.operations.backup import BackupError, back_up


class Command(BaseCommand):
    """Back up the database."""

    help = "Write a backup of the whole database to a new file; the studio may keep running."

    def add_arguments(self, parser: CommandParser) -> None:
        """The file to write."""
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--data", metavar="DIR", help="folder for database, key and backups")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make it, then say so."""
        try:
            back_up(options["file"])
        except BackupError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"The database is backed up in {options['file']}. It holds password hashes and private drafts: "
            "keep it private, or encrypt it (README, «Backups»)."
        )
