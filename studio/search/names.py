"""What can be gone to by its name: pages, sets, versions, contexts, workspaces and runs, in both languages.

Used by the palette and the search page. Reads names alone, never a text.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from django.contrib.auth.models import User
from django.db.models import Q
from django.db.models.functions import Substr
from django.urls import reverse, reverse_lazy
from django.utils import translation
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from studio.access.roles import Action, may
from studio.contexts.models import SampleContext
from studio.help.glossary import TERMS
from studio.help.pages import PAGES
from studio.prompts.labels import Label
from studio.prompts.models import PromptSet, PromptVersion
from studio.prompts.texts import fold
from studio.results.models import RunResult
from studio.search.contexts import in_both_languages
from studio.search.fuzzy import closeness
from studio.search.translations import in_both
from studio.shell.layout import sections
from studio.workspaces.models import Workspace

MOST = 24
"""Names in one answer."""
_MOST_OF_A_KIND = 8
# Beyond them only the search page looks: what one keystroke reads stays bounded.
_MOST_READ = 5_000
_MOST_RUNS = 300
_LONGEST_TASK = 120
_ID_BEGINS = 4  # characters from which on a word may be the beginning of a run's id

_VERSION = re.compile(r"v?([1-9][0-9]{0,8})")


@dataclass(frozen=True)
class Name:
    """Something with a name, and where it is."""

    kind: str
    """What it is, in the reader's language."""
    icon: str
    title: str
    url: str | Promise
    names: tuple[str, ...]
    """Folded, in both languages."""
    hint: str = ""
    action: int | None = None
    """Of an action of the current page: its place among those that the page sent."""


def find_names(query: str, person: User, actions: Sequence[str] = ()) -> list[Name]:
    """Names that have the words, the closest first; without words, where one may want to go."""
    words = fold(query).split()
    sets = _sets()
    here, pages = list(_actions(actions)), _pages(person)
    if not words:
        return [*here, *pages, *(each.as_name() for each in sets[:5])][:MOST]
    named = (
        here,
        pages,
        (each.as_name() for each in sets),
        _labels(sets),
        _contexts(),
        _workspaces(),
    )
    found = [_closest(names, words) for names in (*named, _runs(words), _help())]
    found.insert(3, list(_versions(sets, words)))
    # Sorting keeps the order of equals: actions of the page, pages, sets, versions… and help last.
    scored = sorted((each for kind in found for each in kind), key=_by_points)
    return [name for _points, name in scored[:MOST]]


_Scored = tuple[int, Name]


def _by_points(scored: _Scored) -> int:
    return -scored[0]


def _closest(names: Iterable[Name], words: Sequence[str]) -> list[_Scored]:
    scored = ((closeness(words, name.names), name) for name in names)
    return sorted((each for each in scored if each[0]), key=_by_points)[:_MOST_OF_A_KIND]


def _actions(actions: Sequence[str]) -> Iterator[Name]:
    kind = _("On this page")
    for place, title in enumerate(actions):
        yield Name(kind, "action", title, "", tuple(fold(name) for name in in_both(title)), action=place)


def _pages(person: User) -> Iterator[Name]:
    kind, language = _("Page"), "ja" if translation.get_language() == "ja" else "en"
    for icon, url, titles in _titles():
        if url in _needed() and not may(person, _needed()[url]):
            continue
        yield Name(kind, icon, titles[language], url, tuple(fold(title) for title in titles.values()))


def _help() -> Iterator[Name]:
    kind, glossary = _("Help"), reverse("help")
    entries = [(page.title, reverse("help-page", args=[page.slug]), str(page.about)) for page in PAGES]
    entries += [(term.title, f"{glossary}#{term.slug}", _("Glossary")) for term in TERMS.values()]
    for title, url, hint in entries:
        names = tuple(fold(each) for each in in_both(str(title)))
        yield Name(kind, "help", str(title), url, names, hint)


@cache
def _needed() -> dict[str, Action]:
    """Pages that not everybody may open."""
    named = (
        ("prompt-new", Action.EDIT),
        ("prompt-import", Action.EDIT),
        ("context-new", Action.CONTEXT),
        ("workspace-new", Action.WORKSPACE),
        ("people", Action.PEOPLE),
    )
    return {reverse(name): action for name, action in named}


@cache
def _titles() -> list[tuple[str, str, dict[str, str]]]:
    """Icon, address and titles by language of each page that needs no name to get to."""
    pages: dict[str, tuple[str, dict[str, str]]] = {}
    for language in ("en", "ja"):
        with translation.override(language):
            more = [
                ("prompts", "prompt-new", _("New set")),
                ("prompts", "prompt-import", _("Import a prompt file")),
                ("contexts", "context-new", _("New context")),
                ("workspaces", "workspace-new", _("Register a workspace")),
                ("workspaces", "export-list", _("Exports")),
                ("system", "model-list", _("Models")),
                ("person", "people", _("People")),
                ("person", "role-list", _("Who may do what")),
                ("search", "audit-list", _("Audit")),
                ("system", "shortcuts", _("Keyboard shortcuts")),
                ("search", "search", _("Search")),
            ]
            listed = [(section.name, section.url, section.title) for section in sections()]
            listed += [(icon, reverse(name), title) for icon, name, title in more]
            for icon, url, title in listed:
                pages.setdefault(url, (icon, {}))[1].setdefault(language, title)
    return [(icon, url, titles) for url, (icon, titles) in pages.items()]


@dataclass(frozen=True)
class _Set:
    """A set as far as its name goes."""

    pk: int
    slug: str
    name: str
    archived: bool
    revision: int
    tags: str

    def as_name(self) -> Name:
        names = [fold(name) for name in (self.name, self.slug, self.tags) if name]
        hint = _("Archived") if self.archived else self.tags
        url = reverse_lazy("prompt-detail", args=[self.slug])
        return Name(_("Prompt set"), "prompts", self.name, url, tuple(names), hint)


def _sets() -> list[_Set]:
    """All sets, those changed last first and archived ones at the end."""
    tags: dict[int, list[str]] = {}
    for key, tag in PromptSet.tags.through.objects.values_list("promptset", "tag__name")[:_MOST_READ]:
        tags.setdefault(key, []).append(tag)
    rows = PromptSet.objects.order_by("archived", "-changed_at", "pk")
    columns = rows.values_list("pk", "slug", "name", "archived", "revision")[:_MOST_READ]
    return [
        _Set(pk, slug, name, archived, revision, " ".join(tags.get(pk, ())))
        for pk, slug, name, archived, revision in columns
    ]


def _versions(sets: Sequence[_Set], words: Sequence[str]) -> Iterator[_Scored]:
    """«research v7»: a number, and words of the set's name; without these, of the sets changed last."""
    numbers = [word for word in words if _VERSION.fullmatch(word)]
    if not numbers:
        return
    number = int(numbers[-1].removeprefix("v"))
    rest = [word for word in words if word != numbers[-1]]
    having = [each for each in sets if each.revision >= number]
    scored = [(closeness(rest, each.as_name().names) if rest else 1, each) for each in having]
    chosen = sorted((each for each in scored if each[0]), key=lambda each: -each[0])[:_MOST_OF_A_KIND]
    rows = PromptVersion.objects.filter(number=number, prompt_set__in=[each.pk for _points, each in chosen])
    messages = dict(rows.order_by().values_list("prompt_set", "message"))
    for points, each in chosen:
        url = reverse_lazy("version-detail", args=[each.slug, number])
        title = f"{each.name} v{number}"
        yield points + 110, Name(_("Version"), "prompts", title, url, (), messages.get(each.pk, ""))


def _labels(sets: Sequence[_Set]) -> Iterator[Name]:
    by_key = {each.pk: each for each in sets}
    rows = Label.objects.order_by("-moved_at", "pk").values_list("prompt_set", "name", "version__number")
    for key, label, number in rows[:_MOST_READ]:
        if (each := by_key.get(key)) is not None:
            url = reverse_lazy("version-detail", args=[each.slug, number])
            title = f"{each.name} · {label}"
            names = (fold(label), fold(title), fold(f"{each.slug} {label}"))
            yield Name(_("Version"), "prompts", title, url, names, f"v{number}")


def _contexts() -> Iterator[Name]:
    kind = _("Context")
    rows = SampleContext.objects.select_related("prompt_set").defer("data", "submission")
    for context in rows.order_by("-changed_at", "pk")[:_MOST_READ]:
        of_set = context.prompt_set.name if context.prompt_set else ""
        titles = (title for title, _about in in_both_languages(context))
        names = tuple(dict.fromkeys(fold(name) for name in (*titles, context.slug)))
        yield Name(kind, "contexts", context.title, context.get_absolute_url(), names, of_set)


def _workspaces() -> Iterator[Name]:
    kind = _("Workspace")
    for workspace in Workspace.objects.filter(archived=False)[:_MOST_READ]:
        names = (fold(workspace.name), fold(workspace.slug))
        yield Name(kind, "workspaces", workspace.name, workspace.get_absolute_url(), names, workspace.path)


def _runs(words: Sequence[str]) -> Iterator[Name]:
    """The runs examined last, by task or id; older ones by how their id begins."""
    kind = _("Run")
    runs = RunResult.objects.filter(workspace__archived=False)
    columns = ("execution_id", "workspace__slug", "workspace__name", Substr("task", 1, _LONGEST_TASK))
    by_id = Q()
    for word in words:
        if len(word) >= _ID_BEGINS:
            by_id |= Q(execution_id__istartswith=word)
    older = runs.filter(by_id).order_by("-pk").values_list(*columns)[:_MOST_OF_A_KIND] if by_id else ()
    newest = runs.order_by("-pk").values_list(*columns)[:_MOST_RUNS]
    for execution, slug, workspace, task in dict.fromkeys((*newest, *older)):
        title = " ".join(task.split()) or execution
        url = reverse_lazy("run-detail", args=[slug, execution])
        names = (fold(title), fold(execution), fold(workspace))
        yield Name(kind, "runs", title, url, names, f"{workspace} · {execution[:8]}")
