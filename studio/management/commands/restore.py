"""`manage.py restore FILE`."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from studio.access.actors import StudioCommand
from studio.access.audit import Event, record
from studio.operations.backup import BackupError, check, restore
from studio.operations.database import bring_up_to_date, is_empty, keep_copy
from studio.shell.data_folder import make_data_folder


class Command(StudioCommand):
    """Restore the database."""

    help = "Check a backup and restore it; a copy of the current database is kept."

    def add_arguments(self, parser: CommandParser) -> None:
        """The file to read."""
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--data", metavar="DIR", help="folder for database, key and backups")

    def handle(self, *args: Any, **options: Any) -> None:
        """Check first, so that a bad file costs nothing; then keep, replace, migrate."""
        from django.conf import settings

        make_data_folder(settings.STUDIO_DATA)
        try:
            check(options["file"])
            if not is_empty():
                self.stdout.write(f"A copy of the previous database was saved to {keep_copy('restore')}.")
            manifest = restore(options["file"])
            bring_up_to_date()
            record(Event.DATABASE_RESTORED, name=str(options["file"]), after={"made_at": manifest.made_at})
        except BackupError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"The database of {manifest.made_at:%Y-%m-%d %H:%M} UTC is restored. Everybody signs in anew."
        )
