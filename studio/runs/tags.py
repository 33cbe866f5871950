"""Template filters of the run pages: states and statuses of MixSeek in words."""

from datetime import timedelta

from django import template
from django.template import Context
from django.utils.translation import gettext as _

from studio.runs.reading import length_of

register = template.Library()


@register.inclusion_tag("runs/_sorted.html", takes_context=True)
def sorted_by(context: Context, title: str, order: str, down: str, up: str = "") -> dict[str, str]:
    """The head of a column that sorts a list: ``down`` is the order with the most first, ``up`` the other."""
    query = context["request"].GET.copy()
    for name in ("page", "have"):
        query.pop(name, None)
    query["order"] = up if up and order == down else down
    is_sorted = "descending" if order == down else "ascending" if up and order == up else ""
    return {"title": title, "url": f"?{query.urlencode()}", "sorted": is_sorted}


@register.filter
def exit_reason(stored: str | None) -> str:
    """Why a team stopped; a reason that is not one of MixSeek's is shown as it is stored."""
    said = {
        "max_rounds_reached": _("All rounds finished"),
        "no_improvement_expected": _("No improvement expected"),
        "partial_failure": _("Failed after some rounds"),
        "partial_failure_timeout": _("Timed out after some rounds"),
    }
    return said.get(stored, stored) if stored else "–"


@register.filter
def agent(stored: str | None) -> str:
    """Who is at work in a team."""
    said = {"leader": _("Leader"), "evaluator": _("Evaluator"), "judgment": _("Judgment")}
    return said.get(stored, stored) if stored else "–"


@register.filter
def team_status(stored: str) -> str:
    """What a team says that it is doing."""
    said = {
        "running": _("Running"),
        "completed": _("Completed"),
        "failed": _("Failed"),
        "pending": _("Waiting"),
    }
    return said.get(stored, stored)


@register.filter
def seconds(count: float | None) -> timedelta | None:
    """A stored length of time; ``None`` where it is none."""
    return length_of(count)
