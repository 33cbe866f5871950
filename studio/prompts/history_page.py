"""The page of a set's history: a line for each version, with its labels and what its runs scored."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.contrib.auth.models import User
from django.urls import reverse
from django.utils.translation import gettext as _

from studio.prompts.drafts import Draft
from studio.prompts.history import Entry, HistoryPage, history_page, words_of
from studio.prompts.models import PromptSet, PromptVersion
from studio.results.version_scores import VersionScore, scores_before

VERSIONS_PER_PAGE = 50


@dataclass(frozen=True)
class Line:
    """A version of the page."""

    entry: Entry
    version: PromptVersion
    number: str
    url: str
    labels: list[str]
    score: VersionScore | None
    as_first: str
    as_second: str
    """What its two buttons for a comparison say."""
    is_first: bool
    is_second: bool
    """Whether they are chosen when the page opens."""


@dataclass(frozen=True)
class HistoryLines:
    """The history before it is rendered; ``clean`` is what was asked for."""

    prompt_set: PromptSet
    person: User
    clean: dict[str, Any]

    @cached_property
    def found(self) -> HistoryPage:
        words = words_of(self.clean["q"])
        return history_page(self.prompt_set, words, before=self.clean["before"], size=VERSIONS_PER_PAGE)

    @cached_property
    def lines(self) -> list[Line]:
        labels: dict[int, list[str]] = {}
        for name, number in self.prompt_set.pointers.items():
            labels.setdefault(number, []).append(name)
        first, second = _("First: version %(number)s"), _("Second: version %(number)s")
        # The draft and the newest version, or the two newest.
        picked_first, picked_second = (0, None) if self.draft else (1, 0)
        lines = []
        for place, entry in enumerate(self.found.entries):
            number = entry.version.number
            lines.append(
                Line(
                    entry,
                    entry.version,
                    str(number),
                    reverse("version-detail", args=[self.prompt_set.slug, number]),
                    labels.get(number, []),
                    self._scores.get(number),
                    first % {"number": number},
                    second % {"number": number},
                    place == picked_first,
                    place == picked_second,
                )
            )
        return lines

    @cached_property
    def draft(self) -> Draft | None:
        """The person's draft, on the first page of all versions."""
        if self.clean["q"] or self.clean["before"]:
            return None
        return Draft.objects.unsaved(self.prompt_set, self.person)

    @cached_property
    def can_compare(self) -> bool:
        return len(self.lines) + bool(self.draft) > 1

    # --- scores --------------------------------------------------------------------------

    @cached_property
    def _scores(self) -> dict[int, VersionScore]:
        shown = [entry.version.number for entry in self.found.entries]
        return scores_before(self.prompt_set, shown, anyway=self.clean["anyway"])

    @cached_property
    def scored(self) -> bool:
        return any(line.score for line in self.lines)

    @cached_property
    def apart(self) -> bool:
        """Whether some are not compared because they were measured differently."""
        return any(score.change and score.change.basis_change for score in self._scores.values())
