"""The layout of every page: navigation, theme and keyboard shortcuts. A context processor of settings."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, get_args

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _

Theme = Literal["system", "light", "dark"]
THEMES: tuple[Theme, ...] = get_args(Theme)
THEME_COOKIE = "studio-theme"
KEYS_COOKIE = "studio-keys"


@dataclass(frozen=True)
class Section:
    """An entry of the navigation."""

    name: str
    """The stem that its URLs begin with; also its icon."""
    title: str
    url: str
    keys: str
    current: bool = False


@dataclass(frozen=True)
class Shortcut:
    """Keys, pressed one after the other, and what they do."""

    keys: str
    does: str

    @property
    def each_key(self) -> list[str]:
        return self.keys.split()


def sections(path: str = "") -> list[Section]:
    """The navigation, with the section that holds the path marked."""
    return [
        replace(
            section, current=path == section.url if section.name == "home" else path.startswith(section.url)
        )
        for section in _sections(get_language() or "")
    ]


@lru_cache(maxsize=8)
def _sections(language: str) -> tuple[Section, ...]:
    """Every page has them, and their addresses do not change."""
    return (
        Section("home", _("Home"), reverse("home"), "g h"),
        Section("prompts", _("Prompts"), reverse("prompt-list"), "g p"),
        Section("contexts", _("Contexts"), reverse("context-list"), "g c"),
        Section("workspaces", _("Workspaces"), reverse("workspace-list"), "g w"),
        Section("runs", _("Runs"), reverse("run-list"), "g r"),
        Section("exports", _("Exports"), reverse("export-list"), "g x"),
        Section("help", _("Help"), reverse("help"), "g ?"),
    )


def shortcuts() -> list[tuple[str, list[Shortcut]]]:
    """Every key of the studio by group; the page of shortcuts shows this list."""
    go = [
        Shortcut(section.keys, _("Go to %(section)s") % {"section": section.title}) for section in sections()
    ]
    return [
        (
            _("Everywhere"),
            [
                Shortcut("Ctrl+K", _("Search pages, sets, versions, runs and actions")),
                *go,
                Shortcut("?", _("Show the keyboard shortcuts")),
            ],
        ),
        (
            _("Lists"),
            [
                Shortcut("/", _("Search in this list")),
                Shortcut("j", _("Next row")),
                Shortcut("k", _("Previous row")),
                Shortcut("Enter", _("Open the row")),
            ],
        ),
        (
            _("Comparisons"),
            [
                Shortcut("n", _("Next change")),
                Shortcut("p", _("Previous change")),
                Shortcut("t", _("Compare the templates")),
                Shortcut("r", _("Compare the rendered prompts")),
                Shortcut("1", _("Show that round, up to 9")),
                Shortcut("w", _("Toggle ignoring whitespace")),
                Shortcut("u", _("Expand or collapse all")),
                Shortcut("s", _("Swap sides")),
                Shortcut("m", _("Show both in all contexts (matrix)")),
            ],
        ),
        (
            _("Prompt sets"),
            [
                Shortcut("n", _("Create a set (in the list)")),
                Shortcut("e", _("Edit the set")),
                Shortcut("c", _("Compare the selected versions, or a version with the previous one")),
                Shortcut("x", _("Export the set, or the version")),
                Shortcut("m", _("Show the matrix of versions and contexts")),
            ],
        ),
        (
            _("Runs"),
            [
                Shortcut("c", _("Compare: the two chosen runs, or this run with another")),
                Shortcut("s", _("Swap sides")),
                Shortcut("n", _("Next round of the team")),
                Shortcut("p", _("Previous round of the team")),
                Shortcut("r", _("Re-render the round")),
                Shortcut("d", _("Re-render with your draft")),
            ],
        ),
        (
            _("Contexts"),
            [
                Shortcut("n", _("Create a context (in the list)")),
                Shortcut("e", _("Edit the context")),
            ],
        ),
        (_("Workspaces"), [Shortcut("n", _("Register a workspace (in the list)"))]),
        (
            _("Editor, also while writing"),
            [
                Shortcut("Ctrl+S", _("Save as a version")),
                Shortcut("Ctrl+Enter", _("Preview now")),
                Shortcut("Ctrl+Space", _("Show completions")),
                Shortcut("Ctrl+.", _("Apply the fix for the problem at the cursor")),
                Shortcut("F8", _("Next problem; with Shift, previous problem")),
                Shortcut("Alt+1", _("First template; 2 and 3 for the others")),
                Shortcut("Alt+R", _("Next round")),
                Shortcut("Ctrl+F", _("Find and replace")),
                Shortcut("Esc", _("Then Tab: leave the editor")),
            ],
        ),
    ]


def theme_of(request: HttpRequest) -> Theme:
    """The theme that the person chose; the system's where they did not."""
    chosen = request.COOKIES.get(THEME_COOKIE, "system")
    return chosen if chosen in THEMES else "system"


def layout(request: HttpRequest) -> dict[str, Any]:
    """The context processor behind the base templates."""
    return {
        "sections": sections(request.path),
        "theme": theme_of(request),
        # Whether single keys act: speech input and slips of the hand may press them unasked.
        "keys_on": request.COOKIES.get(KEYS_COOKIE) != "off",
        "themes": [("system", _("System")), ("light", _("Light")), ("dark", _("Dark"))],
        "csp_nonce": getattr(request, "csp_nonce", ""),
    }
