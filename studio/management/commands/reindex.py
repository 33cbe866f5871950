"""`manage.py reindex`: enter every version into the index that the search in histories uses."""

from typing import Any

from django.core.management.base import BaseCommand
from django.db import transaction

from studio.models import PromptSet
from studio.prompts.history_index import note_versions

_AT_ONCE = 500


class Command(BaseCommand):
    """Saving keeps the index up to date; this mends it after versions came in another way, or a person's
    name changed. The studio may run meanwhile."""

    help = (
        "Enter every version into the index that the search in histories uses. The studio may run meanwhile."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        """Set by set, some versions at a time."""
        for prompt_set in PromptSet.objects.order_by("pk"):
            for start in range(1, prompt_set.revision + 1, _AT_ONCE):
                # With the first of the next ones, which tells what the last of these lost.
                some = prompt_set.versions.filter(number__range=(start, start + _AT_ONCE))
                with transaction.atomic():
                    note_versions(some.select_related("author").order_by("number"))
            if options["verbosity"] > 0:
                self.stdout.write(f"{prompt_set.name}: {prompt_set.revision}")
