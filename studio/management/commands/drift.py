"""`manage.py drift`: for a pipeline, whether every workspace holds what it should."""

import os
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError
from django.utils import timezone

from studio.workspaces.drift import FORMATS, UnknownWorkspace, chosen
from studio.workspaces.exports.reconciling import reconcile
from studio.workspaces.state import every_state_of


class Command(BaseCommand):
    """Compare workspaces with the labels that they follow."""

    help = (
        "List workspaces whose file differs from the label they follow."
        " Exit codes: 0 none, 1 at least one, 2 wrong usage."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Which workspaces, and for whom the answer is."""
        parser.add_argument(
            "workspaces",
            nargs="*",
            metavar="WORKSPACE",
            help="a workspace's address in the studio, or its folder (default: all)",
        )
        parser.add_argument(
            "--format",
            choices=list(FORMATS),
            default="text",
            help="text, JSON, or annotations for a code host",
        )
        parser.add_argument("--data", metavar="DIR", help="folder for database, key and backups")

    def handle(self, *args: Any, **options: Any) -> None:
        """No server need run; files are read in the jail, as everywhere."""
        try:
            # What a crash left open is settled first: whether a file was edited depends on its last export.
            reconcile(timezone.now())
            states = every_state_of(chosen(options["workspaces"]))
        except UnknownWorkspace as error:
            raise CommandError(str(error), returncode=2) from error
        except DatabaseError as error:
            raise CommandError("There is no database yet: start the studio first.", returncode=2) from error
        self.stdout.write(FORMATS[options["format"]](states, Path(os.getcwd())), ending="")
        if not all(state.in_step for state in states):
            sys.exit(1)
