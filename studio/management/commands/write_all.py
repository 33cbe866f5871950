"""`manage.py write_all FOLDER`."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from studio.access.actors import StudioCommand
from studio.access.audit import Event, record
from studio.everything.places import EverythingError, new_folder
from studio.everything.writing import write_everything


class Command(StudioCommand):
    """Write everything as plain files."""

    help = "Write everything as plain files to a new folder; the studio may keep running."

    def add_arguments(self, parser: CommandParser) -> None:
        """The folder to make."""
        parser.add_argument("folder", type=Path, metavar="FOLDER")
        parser.add_argument("--data", metavar="DIR", help="folder for database, key and backups")

    def handle(self, *args: Any, **options: Any) -> None:
        """Write, then say how much."""
        try:
            with new_folder(options["folder"]) as target:
                counts = write_everything(target, timezone.now())
        except EverythingError as error:
            raise CommandError(str(error)) from error
        record(Event.EVERYTHING_WRITTEN, name=str(options["folder"]))
        self.stdout.write(
            f"{counts['sets']} sets with {counts['versions']} versions, and everything else, are in "
            f"{options['folder']}; README.txt there says what is where."
        )
