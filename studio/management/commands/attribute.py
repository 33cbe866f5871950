"""`manage.py attribute`: find out which version produced which run."""

import sys
import time
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from studio.models import Workspace
from studio.operations.watching import examining
from studio.results.attribution import AttributionPass, Progress, attribute_workspace
from studio.shell.claims import claimed
from studio.workspaces.drift import UnknownWorkspace, chosen

_WIDTH = 30
_PAUSE = 0.5


class Command(BaseCommand):
    """Examine what ran in the workspaces; what is known already is not examined again."""

    help = "Find the prompt version that produced each run. The studio also does this automatically."

    def add_arguments(self, parser: CommandParser) -> None:
        """Which workspaces."""
        parser.add_argument(
            "workspaces",
            nargs="*",
            metavar="WORKSPACE",
            help="a workspace's address in the studio, or its folder (default: all)",
        )
        parser.add_argument("--data", metavar="DIR", help="folder for database, key and backups")

    def handle(self, *args: Any, **options: Any) -> None:
        """One workspace after the other; a workspace that cannot be read stops none of the others."""
        try:
            workspaces = chosen(options["workspaces"])
        except UnknownWorkspace as error:
            raise CommandError(str(error), returncode=2) from error
        problems = 0
        for workspace in workspaces:
            done = _examined(workspace)
            self.stdout.write(f"{workspace.slug}: {done.runs} runs, {done.rounds} rounds examined")
            if done.problem is not None:
                problems += 1
                self.stderr.write(f"{workspace.slug}: {done.problem.text()}")
        if problems:
            sys.exit(1)


def _examined(workspace: Workspace) -> AttributionPass:
    """Wait for a server that is at it: what it has examined need not be examined again."""
    while True:
        with claimed(examining(workspace)) as mine:
            if mine:
                return attribute_workspace(workspace, timezone.now(), _bar(workspace.slug))
        time.sleep(_PAUSE)


def _bar(name: str) -> Progress:
    """Drawn on a terminal only; a log needs no bar."""

    def draw(done: int, total: int) -> None:
        full = _WIDTH * done // total
        end = "\n" if done == total else ""
        bar = "█" * full + "·" * (_WIDTH - full)
        print(f"\r{name} {bar} {done}/{total}", end=end, file=sys.stderr, flush=True)

    return draw if sys.stderr.isatty() else lambda done, total: None
