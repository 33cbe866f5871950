"""`manage.py read_all FOLDER`."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from studio.access.actors import StudioCommand
from studio.everything.places import EverythingError, opened
from studio.everything.reading import read_everything
from studio.operations.backup import BackupError
from studio.operations.database import bring_up_to_date
from studio.shell.data_folder import make_data_folder


class Command(StudioCommand):
    """Read everything back."""

    help = "Import what «write_all» or the download button wrote into an empty studio; all or nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        """The folder or the zip."""
        parser.add_argument("folder", type=Path, metavar="FOLDER", help="the folder, or the zip")
        parser.add_argument("--data", metavar="DIR", help="folder for database, key and backups")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make the database where there is none; then read."""
        from django.conf import settings

        make_data_folder(settings.STUDIO_DATA)
        try:
            bring_up_to_date()
            with opened(options["folder"]) as source:
                counts = read_everything(source)
        except (BackupError, EverythingError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"{counts.get('sets', 0)} sets with {counts.get('versions', 0)} versions are read, and all else. "
            "People have no password yet: «changepassword NAME» sets one, «link» prints a way in."
        )
