"""Sample contexts by what they say: names in both languages, tasks, submissions, comments.

Used by the search page; the palette uses the names.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import translation
from django.utils.translation import gettext as _

from studio.contexts.models import SampleContext
from studio.prompts.excerpts import Excerpt, excerpt
from studio.search.folded_texts import Matches, TextSearch

_MOST_LINES = 3

_ContextKey = tuple[str, int, int]


@dataclass(frozen=True)
class ContextMatch:
    """A context, and the lines of it that have the words, each with where it stands."""

    context: SampleContext
    lines: list[tuple[str, Excerpt]]


def search_contexts(search: TextSearch, *, start: int, size: int) -> Matches[ContextMatch]:
    """Contexts that have every word; those that were changed last first."""
    rows = SampleContext.objects.order_by("-changed_at", "pk").values_list("pk", "revision")
    keys = [("context", pk, revision) for pk, revision in rows]
    found = search.matches(keys, _read, start=start, size=size)
    contexts = SampleContext.objects.select_related("prompt_set").in_bulk([key[1] for key in found.items])
    shown = [contexts[key[1]] for key in found.items if key[1] in contexts]
    return Matches([_match(context, search.words) for context in shown], found.next)


def in_both_languages(context: SampleContext) -> Iterator[tuple[str, str]]:
    """Its name and description; one that the studio ships has them in English and Japanese."""
    for language in ("en", "ja"):
        with translation.override(language):
            yield context.title, context.about


def _read(keys: Sequence[_ContextKey]) -> Iterable[tuple[_ContextKey, str]]:
    for context in SampleContext.objects.filter(pk__in=[key[1] for key in keys]).order_by():
        about = (text for pair in in_both_languages(context) for text in pair)
        texts = (text for _where, text in _texts(context))
        yield ("context", context.pk, context.revision), "\n".join((*about, *texts))


def _match(context: SampleContext, words: Sequence[str]) -> ContextMatch:
    about = [("", context.about)] if context.about else []
    lines = ((where, excerpt("", text, words)) for where, text in (*about, *_texts(context)))
    found = [(where, line) for where, line in lines if line is not None]
    return ContextMatch(context, found[:_MOST_LINES])


def _texts(context: SampleContext) -> Iterator[tuple[str, str]]:
    """What a template could print of it, each with where it stands."""
    data: dict[str, Any] = context.data
    yield _("Task"), data["user_prompt"]
    yield _("Submission"), context.submission
    for state in data.get("round_history") or ():
        where = _("Round %(number)s") % {"number": state.get("round_number")}
        yield from ((where, text) for text in _strings(state))
    for name in ("team_name", "ranking"):
        yield from (("", text) for text in _strings(data.get(name)))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _strings(each)
