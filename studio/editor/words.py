"""JSON for the editor in the browser: what templates may use, and its words in the reader's language."""

import json

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from builder.template.allowed import FILTERS, LOOP_VALUES, METHODS, STATEMENTS, TESTS


def editor_words() -> str:
    """JSON for the page: what may be completed, CodeMirror's phrases, and the sentences of our own parts."""
    return json.dumps(
        {
            "completion": {
                "tags": STATEMENTS,
                "filters": sorted(FILTERS),
                "tests": sorted(word for word in TESTS if word.isalpha()),
                "methods": sorted(METHODS),
                "loop": sorted(LOOP_VALUES),
            },
            "phrases": _phrases(),
            # Translators: %s is what would be written instead.
            "apply": _("Replace with %s"),
            "coverage": _coverage(),
            "rounds": {
                "fails": pgettext("mark of a round", "fails"),
                "changes": pgettext("mark of a round", "changes"),
            },
        },
        ensure_ascii=False,
    )


def _coverage() -> dict[str, str]:
    """The switch above the editor is the legend, too: what it says in each of its states."""
    return {
        "line": _("Not covered by any sample context"),
        # Translators: %s is how many.
        "some": _("%s lines not covered by samples"),
        "one": _("1 line not covered by samples"),
        "none": _("All lines covered by samples"),
        "unknown": _("Coverage unknown"),
        "asking": _("Coverage"),
        "off": _("Coverage"),
        # Translators: %s is a list of their numbers.
        "which": _("Lines not covered by any sample context: %s"),
        "about": _("Marks lines that no sample context covers"),
    }


def _phrases() -> dict[str, str]:
    """CodeMirror looks its words up by the English ones."""
    return {
        "Find": pgettext("find panel", "Find"),
        "Replace": pgettext("find panel", "Replace"),
        "next": pgettext("find panel", "Next"),
        "previous": pgettext("find panel", "Previous"),
        "all": pgettext("find panel", "All"),
        "match case": pgettext("find panel", "Match case"),
        "regexp": pgettext("find panel", "Regular expression"),
        "by word": pgettext("find panel", "Whole words"),
        "replace": pgettext("find panel", "Replace"),
        "replace all": pgettext("find panel", "Replace all"),
        "close": pgettext("find panel", "Close"),
        "current match": pgettext("find panel", "Current match"),
        "on line": pgettext("find panel", "on line"),
        "replaced match on line $": pgettext("find panel", "Replaced the match on line $"),
        "replaced $ matches": pgettext("find panel", "Replaced $ matches"),
        "Go to line": pgettext("find panel", "Go to line"),
        "go": pgettext("find panel", "Go"),
        "Completions": _("Suggestions"),
        "Diagnostics": _("Problems"),
        "Control character": _("Control character"),
        "Selection deleted": _("The selection is deleted"),
    }
