"""Pages of a set's history, the newest version first: all versions, or those that a search finds.

Used by the page of a set.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from studio.prompts.excerpts import Excerpt, Part, excerpt, marked
from studio.prompts.history_index import Notes
from studio.prompts.models import PromptSet, PromptVersion
from studio.prompts.texts import TEXT_FIELDS, fold

MOST_WORDS = 8
# What one page may cost at most, whatever was asked: the rest is a click away.
_MOST_READ = 160
_MOST_LOOKUPS = 80
_READ_AHEAD = 64

Cut = Callable[[str, str, Sequence[str]], Excerpt | None]


@dataclass(frozen=True)
class Entry:
    """A version, and where the words of a search are in it."""

    version: PromptVersion
    message: list[Part]
    author: list[Part]
    excerpts: list[Excerpt]

    @classmethod
    def of(cls, version: PromptVersion, words: Sequence[str], cut: Cut = excerpt) -> "Entry":
        """A version with the folded words marked; ``cut`` makes the excerpt of a text."""
        cuts = [cut(kind, text, words) for kind, text in version.templates.parts.items()]
        return cls(
            version,
            marked(version.message, words),
            marked(version.author.get_username(), words),
            [each for each in cuts if each is not None],
        )


@dataclass(frozen=True)
class HistoryPage:
    """A page of a history."""

    entries: list[Entry]
    older: int | None = None
    """Where the next page begins, as its ``before``."""
    stopped: bool = False
    """The search took its share of work before the page was full; the next page goes on with it."""


def words_of(query: str) -> list[str]:
    """The words to find, each folded; quotes keep words together: ``"first draft" yuki``."""
    words = (
        " ".join((quoted or plain).split())
        for quoted, plain in re.findall(r'"([^"]*)"|([^\s"]+)', fold(query))
    )
    return list(dict.fromkeys(word for word in words if word))


def history_page(
    prompt_set: PromptSet, words: list[str] | None = None, *, before: int | None, size: int
) -> HistoryPage:
    """The versions older than ``before`` (the newest without it) that have every one of the words."""
    return _Search(prompt_set, words).page(before, size) if words else _all(prompt_set, before, size)


def _all(prompt_set: PromptSet, before: int | None, size: int) -> HistoryPage:
    versions = prompt_set.versions.select_related("author").defer(*TEXT_FIELDS.values())
    if before:
        versions = versions.filter(number__lt=before)
    # One row more than shown tells whether there is an older page, without counting them all.
    rows = list(versions[: size + 1])
    entries = [Entry(row, [Part(row.message)], [Part(row.author.get_username())], []) for row in rows[:size]]
    return HistoryPage(entries, rows[size - 1].number if len(rows) > size else None)


class _Search:
    def __init__(self, prompt_set: PromptSet, words: list[str]) -> None:
        self._prompt_set = prompt_set
        self._words = words
        self._notes = {word: Notes(prompt_set.pk, word) for word in words}
        self._anywhere = Notes(prompt_set.pk, "")
        self._read: dict[int, PromptVersion] = {}
        self._reads = 0
        self._folded: dict[str, str] = {}
        self._excerpts: dict[tuple[str, str], Excerpt | None] = {}

    def page(self, before: int | None, size: int) -> HistoryPage:
        newest = self._prompt_set.revision
        number = min(before - 1, newest) if before else newest
        matches: list[PromptVersion] = []
        while number > 0 and len(matches) <= size:
            if self._spent:
                return HistoryPage([self._entry(version) for version in matches], number + 1, stopped=True)
            version = self._version(number, ahead=len(matches))
            missing = [word for word in self._words if not self._has(version, word)]
            if missing:
                # A word that this version lacks: the versions down to its next note lack it too.
                noted = min(self._notes[word].newest_below(number) for word in missing)
                number = max(noted, self._anywhere.newest_below(number))
            else:
                matches.append(version)
                number -= 1
        more = len(matches) > size
        entries = [self._entry(version) for version in matches[:size]]
        return HistoryPage(entries, matches[size - 1].number if more else None)

    @property
    def _spent(self) -> bool:
        lookups = sum(notes.lookups for notes in self._notes.values())
        return self._reads >= _MOST_READ or lookups >= _MOST_LOOKUPS

    def _version(self, number: int, ahead: int) -> PromptVersion:
        if number not in self._read:
            # Where versions matched, those below are likely to as well; where notes are left, these are next.
            wanted = set(range(number, max(number - min(1 + 6 * ahead, _READ_AHEAD), 0), -1))
            for notes in self._notes.values():
                for noted in notes.next_few(_READ_AHEAD // 2 // len(self._words)):
                    wanted |= {noted, noted - 1}
            wanted -= self._read.keys()
            self._reads += len(wanted)
            versions = self._prompt_set.versions.filter(number__in=wanted).select_related("author")
            self._read |= {version.number: version for version in versions}
        return self._read[number]

    def _has(self, version: PromptVersion, word: str) -> bool:
        texts = (version.message, version.author.get_username(), *version.templates.parts.values())
        return any(word in self._fold(text) for text in texts)

    # Versions of one page have most of their texts in common: each is folded and cut only once.
    def _fold(self, text: str) -> str:
        if text not in self._folded:
            self._folded[text] = fold(text)
        return self._folded[text]

    def _excerpt(self, kind: str, text: str, words: Sequence[str]) -> Excerpt | None:
        if (kind, text) not in self._excerpts:
            self._excerpts[kind, text] = excerpt(kind, text, words)
        return self._excerpts[kind, text]

    def _entry(self, version: PromptVersion) -> Entry:
        return Entry.of(version, self._words, self._excerpt)
