"""`manage.py password NAME`: prints a link at which an account's password can be set."""

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser
from django.db import DatabaseError

from studio.access.actors import StudioCommand
from studio.access.signin import reset_link


class Command(StudioCommand):
    """Print a link to set a password with."""

    help = "Print a link for setting the account's password; it works once, within a day."

    def add_arguments(self, parser: CommandParser) -> None:
        """Whose password."""
        parser.add_argument("name", metavar="NAME", help="the name of the account")
        parser.add_argument("--data", metavar="DIR", help="folder for database, key and backups")

    def handle(self, *args: Any, **options: Any) -> None:
        """One line, so that it can be piped."""
        try:
            person = User.objects.filter(username=options["name"], is_active=True).first()
        except DatabaseError as error:
            raise CommandError("There is no database yet: start the studio first.") from error
        if person is None:
            raise CommandError(f"There is no account {options['name']!r} that can sign in.")
        self.stdout.write(reset_link(person))
