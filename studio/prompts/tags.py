"""Tags of prompt sets: the frame that every page of a set has, and titles of texts. `{% load prompts %}`."""

from dataclasses import dataclass
from typing import Any

from django import template
from django.urls import reverse
from django.utils.translation import gettext as _

from studio.access.roles import LOWEST_ROLE, Action
from studio.prompts.drafts import Draft
from studio.prompts.models import PromptSet
from studio.prompts.texts import TextKind

register = template.Library()


@dataclass(frozen=True)
class Tab:
    """A page of a set, as its frame names it."""

    title: str
    url: str
    keys: str = ""
    current: str = ""
    """The value of ``aria-current``: the page itself, or one that belongs to it."""
    why_not: str = ""
    """Why it leads nowhere now."""


@register.filter
def text_title(kind: TextKind) -> str:
    """What pages call a text of a version."""
    match kind:
        case "team":
            return _("Team")
        case "evaluator":
            return _("Evaluator")
        case "judgment":
            return _("Judgment")
        case "system":
            return _("System prompt")


@register.inclusion_tag("prompts/_frame.html", takes_context=True)
def set_frame(context: template.RequestContext, tab: str) -> dict[str, Any]:
    """Name, labels, actions and tabs of the page's set; ``tab`` is the one that the page belongs to."""
    prompt_set, request = context["prompt_set"], context["request"]
    may = context["may"]
    why_not = {"compare": "" if prompt_set.revision > 1 else _nothing_to_compare(prompt_set, request.user)}
    if not may[Action.EDIT]:
        role = LOWEST_ROLE[Action.EDIT].label
        why_not["edit"] = why_not["settings"] = _("Needs the role %(role)s") % {"role": role}
    named = [
        ("history", _("History"), "prompt-detail", ""),
        ("edit", _("Edit"), "prompt-edit", "e"),
        ("compare", _("Compare"), "compare-pick", ""),
        ("matrix", _("Matrix"), "prompt-matrix", "m"),
        ("scores", _("Scores"), "prompt-scores", ""),
        ("coverage", _("Coverage"), "prompt-suggestions", ""),
        ("contexts", _("Contexts"), "prompt-contexts", ""),
        ("settings", _("Settings"), "prompt-settings", ""),
    ]
    if not prompt_set.file_kind.has_templates:
        named = [each for each in named if each[0] in ("history", "edit", "compare", "settings")]
    tabs = []
    for name, title, view, keys in named:
        url = reverse(view, args=[prompt_set.slug])
        at_it = request.path == url or (name == "compare" and request.path.startswith(url))
        current = ("page" if at_it else "true") if name == tab else ""
        tabs.append(Tab(title, url, keys, current, "" if current else why_not.get(name, "")))
    return {"prompt_set": prompt_set, "tab": tab, "tabs": tabs, "may": may}


def _nothing_to_compare(prompt_set: PromptSet, person: Any) -> str:
    if not prompt_set.revision:
        return _("There is no version yet")
    return "" if Draft.objects.unsaved(prompt_set, person) else _("There is only one version")
