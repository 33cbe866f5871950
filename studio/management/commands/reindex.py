"""`manage.py reindex`: enter every version into the index that the search in histories uses."""

from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand

from studio.models import PromptSet
from studio.models.history_index import IndexedVersion, note_versions

_AT_ONCE = 500


class Command(BaseCommand):
    """Saving keeps the index up to date; this mends it after versions came in another way, or a person's
    name changed. The studio may run meanwhile."""

    help = (
        "Enter every version into the index that the search in histories uses. The studio may run meanwhile."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        """Set by set."""
        for prompt_set in PromptSet.objects.order_by("pk"):
            note_versions(_versions(prompt_set))
            if options["verbosity"] > 0:
                self.stdout.write(f"{prompt_set.name}: {prompt_set.revision}")


def _versions(prompt_set: PromptSet) -> Iterator[IndexedVersion]:
    # Not by one long query: on SQLite an open one sees an old state, from which nothing can be written.
    versions = prompt_set.versions.select_related("author").order_by("number")
    for start in range(1, prompt_set.revision + 1, _AT_ONCE):
        for version in list(versions.filter(number__gte=start, number__lt=start + _AT_ONCE)):
            yield version.indexed
