"""The help pages. A new one is an entry in `PAGES` and a template per language:
`templates/help/en/SLUG.html` and `templates/help/ja/SLUG.html`. Used by the help's views and the palette.

Texts are templates and no entries of the catalogue: a page is written as a whole in each language, and
sentences that were translated one by one do not read like one.
"""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True)
class HelpPage:
    """A page about one thing that people want to do."""

    slug: str
    title: Promise
    about: Promise
    """In one sentence, for the list."""
    has_picture: bool = True
    """Whether `static/src/help/pictures/SLUG.en.webp` and `….ja.webp` show it."""


PAGES = (
    HelpPage(
        "first-minute",
        _("The first minute"),
        _("Change a word, see what teams receive, save, compare and export."),
    ),
    HelpPage(
        "typo",
        _("Fix a mistake in a template"),
        _("What the editor marks while you write, and why it may refuse to save."),
    ),
    HelpPage(
        "what-changed",
        _("See what changed"),
        _("Two versions side by side, as templates and as the prompts of each round."),
    ),
    HelpPage(
        "ship-it",
        _("Ship a version"),
        _("Move a label, review each file and confirm. Every export is recorded."),
    ),
    HelpPage(
        "watch-a-run",
        _("Watch a run"),
        _("Ranking and scores while MixSeek is still at work."),
    ),
    HelpPage(
        "did-it-help",
        _("Find out whether a change helped"),
        _("Scores of versions, when they may be compared, and how many runs it takes."),
    ),
    HelpPage(
        "why-it-won",
        _("Find out why a team did that"),
        _("From the ranking to the prompt that was sent, and the same round with your draft."),
    ),
    HelpPage(
        "pipeline",
        _("Check prompts in a pipeline"),
        _("Commands that fail a build where a template is wrong or a workspace is out of sync."),
    ),
    HelpPage(
        "client",
        _("Use the studio from another machine"),
        _("Fetch versions into a workspace, send hand edits back, read prompts in Python."),
    ),
    HelpPage(
        "agent",
        _("Show a workspace of another machine"),
        _("An agent beside MixSeek reports what ran, and writes exports there."),
    ),
    HelpPage(
        "pinned-runs",
        _("Run one version for certain"),
        _("Start MixSeek with a version of your choice, and have the run say so."),
    ),
    HelpPage(
        "everything",
        _("Take everything with you"),
        _("The whole studio as plain files, and how to read them into another one."),
    ),
    HelpPage(
        "deployment",
        _("Run it for a team"),
        _("A service behind nginx with TLS, PostgreSQL, several servers, backups and upgrades."),
        has_picture=False,
    ),
    HelpPage(
        "growth",
        _("Know how far the studio grows"),
        _("What grows with people, sets, workspaces and rows, which limit comes first, and what to do then."),
        has_picture=False,
    ),
)  # fmt: skip


def page_named(slug: str) -> HelpPage | None:
    """The page of that name; None where there is none."""
    return next((page for page in PAGES if page.slug == slug), None)
