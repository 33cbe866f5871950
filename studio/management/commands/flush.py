"""``manage.py flush``: as Django's, for a database whose immutable rows refuse to go one by one."""

from typing import Any

from django.core.management.commands import flush
from django.db import connections

from studio.prompts.language_models import LanguageModel, missing
from studio.shell.immutable import triggers_lifted


class Command(flush.Command):
    """Lifts the triggers for as long as the flush takes, and puts back what a new studio begins with.
    Tests with threads of their own empty their tables through it."""

    def handle(self, **options: Any) -> None:
        """Flush the database that ``--database`` names."""
        with triggers_lifted(connections[options["database"]]):
            super().handle(**options)
        LanguageModel.objects.bulk_create(LanguageModel(**figures) for figures in missing())
