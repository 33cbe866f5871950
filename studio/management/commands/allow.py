"""`manage.py allow`: let the studio use a folder of workspaces, also while it runs."""

import os
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from studio.access.actors import StudioCommand
from studio.shell.data_folder import make_data_folder
from studio.workspaces.allowing import account_in_terminal, allow, every_allowed_folder, take_back
from studio.workspaces.roots import FolderRefused


class Command(StudioCommand):
    """Allow folders, take them back, or list them."""

    help = "Allow folders that contain MixSeek workspaces. Takes effect at once in a running studio."

    def add_arguments(self, parser: CommandParser) -> None:
        """Which folders, and whether they are taken back."""
        parser.add_argument(
            "folders", nargs="*", metavar="DIR", help="folders to allow; without any, lists the allowed ones"
        )
        parser.add_argument("--take-back", action="store_true", help="stop allowing these folders")
        parser.add_argument("--data", metavar="DIR", help="folder for database, key and backups")

    def handle(self, *args: Any, **options: Any) -> None:
        """One line for each folder."""
        make_data_folder(settings.STUDIO_DATA)
        try:
            for folder in options["folders"]:
                self._change(os.path.abspath(folder), taken_back=options["take_back"])
            if not options["folders"]:
                for one in every_allowed_folder():
                    self.stdout.write(f"{one.path}  {one.by}, {timezone.localtime(one.at):%Y-%m-%d %H:%M}")
        except FolderRefused as refusal:
            raise CommandError(f"{refusal.what} {refusal.advice}") from refusal

    def _change(self, folder: str, *, taken_back: bool) -> None:
        if not taken_back:
            path = allow(folder, by=account_in_terminal(), at=timezone.now())
            self.stdout.write(f"Allowed: {path}")
        elif take_back(Path(folder)):
            self.stdout.write(f"No longer allowed: {folder}")
        else:
            raise CommandError(f"{folder} was not allowed: «allow» without a folder lists the allowed ones.")
