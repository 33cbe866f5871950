"""Versions of all sets by what they say: text, message or author. Used by the search page.

First the newest and the labelled versions of each set, whose texts are at hand. Then the versions before
them, in sets whose index notes the words; no text is read of a set that never had them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from django.db.models import F

from studio.prompts.history import Entry, history_page
from studio.prompts.history_index import sets_noting
from studio.prompts.labels import Label
from studio.prompts.models import PromptSet, PromptVersion
from studio.search.folded_texts import Matches, TextSearch

_MOST_HISTORIES = 12
"""Sets whose older versions one page looks through."""

_VersionKey = tuple[str, int]


@dataclass(frozen=True)
class SetMatches:
    """A set, and versions of it that have the words."""

    prompt_set: PromptSet
    entries: list[Entry]
    older: bool
    """Neither its newest version nor a labelled one has them."""


def search_versions(search: TextSearch, *, start: int, size: int) -> Matches[SetMatches]:
    """Versions that have every word, at most ``size``; ``start`` counts heads, then sets."""
    heads = _Heads.read()
    sets: list[SetMatches] = []
    if start < len(heads.keys):
        found = search.matches(heads.keys, _read, start=start, size=size)
        sets = _entries(found.items, search.words)
        if found.next is not None:
            return Matches(sets, found.next)
    begin = max(start - len(heads.keys), 0)
    shown = sum(len(each.entries) for each in sets)
    older = _older(search, heads, begin, size - shown)
    return Matches(sets + older.items, None if older.next is None else len(heads.keys) + older.next)


@dataclass(frozen=True)
class _Heads:
    """The newest and the labelled versions, set by set: those changed last first, archived ones last."""

    by_set: dict[int, list[_VersionKey]]
    """The newest first."""
    keys: list[_VersionKey]

    @classmethod
    def read(cls) -> "_Heads":
        in_order = PromptSet.objects.filter(revision__gt=0).order_by("archived", "-changed_at", "pk")
        by_set: dict[int, list[_VersionKey]] = {key: [] for key in in_order.values_list("pk", flat=True)}
        newest = PromptVersion.objects.filter(number=F("prompt_set__revision")).order_by()
        labelled = Label.objects.order_by("-version__number")
        for rows in (newest.values_list("prompt_set", "pk"), labelled.values_list("prompt_set", "version")):
            for prompt_set, version in rows:
                versions = by_set.get(prompt_set, [])
                if ("version", version) not in versions:
                    versions.append(("version", version))
        return cls(by_set, [key for versions in by_set.values() for key in versions])


def _older(search: TextSearch, heads: _Heads, begin: int, size: int) -> Matches[SetMatches]:
    """Sets of which only an older version has the words; places count sets."""
    found: list[SetMatches] = []
    order = list(heads.by_set)
    noted = [sets_noting(word) for word in search.words]
    anywhere = sets_noting("")
    histories = 0
    for place in range(begin, len(order)):
        versions = heads.by_set[order[place]]
        if not any(order[place] in sets for sets in (*noted, anywhere)):
            continue
        if len(found) == size or histories == _MOST_HISTORIES or search.left <= 0:
            return Matches(found, place)
        texts = search.folded(versions, _read)
        if any(all(word in text for word in search.words) for text in texts.values()):
            continue  # shown already
        newest = texts.get(versions[0], "")
        if order[place] in anywhere or all(
            word in newest or order[place] in sets for word, sets in zip(search.words, noted, strict=True)
        ):
            histories += 1
            prompt_set = PromptSet.objects.get(pk=order[place])
            page = history_page(prompt_set, list(search.words), before=None, size=1)
            if page.entries:
                found.append(SetMatches(prompt_set, page.entries, older=True))
    return Matches(found, None)


def _read(keys: Sequence[_VersionKey]) -> Iterable[tuple[_VersionKey, str]]:
    versions = PromptVersion.objects.filter(pk__in=[key for _, key in keys]).select_related("author")
    for version in versions.order_by():
        said = (version.message, version.author.get_username(), *version.templates.parts.values())
        yield ("version", version.pk), "\n".join(said)


def _entries(keys: Sequence[_VersionKey], words: Sequence[str]) -> list[SetMatches]:
    versions = (
        PromptVersion.objects.select_related("author", "prompt_set")
        .prefetch_related("labels")
        .in_bulk([key for _, key in keys])
    )
    ordered = [versions[key] for _, key in keys if key in versions]
    return [
        SetMatches(prompt_set, [Entry.of(version, words) for version in some], older=False)
        for prompt_set, some in groupby(ordered, key=lambda version: version.prompt_set)
    ]
