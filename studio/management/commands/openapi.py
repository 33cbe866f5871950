"""`manage.py openapi`: write the API's OpenAPI document anew, or say whether it is as committed."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from studio.api.all_views import api
from studio.api.document import FILE, written


class Command(BaseCommand):
    """After a change of the API."""

    help = "Write studio/api/openapi.json; with --check, verify that it is up to date."

    def add_arguments(self, parser: CommandParser) -> None:
        """As Django asks for them."""
        parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if it differs")

    def handle(self, *args: Any, check: bool, **options: Any) -> None:
        """Write, or compare."""
        text = written(api)
        if not check:
            FILE.write_text(text, encoding="utf-8")
        elif not FILE.exists() or FILE.read_text(encoding="utf-8") != text:
            raise CommandError("studio/api/openapi.json is out of date: run manage.py openapi.")
