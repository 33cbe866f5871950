"""`manage.py openapi`: write the API's OpenAPI document anew, or say whether it is as committed."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from studio.api.all_views import api
from studio.api.document import FILE, written


class Command(BaseCommand):
    """After a change of the API."""

    help = "Writes studio/api/openapi.json. With --check says whether it is what the code makes."

    def add_arguments(self, parser: CommandParser) -> None:
        """As Django asks for them."""
        parser.add_argument("--check", action="store_true", help="write nothing, exit 1 where it differs")

    def handle(self, *args: Any, check: bool, **options: Any) -> None:
        """Write, or compare."""
        text = written(api)
        if not check:
            FILE.write_text(text, encoding="utf-8")
        elif not FILE.exists() or FILE.read_text(encoding="utf-8") != text:
            raise CommandError("studio/api/openapi.json is not what the code makes: run manage.py openapi.")
