"""`manage.py test`: pytest, in place of Django's own runner."""

from typing import Any

from django.core.management.base import BaseCommand

from studio.operations.start import run_tests


class Command(BaseCommand):
    """Run the tests."""

    help = "Run the tests; arguments are passed to pytest."

    def run_from_argv(self, argv: list[str]) -> None:
        """Everything after the name belongs to pytest, `--help` too."""
        run_tests(argv[2:])

    def handle(self, *args: Any, **options: Any) -> None:
        """The same for call_command."""
        run_tests(args)
