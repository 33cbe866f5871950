"""`manage.py link`: prints a fresh sign-in link."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import DatabaseError

from studio.access.actors import StudioCommand
from studio.access.signin import signin_link


class Command(StudioCommand):
    """Print a fresh sign-in link."""

    help = "Print a new sign-in link that works once."

    def add_arguments(self, parser: CommandParser) -> None:
        """The data folder, where it is not the usual one."""
        parser.add_argument("--data", metavar="DIR", help="folder for database, key and backups")

    def handle(self, *args: Any, **options: Any) -> None:
        """One line, so that it can be piped."""
        try:
            self.stdout.write(signin_link())
        except DatabaseError as error:
            raise CommandError("There is no database yet: start the studio first.") from error
