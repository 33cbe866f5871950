"""Tasks of runs, as far as the studio has examined the runs; no database of a workspace is opened.

Used by the search page.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Count, Max

from studio.prompts.excerpts import Excerpt, excerpt
from studio.results.models import RunResult
from studio.search.folded_texts import Matches, TextSearch

_MOST_RUNS = 5
"""Runs of one task that are listed."""

_TaskKey = tuple[str, str]


@dataclass(frozen=True)
class TaskMatch:
    """A task, and the runs that had it, the newest first."""

    line: Excerpt | None
    runs: list[RunResult]
    total: int


def search_tasks(search: TextSearch, *, start: int, size: int) -> Matches[TaskMatch]:
    """Tasks that have every word, those examined last first; each once, however many runs it had."""
    runs = RunResult.objects.filter(workspace__archived=False).exclude(task_key="")
    tasks = runs.values("task_key").annotate(newest=Max("pk"), total=Count("pk")).order_by("-newest")
    totals = {row["task_key"]: row["total"] for row in tasks}
    found = search.matches([("task", key) for key in totals], _read, start=start, size=size)
    return Matches([_match(key, totals[key], search.words) for _, key in found.items], found.next)


def _read(keys: Sequence[_TaskKey]) -> Iterable[tuple[_TaskKey, str]]:
    rows = RunResult.objects.filter(task_key__in=[key for _, key in keys]).order_by()
    for key, task in rows.values_list("task_key", "task").distinct():
        yield ("task", key), task


def _match(task_key: str, total: int, words: Sequence[str]) -> TaskMatch:
    runs = RunResult.objects.filter(task_key=task_key, workspace__archived=False)
    shown = list(runs.select_related("workspace").order_by("-pk")[:_MOST_RUNS])
    return TaskMatch(excerpt("", shown[0].task, words) if shown else None, shown, total)
